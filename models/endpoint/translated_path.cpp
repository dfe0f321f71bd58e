// SPDX-License-Identifier: Apache-2.0
// Which TLP goes out translated, which has to wait for a translation, and what comes back for those
// that asked; what the translation agent says unasked, and what contexts leave behind.
#include "endpoint/translated_path.h"

#include <boost/range/algorithm_ext/erase.hpp>

#include <algorithm>
#include <utility>

#include "endpoint/translation_packet.h"
#include "flitwise/link_socket.h"
#include "tlp/tlp_check.h"

namespace flitwise {

// Parked transfers go first.
bool TranslatedPath::resume(TransferCursor& cursor, Time t) {
  ParkedTransfers& parked = unit_.parked;
  const std::optional<Slot> slot = parked.first_to_go(t, [this, t](const ParkedTransfer& one) {
    if (one.state != ParkedState::kWantsPage) {
      return can_send_request(one.access.function, t);
    }
    // Where the interface is turned off or fails, none is in this state any more.
    return unit_.pages()->can_open(1) && !waits_for_stop_marker(one.cursor.transfer);
  });
  if (!slot) {
    return false;
  }
  parked.set_state(*slot, ParkedState::kGoing);  // replies to other transfers do not change it
  const ParkedTransfer& one = parked.at(*slot);
  cursor = one.cursor;
  present_ = one.cursor.transfer;
  current_slot_ = slot;
  is_routed_ = one.was_counted;
  return true;
}

bool TranslatedPath::can_send_request(unsigned function, Time t) {
  return unit_.has_room_for_request(function, t) && requests_.free_tags(function) > 0 &&
         !s_.output.is_full(FcClass::kNonPosted);
}

void TranslatedPath::begun(const Transfer& transfer, std::uint32_t slot, Time t) {
  unit_.parked.note_taken(transfer.ready, t);
  if (slot >= begun_.size()) {
    begun_.resize(slot + 1U);
  }
  begun_[slot] = {transfer.domain, contexts_ended_};
  present_ = slot;
}

AtsAccess TranslatedPath::access_of(const Present& present) const {
  const DeviceIdentity& identity = present.identity;
  const RequestPiece& piece = present.cursor.piece;
  AtsAccess access;
  access.function = s_.functions.index_of(identity.bdf);
  const bool has_pasid = unit_.has_pasid() && (config_.link.identity == Identity::kBdfPasid ||
                                               config_.link.identity == Identity::kDhi);
  if (has_pasid) {
    access.tag = {identity.pasid, identity.pasid.has_value() && identity.privileged_mode_requested};
  }
  access.address = piece.address;
  access.dws = piece.length_dw;
  access.kind = present.transfer.op != Op::kRead          ? AccessKind::kWrite
                : piece.bytes == 0                        ? AccessKind::kZeroLengthRead
                : has_pasid && identity.execute_requested ? AccessKind::kExecute
                                                          : AccessKind::kRead;
  const unsigned hinted = config_.device.atc.hinted_domains;
  access.counts = present.transfer.counts;
  access.has_hint = hinted == 0 || to_int(present.transfer.domain) < hinted;
  return access;
}

// An interrupt passes nothing, so that what it tells of is there.
Tlp TranslatedPath::shape_of(const Transfer& transfer) const {
  const bool may_relax = transfer.op != Op::kMsi && !transfer.keeps_order;
  Tlp shape;
  shape.type = transfer.op == Op::kRead ? TlpType::kMRd : TlpType::kMWr;
  shape.relaxed_ordering = s_.control.relaxed_ordering && may_relax;
  shape.id_based_ordering = s_.control.id_based_ordering && may_relax;
  shape.requester_id = s_.functions.bdf_of(routed_.function);
  shape.has_pasid = routed_.tag.pasid.has_value();
  shape.pasid = routed_.tag.pasid.value_or(Pasid{});
  return shape;
}

// Into route_ where the TLP goes now, else the transfer is parked, or has to be tried again.
// Interrupts are never translated. [ATR-27]
Translations::Route TranslatedPath::route(const Transfer& transfer, const DeviceIdentity& identity,
                                          const TransferCursor& cursor, Time t) {
  const Present present{transfer, identity, cursor};
  routed_ = access_of(present);
  route_ = AtsRoute{};
  static_.reset();
  if (transfer.structure && statics_.firmware() != nullptr) {
    return route_structure(present, t);
  }
  if (transfer.op != Op::kMsi) {
    const ParkedTransfer* const waited = current_slot_ ? &unit_.parked.at(*current_slot_) : nullptr;
    route_ = unit_.route(routed_, waited, is_routed_);
    is_routed_ = true;
  }
  if (route_.kind == AtsRoute::Kind::kAsk) {
    return {ask_for_translation(present, t), {}};
  }
  if (route_.kind == AtsRoute::Kind::kRefused) {
    if (unit_.can_ask_for_pages()) {
      ask_for_page(present, t);
      return {Step::kParked, {}};
    }
    route_.kind = AtsRoute::Kind::kUntranslated;  // The agent says what is wrong.
  }
  return go_or_park(present);
}

// By the register of the structure, without a look-up. [EP-5]
Translations::Route TranslatedPath::route_structure(const Present& present, Time t) {
  const StructureBytes bytes{routed_.function, *present.transfer.structure,
                             present.cursor.piece.address, present.cursor.piece.bytes};
  const StructureAccess access = statics_.firmware()->access(bytes);
  if (access.verdict == StructureAccess::Verdict::kWait) {
    park(present, ParkedState::kAwaitsReply, AtsUnit::kStructure);
    return {Step::kParked, {}};
  }
  if (access.verdict == StructureAccess::Verdict::kFault) {
    if (current_slot_) {
      unit_.parked.remove(*current_slot_);
      current_slot_.reset();
    }
    present_.reset();
    is_routed_ = false;
    s_.events.count("beyond_structure");
    requests_.fail(present.cursor.transfer, TransferStatus::kUnsupportedRequest, t);
    return {Step::kParked, {}};
  }
  static_ = bytes;
  static_token_ = present.transfer.token;
  if (access.at == AddressType::kTranslated) {
    route_.kind = AtsRoute::Kind::kTranslated;
    route_.address = access.address;
  }
  return go_or_park(present);
}

// Not past others that it must not pass.
Translations::Route TranslatedPath::go_or_park(const Present& present) {
  const ParkedTransfers& parked = unit_.parked;
  if (current_slot_ ? parked.may_pass_all_before(*current_slot_)
                    : parked.empty() || parked.may_pass_all(shape_of(present.transfer))) {
    return {Step::kGo, route_.latency};
  }
  park(present, ParkedState::kReady);
  return {Step::kParked, {}};
}

// The present transfer waits, where it stands; others go on.
[[gnu::noinline]] void TranslatedPath::park(const Present& present, ParkedState state, Slot awaited,
                                            unsigned pages) {
  ParkedTransfers& parked = unit_.parked;
  if (!current_slot_) {
    ParkedTransfer one;
    one.shape = shape_of(present.transfer);
    current_slot_ = parked.add(one);
  }
  ParkedTransfer& one = parked.at(*current_slot_);
  const bool is_granted = state == ParkedState::kReady && route_.entry != nullptr;
  one.is_hit = is_granted && (one.is_hit || !one.grant);
  if (is_granted) {
    one.grant = *route_.entry;
  }
  one.cursor = present.cursor;
  one.access = routed_;
  one.was_counted = is_routed_;
  one.request = awaited;
  one.prg_index = static_cast<std::uint16_t>(awaited);
  one.group_pages = pages;
  one.has_asked = one.has_asked || state != ParkedState::kReady;
  parked.set_state(*current_slot_, state);
  current_slot_.reset();
  present_.reset();
  is_routed_ = false;
}

// What the agent still answers to their requests is for the cache alone.
[[gnu::noinline]] void TranslatedPath::drop(unsigned function, bool is_present,
                                            std::vector<std::uint32_t>& given_up) {
  unit_.parked.for_each([&](Slot slot, const ParkedTransfer& parked) {
    if (parked.access.function == function) {
      if (current_slot_ != slot) {
        given_up.push_back(parked.cursor.transfer);
      }
      unit_.parked.remove(slot);
    }
  });
  if (is_present) {
    current_slot_.reset();
    present_.reset();
    is_routed_ = false;
  }
}

// The next TLP of the present transfer has not been looked at yet.
void TranslatedPath::piece_gone(bool has_more) {
  is_routed_ = false;
  if (!has_more) {
    present_.reset();
    if (current_slot_) {
      unit_.parked.remove(*current_slot_);
      current_slot_.reset();
    }
  }
  if (!current_slot_) {
    return;
  }
  ParkedTransfer& one = unit_.parked.at(*current_slot_);
  one.answer = AgentAnswer::kNone;
  one.has_asked = one.was_counted = false;
  if (std::exchange(one.is_hit, false)) {
    one.grant.reset();
  }
}

// [CFG-11] [LNK-3.8] [LNK-9.1]
bool TranslatedPath::apply_route(Tlp& tlp, const DeviceIdentity& identity,
                                 const RequestPiece& piece) {
  const bool is_translated = route_.kind == AtsRoute::Kind::kTranslated;
  tlp.at = is_translated ? AddressType::kTranslated : AddressType::kUntranslated;
  if (is_translated) {
    tlp.address = route_.address;
    tlp.is_4dw = route_.address >> 32 != 0;
    // Of a static structure the device keeps no more than the address. [TCP-14]
    const bool is_snooped = route_.entry == nullptr || route_.entry->translation.clears_no_snoop;
    tlp.no_snoop = tlp.no_snoop && !is_snooped;
    if (tlp.type == TlpType::kMWr) {
      unit_.write_sent(routed_.function);
    }
    if (watch_ && piece.bytes != 0) {
      watch_(identity, tlp.address, piece.address);
    }
  }
  if (static_) {
    statics_.firmware()->begin(*static_, static_token_);
    if (is_translated && tlp.type == TlpType::kMWr) {  // in front of all completions to come
      statics_.firmware()->end(static_->function, static_->structure);
    }
  }
  const bool always_names_pasid = config_.at == At::kTranslatedPasid;  // on translated ones, too
  if (unit_.has_pasid() && !always_names_pasid) {
    // model: none, as one domain goes with and without its PASID.
    tlp.id_based_ordering = false;
  }
  return unit_.has_pasid() && (!is_translated || always_names_pasid);
}

void TranslatedPath::read_opened(unsigned function, std::uint16_t tag, bool is_flush) {
  const bool is_translated = !is_flush && route_.kind == AtsRoute::Kind::kTranslated;
  unit_.read_opened(function, tag, is_translated ? &routed_ : nullptr,
                    is_translated && static_ ? std::optional(static_->structure) : std::nullopt);
}

// A request that is out may tell it all; else a new one goes, past whatever waits. [ATR-01]
// [ATR-02] [ATR-09] [ATR-10] [ATR-14] [ATR-22]
[[gnu::noinline]] Translations::Step TranslatedPath::ask_for_translation(const Present& present,
                                                                         Time t) {
  if (const std::optional<Slot> request = unit_.request_for(routed_)) {
    park(present, ParkedState::kAwaitsReply, *request);
    return Step::kParked;
  }
  if (!can_send_request(routed_.function, t)) {
    park(present, ParkedState::kWantsRequest);
    return Step::kParked;
  }
  const Handles::Answer handle = handles_.acquire(present.transfer, present.identity, Op::kRead,
                                                  requests_.free_tags(routed_.function), t);
  if (handle.outcome == Handles::Outcome::kWait) {
    return Step::kWait;
  }
  const DeviceIdentity& identity = present.identity;
  const TranslationAsk ask = unit_.ask_for(routed_, route_.translations);
  const TranslationAsker asker{present.transfer.domain, identity, handle, present.transfer.counts};
  PacketRef packet = translation_packet(s_, config_, unit_, ask, asker);
  packet->request = present.cursor.transfer;
  packet->stamp(Hop::kIssue, t);
  const Time ready = t + route_.latency + handle.latency;
  packet->stamp(Hop::kHandle, ready);
  const Slot slot = unit_.open_request(routed_.function, ask, packet->tlp, present.transfer.counts);
  requests_.open_translation(routed_.function, packet, handle.pin, slot, t);
  s_.output.send(std::move(packet), ready + config_.device.timing.pipeline, {});
  park(present, ParkedState::kAwaitsReply, slot);
  return Step::kParked;
}

// A group is of the page that is missed, and of those behind it that the transfer will need;
// transfers that miss one of them wait with the first. A new process waits for the Stop Marker of
// the one that had its PASID. [PRI-01] [PRI-06] [PRI-12] [PRI-27]
[[gnu::noinline]] void TranslatedPath::ask_for_page(const Present& present, Time t) {
  const bool has_to_wait = waits_for_stop_marker(present.cursor.transfer);
  const std::optional<std::uint16_t> group = unit_.group_for(routed_);
  if (group && !has_to_wait) {
    park(present, ParkedState::kAwaitsPage, *group);
  } else if (has_to_wait || !unit_.pages()->can_open(1)) {
    park(present, ParkedState::kWantsPage);
  } else {
    const Transfer& transfer = present.transfer;
    const AtsUnit::NewGroup opened = unit_.open_group(
        routed_, transfer.address + transfer.bytes - routed_.address, present.identity.bdf);
    for (unsigned n = 0; n < opened.pages; ++n) {
      send_message(page_request_tlp(unit_.next_page_request(opened, routed_, n)),
                   present.identity.bdf, transfer.counts, t + route_.latency);
    }
    park(present, ParkedState::kAwaitsPage, opened.index, opened.pages);
  }
}

// They will never come to their data, and are counted by kind.
template <class Which>
void TranslatedPath::fail_parked(Which which, const char* kind, TransferStatus status, Time t) {
  unit_.parked.for_each([&](Slot slot, const ParkedTransfer& parked) {
    if (which(parked)) {
      const std::uint32_t transfer = parked.cursor.transfer;
      unit_.parked.remove(slot);
      s_.events.count(kind);
      requests_.fail(transfer, status, t);
    }
  });
  send_stop_markers(t);
}

[[gnu::noinline]] void TranslatedPath::fail_waiting_for(unsigned function, Slot request,
                                                        TransferStatus status, Time t) {
  fail_parked(
      [&](const ParkedTransfer& parked) {
        return parked.state == ParkedState::kAwaitsReply && parked.access.function == function &&
               parked.request == request;
      },
      "translation_failed", status, t);
}

// A Translation Completion. It needs no pushing: a translation has no order towards other requests.
// [ATR-14] [TCP-01] to [TCP-08]
void TranslatedPath::complete(unsigned function, const Packet& packet,
                              const OutstandingRequest& request, Time t) {
  if (StaticRequests::has(request)) {
    statics_.complete(function, packet, request, t);
    return;
  }
  const Slot slot = request.transfer;
  const TranslationVerdict verdict = unit_.take_reply(function, slot, packet);
  if (verdict == TranslationVerdict::kPartial) {
    return;
  }
  if (verdict == TranslationVerdict::kMalformed) {
    s_.events.report(function, "malformed_tlp", cfg::aer::Uncorrectable::kMalformedTlp, packet, t);
  } else if (const char* const problem = problem_of(verdict)) {
    s_.events.refuse(packet, problem);
  }
  if (has_poisoned_data(packet.tlp)) {  // [LNK-9.26]
    s_.events.report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, t);
  }
  if (verdict == TranslationVerdict::kAborted) {  // [TCP-06]
    give_up_line(function, slot, t);
    fail_waiting_for(function, slot, TransferStatus::kCompleterAbort, t);
  }
  const Time ready = t + config_.device.timing.pipeline;
  unit_.end_request(function, slot, verdict, ready);
  handles_.let_go(request, false);
  requests_.close_translation(function, packet.tlp.tag);
  s_.output.wake_at(ready);
  look_again(ready);
}

