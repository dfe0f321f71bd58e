// SPDX-License-Identifier: Apache-2.0
// What comes back for requests, or does not, and how transfers end.
#include <algorithm>

#include "endpoint/request_path.h"
#include "tlp/tlp_check.h"

namespace flitwise {

// An error completion echoes the handle that it refuses. [DHI D16]
[[gnu::flatten]] bool RequestPath::complete(Packet& packet, Time t) {
  const Tlp& tlp = packet.tlp;
  const unsigned function =
      tlp.id_is_handle
          ? outstanding_.function_with(tlp.requester_id, tlp.tag).value_or(s_.functions.count())
          : s_.functions.index_of(tlp.requester_id);
  OutstandingRequest* const request = outstanding_.find(function, tlp.tag);
  if (request == nullptr) {
    take_late(function, tlp);
    return false;
  }
  if (translations_ != nullptr && request->request->tlp.at == AddressType::kTranslationRequest) {
    translations_->complete(function, packet, *request, t);
  } else {
    take_completion(function, packet, *request, t);
  }
  return true;
}

// Nobody waits for it any more: it tells, at most, that nothing else comes under its tag.
// [LNK-9.18]
void RequestPath::take_late(unsigned function, const Tlp& tlp) {
  const bool is_last =
      !has_data(tlp.type) || tlp.byte_count + tlp.lower_address % 4U <= 4U * tlp.length_dw;
  if (is_last && outstanding_.last_came(function, tlp.tag)) {
    ++counters_.settled;
  }
}

void RequestPath::take_completion(unsigned function, const Packet& packet,
                                  OutstandingRequest& request, Time t) {
  const Tlp& tlp = packet.tlp;
  const CompletionFit fit = request.reassembly.check(tlp);
  if (fit == CompletionFit::kFailed) {
    const bool is_ca = tlp.status == CplStatus::kCA;
    finish(function, tlp.tag, request,
           is_ca ? TransferStatus::kCompleterAbort : TransferStatus::kUnsupportedRequest, t);
    return;
  }
  if (fit != CompletionFit::kPartial && fit != CompletionFit::kLast) {
    const bool is_malformed = error_of(fit) == CompletionError::kMalformedTlp;
    s_.events.report(function, is_malformed ? "malformed_tlp" : "unexpected_completion",
                     is_malformed ? cfg::aer::Uncorrectable::kMalformedTlp
                                  : cfg::aer::Uncorrectable::kUnexpectedCompletion,
                     packet, t);
    return;
  }
  take_data(function, packet, request, t);
  if (fit == CompletionFit::kLast) {
    finish(function, tlp.tag, request,
           request.is_poisoned ? TransferStatus::kPoisoned : TransferStatus::kDone, t);
  }
}

// Poisoned data is not given on; the request waits for the rest of its completions. [LNK-9.26]
void RequestPath::take_data(unsigned function, const Packet& packet, OutstandingRequest& request,
                            Time t) {
  const Tlp& tlp = packet.tlp;
  const std::uint32_t bytes = request.reassembly.bytes_in(tlp);
  if (has_poisoned_data(tlp)) {
    request.is_poisoned = true;
    counters_.failed_bytes += bytes;
    s_.events.report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, t);
  } else {
    if (!packet.length_only && request.request->purpose == HandlePurpose::kNone &&
        !packet.payload.empty()) {
      Active& active = active_[request.transfer];
      active.engine->data(active.transfer.token, request.offset + request.received,
                          packet.payload.data() + tlp.lower_address % 4, bytes);
    }
    counters_.delivered_bytes += bytes;
  }
  request.received += bytes;
  request.reassembly.accept(tlp);
}

// The request has its last completion, or will never have it. [LNK-9.18]
void RequestPath::finish(unsigned function, std::uint16_t tag, OutstandingRequest& request,
                         TransferStatus status, Time t) {
  if (translations_ != nullptr) {
    if (request.request->tlp.at == AddressType::kTranslationRequest) {
      translations_->give_up(function, request, t);
      close(function, tag, status, t);
      return;
    }
    translations_->read_ended(function, tag, request.request->tlp, status, t);
  }
  const Time done = t + config_.device.timing.pipeline;
  const PacketRef packet = request.request;
  packet->stamp(Hop::kCompleted, done);
  last_completion_ = std::max(last_completion_, done);
  handles_->request_ended(request, status);
  counters_.failed_bytes += status == TransferStatus::kDone ? 0 : request.reassembly.bytes_left();
  const std::uint32_t slot = request.transfer;
  close(function, tag, status, t);
  if (packet->purpose != HandlePurpose::kFlush) {
    tlp_over(slot, *packet, status, t);
  }
}

