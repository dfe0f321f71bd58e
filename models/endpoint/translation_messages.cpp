// SPDX-License-Identifier: Apache-2.0
// What the translation agent says unasked, and what contexts leave behind.
#include <algorithm>

#include "endpoint/translated_path.h"
#include "flitwise/link_socket.h"
#include "tlp/tlp_check.h"

namespace flitwise {

bool TranslatedPath::receive(const Packet& packet, unsigned function,
                             const DeviceIdentity* behind_handle, Time t) {
  const Tlp& tlp = packet.tlp;
  const bool is_request = tlp.message_code == msg::kInvalidateRequest;
  const bool is_response = tlp.message_code == msg::kPrgResponse && unit_.pages() != nullptr;
  if ((!is_request && !is_response) || packet.malformed || tlp.is_poisoned ||
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
      send_invalidate_completions(function, t);
      break;
    case InvalidateVerdict::kUnsupportedRequest:
      s_.events.report(function, "unsupported_request",
                       cfg::aer::Uncorrectable::kUnsupportedRequest, packet, t);
      break;
    case InvalidateVerdict::kBusyItag:
      s_.events.refuse(packet, "itag_in_use");
      break;
  }
}

// Behind all writes, which stand in the outbox before them. [INV-07] [INV-08]
void TranslatedPath::send_invalidate_completions(unsigned function, Time t) {
  while (unit_.has_completion(function)) {
    const InvalidateCompletion completion = unit_.take_completion(function);
    send_message(invalidate_completion_tlp(completion), completion.function, invalidation_counts_,
                 t);
  }
}

void TranslatedPath::send_message(const Tlp& tlp, Bdf function, bool counts, Time t) {
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
      fail_parked(is_answered, TransferStatus::kUnsupportedRequest, t);
      break;
    case PrgOutcome::kFailure:
      fail_parked(wants_page, TransferStatus::kUnsupportedRequest, t);
      break;
    case PrgOutcome::kUnexpected:
      s_.events.report(0, "unexpected_prg_response", cfg::aer::Uncorrectable::kUnexpectedCompletion,
                       packet, t);
      break;
    case PrgOutcome::kIgnored:
      break;
  }
}

// What engines have given out until now belongs to the context that ends, what comes later to a new
// one of the same name. [PRI-06]
void TranslatedPath::end_context(DomainId domain, bool counts, Time t) {
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
void TranslatedPath::send_stop_markers(Time t) {
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