[[gnu::noinline]] void TranslatedPath::give_up(unsigned function, const OutstandingRequest& request,
                                               Time t) {
  if (StaticRequests::has(request)) {
    statics_.give_up(request, t);
    return;
  }
  give_up_line(function, request.transfer, t);
  fail_waiting_for(function, request.transfer, TransferStatus::kTimeout, t);
  unit_.give_up_request(function, request.transfer);
  handles_.let_go(request, true);
}

// Invalidations that wait for the last use of a translation are answered now. [INV-04]
void TranslatedPath::read_ended(unsigned function, std::uint16_t tag, const Tlp& request,
                                TransferStatus status, Time t) {
  const bool is_ordered = !request.relaxed_ordering && !request.id_based_ordering;
  const bool is_pushing = is_ordered && status == TransferStatus::kDone;
  if (const auto structure = unit_.read_ended(function, tag, is_pushing)) {
    statics_.firmware()->end(function, *structure);
  }
  if (unit_.has_completion(function) && !s_.functions.is_in_reset(function)) {
    send_invalidate_completions(function, t);  // a reset sends nothing [CFG-03] [CFG-04]
  }
  look_again(t);  // a tag is free
}

void TranslatedPath::configure(unsigned function, const TranslationSettings& settings) {
  unit_.configure(function, settings);
  tell_firmware(function);
  look_again(now());
}

