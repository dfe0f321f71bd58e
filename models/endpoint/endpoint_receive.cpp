// SPDX-License-Identifier: Apache-2.0
// The function shell: what comes from the link.
#include <algorithm>

#include "endpoint/endpoint.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

// The time for its completion begins with the request's first symbol on the wire. Requests leave in
// the order in which they were made: one that still waits has others behind it alone. [LNK-9.18]
Time deadline_of(const Packet& request, Time timeout, Time t) {
  const Time sent = request.stamped(Hop::kSent);
  return (sent == kNotStamped ? t : sent) + timeout;
}

}  // namespace

tlm::tlm_sync_enum Endpoint::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) {
  const Time t = now();
  if (packet.malformed && is_completion(packet.tlp.type)) {
    // Whatever it answers goes on waiting. [LNK-9.17]
    report(0, "malformed_tlp", cfg::aer::Uncorrectable::kMalformedTlp, packet, t);
  } else if (packet.has_bad_ecrc && checks_ecrc_ && !packet.malformed) {
    report(0, "ecrc_check_failed", cfg::aer::Uncorrectable::kEcrc, packet, t);  // [LNK-12.7]
  } else if (is_completion(packet.tlp.type)) {
    complete(packet, t);
    pump(t);
  } else {
    receive_request(packet, t);
  }
  return tlm::TLM_COMPLETED;
}

// An error completion echoes the handle that it refuses. [DHI D16]
unsigned Endpoint::function_behind(const Tlp& completion) {
  const std::optional<unsigned> function =
      outstanding_.function_with(completion.requester_id, completion.tag);
  return function.value_or(config_.device.functions.count);
}

// A completion for one of the requests that are out, or an Unexpected Completion.
void Endpoint::complete(Packet& packet, Time t) {
  const Tlp& tlp = packet.tlp;
  const unsigned function = tlp.id_is_handle ? function_behind(tlp) : function_of(tlp.requester_id);
  OutstandingRequest* request = outstanding_.find(function, tlp.tag);
  if (request == nullptr) {
    if (raw_ == nullptr || !raw_->complete(packet, t)) {
      report(function, "unexpected_completion", cfg::aer::Uncorrectable::kUnexpectedCompletion,
             packet, t);
    } else if (has_poisoned_data(tlp)) {
      report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, t);
    }
    return;
  }
  if (ats_ != nullptr && request->request->tlp.at == AddressType::kTranslationRequest) {
    complete_translation(function, packet, *request, t);
    return;
  }
  const CompletionFit fit = request->reassembly.check(tlp);
  if (fit == CompletionFit::kFailed) {
    const bool is_ca = tlp.status == CplStatus::kCA;
    finish_request(function, tlp.tag, *request,
                   is_ca ? TransferStatus::kCompleterAbort : TransferStatus::kUnsupportedRequest,
                   t);
    return;
  }
  if (fit != CompletionFit::kPartial && fit != CompletionFit::kLast) {
    const bool is_malformed = error_of(fit) == CompletionError::kMalformedTlp;
    report(function, is_malformed ? "malformed_tlp" : "unexpected_completion",
           is_malformed ? cfg::aer::Uncorrectable::kMalformedTlp
                        : cfg::aer::Uncorrectable::kUnexpectedCompletion,
           packet, t);
    return;
  }
  take_data(function, packet, *request, t);
  if (fit == CompletionFit::kLast) {
    finish_request(function, tlp.tag, *request,
                   request->is_poisoned ? TransferStatus::kPoisoned : TransferStatus::kDone, t);
  }
}

// Poisoned data is not given on; the request waits for the rest of its completions. [LNK-9.26]
void Endpoint::take_data(unsigned function, const Packet& packet, OutstandingRequest& request,
                         Time t) {
  const Tlp& tlp = packet.tlp;
  const std::uint32_t bytes = request.reassembly.bytes_in(tlp);
  if (has_poisoned_data(tlp)) {
    request.is_poisoned = true;
    counters_.failed_bytes += bytes;
    report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, t);
  } else {
    give_data(packet, request, bytes);
    counters_.delivered_bytes += bytes;
  }
  request.received += bytes;
  request.reassembly.accept(tlp);
}

void Endpoint::give_data(const Packet& packet, const OutstandingRequest& request,
                         std::uint32_t bytes) {
  if (!packet.length_only && request.request->purpose == HandlePurpose::kNone &&
      !packet.payload.empty()) {
    Active& active = active_[request.transfer];
    active.engine->data(active.transfer.token, request.offset + request.received,
                        packet.payload.data() + packet.tlp.lower_address % 4, bytes);
  }
}