// What has timed out may still be answered: until then its tag goes to nobody else. [LNK-9.18]
void RequestPath::close(unsigned function, std::uint16_t tag, TransferStatus status, Time t) {
  if (status == TransferStatus::kTimeout) {
    const Time timeout = config_.device.timing.completion_timeout;
    outstanding_.close_late(function, tag, t + std::max(timeout, kLongestCompletion));
  } else {
    outstanding_.close(function, tag);
  }
}

void RequestPath::tlp_over(std::uint32_t slot, Packet& request, TransferStatus status, Time t) {
  ++counters_.settled;
  Active& active = active_[slot];
  active.status = status == TransferStatus::kDone ? active.status : status;
  --active.tlps_out;
  const bool is_last = active.tlps_out == 0 && active.all_sent;
  request.is_whole_request = is_last && active.status == TransferStatus::kDone;
  if (status == TransferStatus::kDone) {
    tracer_.read_completed(request, active.transfer.issue, t + config_.device.timing.pipeline);
  }
  if (is_last) {
    end_behind_pipeline(slot, t);
  }
}

// The time for its completion begins with the request's first symbol on the wire. Requests leave in
// the order in which they were made: one that still waits has others behind it alone. [LNK-9.18]
Time RequestPath::deadline_of(const Packet& request, Time t) const {
  const Time sent = request.stamped(Hop::kSent);
  return (sent == kNotStamped ? t : sent) + config_.device.timing.completion_timeout;
}

// The oldest request gives up first; a late completion is unexpected. Tags that were held back for
// it become free, which is progress. [LNK-9.18]
void RequestPath::check_timeouts(Time t) {
  give_up(t, "completion_timeout", t);
  if (const std::size_t held = outstanding_.held(); held != 0) {
    outstanding_.release_due(t);
    counters_.settled += held - outstanding_.held();
    s_.output.wake_at(outstanding_.next_release());
  }
  if (const auto oldest = outstanding_.oldest()) {
    s_.output.wake_at(deadline_of(*outstanding_.find(oldest->function, oldest->tag)->request, t));
  }
}

void RequestPath::give_up(Time due_by, const char* kind, Time t) {
  for (std::optional<OutstandingRequests::Oldest> oldest = outstanding_.oldest();
       oldest && oldest->deadline <= due_by; oldest = outstanding_.oldest()) {
    OutstandingRequest& request = *outstanding_.find(oldest->function, oldest->tag);
    if (deadline_of(*request.request, t) > due_by) {
      return;
    }
    if (due_by != Time::never()) {
      s_.events.refuse(*request.request, kind);
      s_.events.timed_out(oldest->function, t);
    } else {
      s_.events.count(kind);  // the link is down: nobody sees the request fail
    }
    finish(oldest->function, oldest->tag, request, TransferStatus::kTimeout, t);
  }
}

void RequestPath::fail(std::uint32_t slot, TransferStatus status, Time t) {
  Active& active = active_[slot];
  active.status = status;
  active.all_sent = true;
  if (active.tlps_out == 0) {
    end_behind_pipeline(slot, t);
  }
}

void RequestPath::end_transfer(std::uint32_t slot, Time t) {
  Active& active = active_[slot];
  const Transfer& transfer = active.transfer;
  if (transfer.ends_context) {
    handles_->end_context(transfer.domain);
    if (translations_ != nullptr && s_.functions.are_processes()) {  // else its process goes on
      translations_->end_context(transfer.domain, transfer.counts, t);
    }
  }
  const TransferEnd end{transfer.token, transfer.op, active.status, t};
  contexts_.end_transfer(transfer.domain);
  active.write.reset();
  Engine& engine = *active.engine;
  active_.close(slot);
  s_.output.ask_engines();
  engine.finished(end);
}

// The engine hears of it, and can have its place for another one, when the pipeline has brought it
// there. [LNK-9.25]
void RequestPath::end_behind_pipeline(std::uint32_t slot, Time t) {
  const Time done = t + config_.device.timing.pipeline;
  last_completion_ = done;
  if (done == t) {
    end_transfer(slot, t);
    return;
  }
  ends_.add(slot, done);
  s_.output.end_at(ends_.next());
}

[[gnu::flatten, gnu::noinline]] void RequestPath::end_due(Time t) {
  while (ends_.is_due(t)) {
    end_transfer(ends_.take(), t);
  }
}

}  // namespace flitwise