// [EP-13]
void TranslatedPath::tell_firmware(unsigned function) {
  if (StaticTranslations* const firmware = statics_.firmware()) {
    const bool is_enabled = unit_.knows(function) && unit_.settings(function).is_enabled;
    firmware->enabled(function, is_enabled, now());
  }
}

void TranslatedPath::forget(unsigned function) {
  unit_.reset(function, s_.functions.bdf_of(function));
  tell_firmware(function);
  look_again(now());
  boost::range::remove_erase_if(ended_contexts_, [&](const EndedContext& one) {
    return s_.functions.function_of(one.domain) == function;
  });
}

// ---- what the agent says unasked

bool TranslatedPath::receive(const Packet& packet, unsigned function,
                             const DeviceIdentity* behind_handle, Time t) {
  const Tlp& tlp = packet.tlp;
  const bool is_request = tlp.message_code == msg::kInvalidateRequest;
  const bool is_response = tlp.message_code == msg::kPrgResponse && unit_.pages() != nullptr;
  // Agents are functions of the root complex. What a peer sends is unsupported, as any request that
  // nobody here takes.
  const bool is_from_agent = tlp.requester_id.bus() == kRootComplexId.bus();
  if ((!is_request && !is_response) || !is_from_agent || packet.malformed || tlp.is_poisoned ||
      check_tlp(tlp, TlpLimits()) || (is_request && packet.payload.size() < kInvalidateBodyBytes)) {
    return false;
  }
  s_.events.took_message(packet);
  if (s_.functions.is_in_reset(function)) {
    return true;  // [CFG-03]
  }
  if (is_request) {
    invalidate(packet, function, behind_handle, t);
  } else {
    take_prg_response(packet, t);
  }
  s_.output.wake_at(t + config_.device.timing.pipeline);
  return true;
}

