// SPDX-License-Identifier: Apache-2.0
#include "endpoint/static_requests.h"

#include "endpoint/translation_packet.h"
#include "tlp/tlp_check.h"

namespace flitwise {

const char* problem_of(TranslationVerdict verdict) {
  switch (verdict) {
    case TranslationVerdict::kPartial:
    case TranslationVerdict::kLast: return nullptr;
    case TranslationVerdict::kUnsupported: return "translation_unsupported";
    case TranslationVerdict::kAborted: return "translation_aborted";
    default: return "bad_translation_completion";
  }
}

bool StaticRequests::ask(DomainId domain, std::uint64_t address, std::uint32_t request, bool counts,
                         Time now) {
  const DeviceIdentity& identity = s_.functions.identity_of(domain);
  const unsigned function = s_.functions.index_of(identity.bdf);
  const std::size_t free_tags = tags_.free_tags(function);
  if (!s_.functions.may_send(identity.bdf) || free_tags == 0) {
    return false;
  }
  Transfer transfer;
  transfer.op = Op::kRead;
  transfer.domain = domain;
  transfer.address = address;  // of a flush that its handle may need
  transfer.counts = counts;
  const Handles::Answer handle = handles_.acquire(transfer, identity, Op::kRead, free_tags, now);
  if (handle.outcome == Handles::Outcome::kWait) {
    return false;
  }
  TranslationAsk ask;
  ask.address = address;
  ask.pasid = pasid_of(domain);
  const PacketRef packet =
      translation_packet(s_, config_, unit_, ask, {domain, identity, handle, counts});
  packet->stamp(Hop::kIssue, now);
  packet->stamp(Hop::kHandle, now + handle.latency);
  const TranslationSettings& settings = unit_.settings(function);
  receivers_.resize(std::max<std::size_t>(receivers_.size(), request + 1U));
  receivers_[request] =
      TranslationReceiver(packet->tlp, ask.pasid.has_value(), settings.rcb_bytes, settings.stu);
  tags_.open_translation(function, packet, handle.pin, request | kOwn, now);
  s_.output.send(packet, now + handle.latency + config_.device.timing.pipeline, {});
  s_.output.wake_at(now);
  return true;
}

void StaticRequests::try_again(Time when) {
  unit_.structures_set(when);
  s_.output.wake_at(when);
}

OptionalId<Pasid> StaticRequests::pasid_of(DomainId domain) const {
  const Identity form = config_.link.identity;
  const bool names_it = form == Identity::kBdfPasid || form == Identity::kDhi;
  return names_it && unit_.has_pasid() ? s_.functions.identity_of(domain).pasid
                                       : OptionalId<Pasid>();
}

// An answer that cannot be used is a failure to the firmware, which tries again later: the ATC of
// the function stays as it is. [EP-6]
void StaticRequests::complete(unsigned function, const Packet& packet,
                              const OutstandingRequest& request, Time now) {
  const std::uint32_t number = request.transfer & ~kOwn;
  TranslationReceiver& receiver = receivers_[number];
  const TranslationVerdict verdict = AtsUnit::take_in(receiver, packet);
  if (verdict == TranslationVerdict::kPartial) {
    return;
  }
  if (verdict == TranslationVerdict::kMalformed) {
    s_.events.report(function, "malformed_tlp", cfg::aer::Uncorrectable::kMalformedTlp, packet,
                     now);
  } else if (const char* const problem = problem_of(verdict)) {
    s_.events.refuse(packet, problem);
  }
  if (has_poisoned_data(packet.tlp)) {  // [LNK-9.26]
    s_.events.report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, now);
  }
  handles_.let_go(request, false);
  tags_.close_translation(function, packet.tlp.tag);
  const bool is_whole = verdict == TranslationVerdict::kLast && receiver.count() > 0;
  const TranslationEntry entry = is_whole ? receiver.entry(0) : TranslationEntry{};
  firmware_->answered(number, is_whole ? &entry : nullptr, now);
}

void StaticRequests::give_up(const OutstandingRequest& request, Time now) {
  handles_.let_go(request, true);
  firmware_->answered(request.transfer & ~kOwn, nullptr, now);
}

}  // namespace flitwise
