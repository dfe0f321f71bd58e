// SPDX-License-Identifier: Apache-2.0
// Requests, completions, timeouts.
#include "host/host_request_table.h"

#include <utility>

#include "host/host_port.h"
#include "tlp/tlp_check.h"

namespace flitwise {

HostRequestTable::HostRequestTable(const HostConfig& config, PacketPool& pool, HostAccess& software,
                                   Wakeup& wakeup, std::map<std::string, std::uint64_t>& errors)
    : mmio_(config.timing.mmio),
      step_(config.timing.software_step),
      completion_timeout_(config.timing.completion_timeout),
      pool_(pool),
      software_(software),
      wakeup_(wakeup),
      errors_(errors),
      outstanding_(256) {}

void HostRequestTable::refuse(HostAccess::Done done) {
  software_.after(mmio_ * 2,
                  [done = std::move(done)] { done(HostAnswer::failed(CplStatus::kUR)); });
}

void HostRequestTable::send(Request request) {
  if (!request.port->is_up()) {
    ++errors_["link_down"];  // [LNK-10.5]
    refuse(std::move(request.done));
    return;
  }
  if (!tags_.has_free()) {
    request.since = now();
    waiting_.push_back(std::move(request));
    return;
  }
  const std::uint16_t tag = tags_.take();
  request.packet->tlp.tag = tag;
  Outstanding& out = outstanding_[tag];
  out.reassembly = Reassembly(request.packet->tlp, kMaxRead);
  out.answer = HostAnswer();
  out.serial = ++last_serial_;
  ++in_flight_;
  deadlines_.push_back({now() + completion_timeout_, tag, out.serial});
  wakeup_.at(deadlines_.front().when);
  out.request = std::move(request);
  out.request.port->wire.send(out.request.packet, mmio_);
}

bool HostRequestTable::completed(const HostPort& port, const PacketRef& packet, Time when) {
  const Tlp& tlp = packet->tlp;
  if (tlp.tag >= outstanding_.size() || outstanding_[tlp.tag].serial == 0 ||
      tlp.requester_id != kRootComplexId || outstanding_[tlp.tag].request.port != &port) {
    return false;
  }
  Outstanding& out = outstanding_[tlp.tag];
  const CompletionFit fit = out.reassembly.check(tlp);
  if (!fits(fit)) {
    return false;
  }
  out.answer.status = tlp.status;
  if (fit == CompletionFit::kPartial || fit == CompletionFit::kLast) {
    const auto lead = static_cast<std::ptrdiff_t>(tlp.lower_address % 4);
    const auto count = static_cast<std::ptrdiff_t>(out.reassembly.bytes_in(tlp));
    if (!packet->payload.empty() && tlp.type == TlpType::kCplD &&
        packet->payload.size() >= static_cast<std::size_t>(lead + count)) {
      out.answer.data.insert(out.answer.data.end(), packet->payload.begin() + lead,
                             packet->payload.begin() + lead + count);
    }
    out.reassembly.accept(tlp);
    out.answer.is_poisoned |= has_poisoned_data(tlp);
  }
  if (fit != CompletionFit::kPartial) {
    if (out.answer.is_poisoned) {
      out.answer.data.clear();
    }
    finish(tlp.tag, when - now() + mmio_);
  }
  return true;
}

// The answer reaches software `delay` from now; a configuration request that was put off is
// repeated.
void HostRequestTable::finish(std::uint16_t tag, Time delay) {
  Outstanding& out = outstanding_[tag];
  HostAnswer answer = std::move(out.answer);
  Request request = std::exchange(out.request, {});
  out.serial = 0;
  tags_.give(tag);
  --in_flight_;
  if (answer.status == CplStatus::kRRS && is_configuration(request.packet->tlp.type)) {
    software_.after(delay + step_, [this, request] {
      PacketRef again = pool_.make(PacketKind::kTlp);
      again->counts = false;
      again->tlp = request.packet->tlp;
      again->payload = request.packet->payload;
      again->payload_bytes = request.packet->payload_bytes;
      send({std::move(again), request.port, request.done});
    });
  } else {
    software_.after(delay,
                    [done = std::move(request.done), answer = std::move(answer)] { done(answer); });
  }
  while (!waiting_.empty() && tags_.has_free()) {
    Request next = std::move(waiting_.front());
    waiting_.pop_front();
    tag_waits.add(next.since, now());
    send(std::move(next));
  }
}

void HostRequestTable::refuse_requests_of(const HostPort& port) {
  for (std::size_t tag = 0; tag < outstanding_.size(); ++tag) {
    if (outstanding_[tag].serial != 0 && outstanding_[tag].request.port == &port) {
      ++errors_["link_down"];
      outstanding_[tag].answer = HostAnswer::failed(CplStatus::kUR);
      finish(static_cast<std::uint16_t>(tag), mmio_);
    }
  }
}

// [LNK-9.18]
void HostRequestTable::check_timeouts() {
  for (; !deadlines_.empty(); deadlines_.pop_front()) {
    const Deadline first = deadlines_.front();
    Outstanding& out = outstanding_[first.tag];
    if (out.serial != first.serial) {
      continue;
    }
    if (first.when > now()) {
      wakeup_.at(first.when);
      return;
    }
    ++errors_["completion_timeout"];
    out.request.port->report(FoundError{cfg::aer::Uncorrectable::kCompletionTimeout});
    out.answer = HostAnswer();
    out.answer.is_timeout = true;
    finish(first.tag, mmio_);
  }
}

}  // namespace flitwise