// It takes effect at once, whatever else is under way. [INV-19] [INV-23] [INV-25]
void TranslatedPath::invalidate(const Packet& packet, unsigned function,
                                const DeviceIdentity* behind_handle, Time t) {
  InvalidateRequest request = invalidate_request_of(packet.tlp, packet.payload.data());
  request.function = s_.functions.bdf_of(function);
  if (behind_handle != nullptr) {
    request.pasid = behind_handle->pasid;
  }
  invalidation_counts_ = packet.counts;
  switch (unit_.invalidate(function, request)) {
    case InvalidateVerdict::kAccept:
      if (StaticTranslations* const firmware = statics_.firmware()) {
        const PageRange range = rounded_up_to_stu(request.range, unit_.settings(function).stu);
        firmware->invalidated(function, request.itag % kItags, range, scope_of(request), t);
      }
      send_invalidate_completions(function, t);
      break;
    case InvalidateVerdict::kUnsupportedRequest:
      s_.events.report(function, "unsupported_request",
                       cfg::aer::Uncorrectable::kUnsupportedRequest, packet, t);
      break;
    case InvalidateVerdict::kBusyItag: s_.events.refuse(packet, "itag_in_use"); break;
  }
}

// Behind all writes, which stand in the outbox before them. [INV-07] [INV-08]
[[gnu::noinline]] void TranslatedPath::send_invalidate_completions(unsigned function, Time t) {
  while (unit_.has_completion(function)) {
    const InvalidateCompletion completion = unit_.take_completion(function);
    send_message(invalidate_completion_tlp(completion), completion.function, invalidation_counts_,
                 t);
  }
}