// The request has its last completion, or will never have it: its tag is free at once. [LNK-9.18]
void Endpoint::finish_request(unsigned function, std::uint16_t tag, OutstandingRequest& request,
                              TransferStatus status, Time t) {
  if (ats_ != nullptr) {
    if (request.request->tlp.at == AddressType::kTranslationRequest) {
      give_up_translation(function, tag, request, t);
      return;
    }
    read_over(function, tag, request, status, t);
  }
  const Time done = t + config_.device.timing.pipeline;
  Packet& packet = *request.request;
  packet.stamp(Hop::kCompleted, done);
  last_completion_ = std::max(last_completion_, done);
  let_handle_go(request, status == TransferStatus::kTimeout);
  if (status == TransferStatus::kDone) {
    const bool ordered = !packet.tlp.relaxed_ordering && !packet.tlp.id_based_ordering;
    if (packet.purpose == HandlePurpose::kFlush) {
      dhi_.flush_done(request.posted_serial);
    } else if (ordered) {
      dhi_.pushed_through(request.posted_serial);
    }
  } else if (packet.purpose == HandlePurpose::kFlush) {
    refuse(packet, "flush_failed");
    dhi_.flush_failed(status != TransferStatus::kTimeout);
  }
  counters_.failed_bytes += status == TransferStatus::kDone ? 0 : request.reassembly.bytes_left();
  const std::uint32_t slot = request.transfer;
  const bool is_flush = packet.purpose == HandlePurpose::kFlush;
  const PacketRef kept = request.request;
  outstanding_.close(function, tag);
  if (is_flush) {
    return;
  }
  ++counters_.settled;
  Active& active = active_[slot];
  active.status = status == TransferStatus::kDone ? active.status : status;
  --active.tlps_out;
  const bool is_last = active.tlps_out == 0 && active.all_sent;
  kept->is_whole_request = is_last && active.status == TransferStatus::kDone;
  if (status == TransferStatus::kDone) {
    tracer_.read_completed(*kept, active.transfer.issue, done);
  }
  if (is_last) {
    end_transfer_behind_pipeline(slot, t);
  }
}

// A switch may hold the request still, and lets a later ALLOC pass it. Without one the link keeps
// both in order. A conventional reset has handles negotiated anew. [DHI S2]
void Endpoint::let_handle_go(const OutstandingRequest& request, bool is_given_up) {
  if (!request.pin) {
    return;
  }
  const bool is_reset =
      functions_[0] == FunctionState::kInReset && reset_kind_ == ResetKind::kConventional;
  if (!is_given_up || !is_below_switch_ || is_reset) {
    dhi_.nonposted_done(request.pin);
  } else if (dhi_.nonposted_given_up(request.pin)) {
    refuse(*request.request, "handle_kept");
  }
}

// Whoever has waited longest gives up first; the tag is free again, a late completion is
// unexpected. [LNK-9.18]
void Endpoint::check_timeouts(Time t) {
  give_up_requests(t, "completion_timeout", t);
  if (const auto oldest = outstanding_.oldest()) {
    const Packet& request = *outstanding_.find(oldest->function, oldest->tag)->request;
    wakeup_.at(deadline_of(request, config_.device.timing.completion_timeout, t));
  }
}

void Endpoint::give_up_requests(Time due_by, const char* kind, Time t) {
  for (std::optional<OutstandingRequests::Oldest> oldest = outstanding_.oldest();
       oldest && oldest->deadline <= due_by; oldest = outstanding_.oldest()) {
    OutstandingRequest& request = *outstanding_.find(oldest->function, oldest->tag);
    if (deadline_of(*request.request, config_.device.timing.completion_timeout, t) > due_by) {
      return;
    }
    ++errors_[kind];
    if (due_by != Time::never()) {
      target_.report_timeout(oldest->function, t);
      wakeup_.at(t + config_.device.timing.pipeline);
    }
    finish_request(oldest->function, oldest->tag, request, TransferStatus::kTimeout, t);
  }
}

void Endpoint::report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
                      const Packet& packet, Time t) {
  target_.report(function, kind, error, packet, t);
  wakeup_.at(t + config_.device.timing.pipeline);
}

void Endpoint::refuse(const Packet& packet, const char* kind) {
  ++errors_[kind];
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), name(), kind, "", &packet});
  }
}

}  // namespace flitwise
