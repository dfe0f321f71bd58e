// SPDX-License-Identifier: Apache-2.0
// Translations for requests of CXL.cache: asked for by CXL.io, used by the cache. [CXL-7.12]
#include "coherence/cxl_line.h"
#include "endpoint/translated_path.h"
#include "endpoint/translation_packet.h"

namespace flitwise {

AtsAccess TranslatedPath::line_access(const Transfer& transfer, std::uint64_t line,
                                      bool is_write) const {
  const DeviceIdentity& identity = s_.functions.identity_of(transfer.domain);
  AtsAccess access;
  access.function = s_.functions.index_of(identity.bdf);
  if (unit_.has_pasid() &&
      (config_.link.identity == Identity::kBdfPasid || config_.link.identity == Identity::kDhi)) {
    access.tag = {identity.pasid, identity.pasid.has_value() && identity.privileged_mode_requested};
  }
  access.address = line;
  access.dws = kCxlLineBytes / 4;
  access.kind = is_write ? AccessKind::kWrite : AccessKind::kRead;
  access.counts = transfer.counts;
  access.has_hint = true;
  return access;
}

// Until software has enabled ATS addresses are those of the host. From then on there is no way by
// CXL.cache without a translation: what the ATC or the agent does not allow fails, and so does a
// page for CXL.io alone. [TCP-12] [TCP-27]
LineAddresses::Answer TranslatedPath::translate(const Transfer& transfer, std::uint64_t line,
                                                bool is_write, Time t) {
  const AtsAccess access = line_access(transfer, line, is_write);
  const auto fail = [this](const char* kind, Time latency) -> Answer {
    s_.events.count(kind);
    is_line_counted_ = false;
    unit_.forget_line();
    return {LineAddresses::Outcome::kFailed, 0, latency};
  };
  line_waits_ = is_line_translated_ = false;
  if (!unit_.knows(access.function)) {
    return {LineAddresses::Outcome::kKnown, line, {}};
  }
  ParkedTransfer& waited = unit_.line_for(access);
  if (t < waited.when) {
    line_waits_ = true;
    lines_changed_(waited.when);
    return {LineAddresses::Outcome::kWait, 0, {}};
  }
  const AtsRoute route = unit_.route(access, &waited, is_line_counted_);
  is_line_counted_ = true;
  const bool is_known = route.kind == AtsRoute::Kind::kTranslated;
  if (is_known && !route.entry->translation.forbids_cache) {
    line_ = access;
    line_address_ = route.address;
    line_domain_ = transfer.domain;
    is_line_translated_ = true;
    return {LineAddresses::Outcome::kKnown, route.address, route.latency};
  }
  if (route.kind == AtsRoute::Kind::kAsk) {
    line_waits_ = true;
    ask_for_line(transfer, waited, route, t);
    return {LineAddresses::Outcome::kWait, 0, {}};
  }
  return fail(is_known                                 ? "line_for_io_alone"
              : route.kind == AtsRoute::Kind::kRefused ? "line_refused"
                                                       : "line_untranslated",
              route.latency);
}

// A request that is out may tell it all; else a new one goes, which says that a cache asks.
// [ATR-31]
void TranslatedPath::ask_for_line(const Transfer& transfer, ParkedTransfer& line,
                                  const AtsRoute& route, Time t) {
  const AtsAccess& access = line.access;
  const DeviceIdentity& identity = s_.functions.identity_of(transfer.domain);
  if (const std::optional<Slot> request = unit_.request_for(access)) {
    line.state = ParkedState::kAwaitsReply;
    line.request = *request;
    return;
  }
  if (!can_send_request(access.function, t) || !s_.functions.may_send(identity.bdf)) {
    return;
  }
  const Handles::Answer handle =
      handles_.acquire(transfer, identity, Op::kRead, requests_.free_tags(access.function), t);
  if (handle.outcome == Handles::Outcome::kWait) {
    return;
  }
  TranslationAsk ask = unit_.ask_for(access, route.translations);
  ask.is_from_cache = true;
  PacketRef packet = translation_packet(s_, config_, unit_, ask,
                                        {transfer.domain, identity, handle, transfer.counts});
  const Time ready = t + route.latency + handle.latency;
  packet->stamp(Hop::kIssue, t);
  packet->stamp(Hop::kHandle, ready);
  const Slot slot = unit_.open_request(access.function, ask, packet->tlp, transfer.counts);
  requests_.open_translation(access.function, packet, handle.pin, slot, t);
  s_.output.send(std::move(packet), ready + config_.device.timing.pipeline, {});
  line.state = ParkedState::kAwaitsReply;
  line.request = slot;
}

void TranslatedPath::give_up_line(unsigned function, Slot request, Time t) {
  if (ParkedTransfer* const line = unit_.line_behind(function, request)) {
    line->state = ParkedState::kReady;
    line->answer = AgentAnswer::kVoid;
    look_again(t);
  }
}

LineAddresses::Use TranslatedPath::begin(bool asks_home) {
  is_line_counted_ = false;
  unit_.forget_line();
  if (!asks_home || !is_line_translated_) {
    return {};
  }
  if (watch_) {
    watch_(s_.functions.identity_of(line_domain_), line_address_, line_.address);
  }
  return answers_early_ && answers_early_() ? Use{} : unit_.open_use(line_);
}

// Invalidations that wait for the last use of a translation are answered now. [INV-04]
void TranslatedPath::end(const Use& use, Time t) {
  unit_.end_use(use);
  if (unit_.has_completion(use.function) && !s_.functions.is_in_reset(use.function)) {
    send_invalidate_completions(use.function, t);
  }
}

}  // namespace flitwise