[[gnu::noinline]] void TranslatedPath::send_message(const Tlp& tlp, Bdf function, bool counts,
                                                    Time t) {
  PacketRef packet = s_.pool.make(PacketKind::kTlp);
  packet->tlp = tlp;
  packet->identity = DeviceIdentity(function);
  packet->counts = counts;
  packet->stamp(Hop::kIssue, now());
  s_.sizer.size(*packet);
  s_.output.send(std::move(packet), t + config_.device.timing.pipeline, {});
}

// [PRI-08] [PRI-09] [PRI-11] [PRI-29]
void TranslatedPath::take_prg_response(const Packet& packet, Time t) {
  const PrgResponse response = prg_response_of(packet.tlp);
  const auto is_answered = [&](const ParkedTransfer& parked) {
    return parked.state == ParkedState::kAwaitsPage && parked.prg_index == response.prg_index;
  };
  const auto wants_page = [](const ParkedTransfer& parked) {
    return parked.state == ParkedState::kAwaitsPage || parked.state == ParkedState::kWantsPage;
  };
  switch (unit_.pages()->respond(response)) {
    case PrgOutcome::kSuccess:
      unit_.page_is_there(response.prg_index, t + config_.device.timing.pipeline);
      break;
    case PrgOutcome::kInvalidRequest:
      fail_parked(is_answered, "page_refused", TransferStatus::kUnsupportedRequest, t);
      break;
    case PrgOutcome::kFailure:
      fail_parked(wants_page, "page_refused", TransferStatus::kUnsupportedRequest, t);
      break;
    case PrgOutcome::kUnexpected:
      s_.events.report(0, "unexpected_prg_response", cfg::aer::Uncorrectable::kUnexpectedCompletion,
                       packet, t);
      break;
    case PrgOutcome::kIgnored: break;
  }
}

// ---- contexts that end

// What engines have given out until now belongs to the context that ends, what comes later to a new
// one of the same name. [PRI-06]
[[gnu::noinline]] void TranslatedPath::end_context(DomainId domain, bool counts, Time t) {
  ended_contexts_.push_back({domain, ++contexts_ended_, counts});
  send_stop_markers(t);
}

// A transfer that is not sent as a whole is parked, or the present one.
bool TranslatedPath::may_still_ask(const EndedContext& context) {
  const auto is_of_it = [&](std::uint32_t transfer) {
    return begun_[transfer].domain == context.domain &&
           begun_[transfer].contexts_ended < context.number;
  };
  bool may_ask = present_ && is_of_it(*present_);
  unit_.parked.for_each([&](Slot /*slot*/, const ParkedTransfer& parked) {
    may_ask = may_ask || is_of_it(parked.cursor.transfer);
  });
  return may_ask;
}

bool TranslatedPath::waits_for_stop_marker(std::uint32_t transfer) const {
  const Begun& begun = begun_[transfer];
  return std::any_of(ended_contexts_.begin(), ended_contexts_.end(), [&](const EndedContext& one) {
    return one.domain == begun.domain && one.number <= begun.contexts_ended;
  });
}

// All page requests of the process are before it. [PRI-06] [PRI-07]
[[gnu::noinline]] void TranslatedPath::send_stop_markers(Time t) {
  for (std::size_t i = 0; i < ended_contexts_.size();) {
    if (may_still_ask(ended_contexts_[i])) {
      ++i;
      continue;
    }
    const EndedContext over = ended_contexts_[i];
    ended_contexts_.erase(ended_contexts_.begin() + static_cast<std::ptrdiff_t>(i));
    const DeviceIdentity& identity = s_.functions.identity_of(over.domain);
    const bool is_running = s_.functions.is_running(s_.functions.index_of(identity.bdf));
    if (is_running && unit_.can_ask_for_pages() && unit_.has_pasid() && identity.pasid) {
      const PageRequest marker = PageRequestInterface::stop_marker(identity.bdf, *identity.pasid);
      send_message(page_request_tlp(marker), identity.bdf, over.counts, t);
    }
  }
}

}  // namespace flitwise
