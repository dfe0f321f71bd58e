// SPDX-License-Identifier: Apache-2.0
#include "pio/credit_writer.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <utility>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {

CreditWriter::CreditWriter(SendEngine& rules, const PioEngineConfig& config,
                           std::function<void()> work_appeared)
    : rules_(rules),
      interrupt_address_(config.interrupt_address),
      crossing_(config.pio.timing.crossing),
      steering_tag_(static_cast<std::uint16_t>(config.pio.steering_tag)),
      work_appeared_(std::move(work_appeared)) {
  rules_.set_coalescing(true);
  for (std::uint32_t slot = kSlots; slot > 0; --slot) {
    free_slots_.push_back(slot - 1);
  }
  for (unsigned context = 0; context < kSendContexts; ++context) {
    messages_[context] = boost::endian::native_to_little(kFirstCreditInterrupt + context);
  }
}

void CreditWriter::note_new(Time now) {
  while (due_.size() < rules_.returns_waiting()) {
    due_.push_back(now + crossing_);
  }
  cross(now);
  work_appeared_();
}

// A return crosses as it stands now: what comes later crosses by itself. [PIO-12.21]
void CreditWriter::cross(Time now) {
  while (!due_.empty() && crossing_returns_.size() < kCrossing && !free_slots_.empty()) {
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    const CreditReturn& first = rules_.first_return();
    Return& one = returns_[slot];
    for (std::size_t i = 0; i < kContextsPerSet; ++i) {
      one.qws[i] = boost::endian::native_to_little(first.qws[i]);
    }
    one.address = first.address;
    one.domain = DomainId{rules_.group_of_context(first.context).first};
    one.set = first.context / kContextsPerSet;
    one.interrupts = first.interrupts;
    crossing_returns_.push_back({slot, due_.front(), now + crossing_});
    rules_.take_return();
    due_.pop_front();
  }
}

bool CreditWriter::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
  }
  if (!raised_.empty()) {
    return next_interrupt(transfer);
  }
  const Crossing first = crossing_returns_.front();
  crossing_returns_.pop_front();
  const Return& one = returns_[first.slot];
  transfer = {};
  transfer.domain = one.domain;
  transfer.address = one.address;
  transfer.bytes = kSendBlockBytes;
  transfer.issue = transfer.ready = first.ready;
  transfer.token = first.slot;
  transfer.steering_tag = steering_tag_;
  transfer.counts = counts_requests_;
  transfer.data = reinterpret_cast<const std::uint8_t*>(one.qws.data());
  waits_.add(first.due, now);
  ++sent_;
  steered_ += steering_tag_ != kNoSteeringTag ? 1 : 0;
  raise(one, now);
  cross(now);
  return true;
}

void CreditWriter::raise(const Return& one, Time now) {
  for (unsigned left = one.interrupts; left != 0; left &= left - 1) {
    const unsigned member = static_cast<unsigned>(__builtin_ctz(left));
    make_room(raised_);
    raised_.push_back({one.set * kContextsPerSet + member, now});
  }
}

// Behind its return, which it does not pass. [PIO-12.12] [LNK-9.1]
bool CreditWriter::next_interrupt(Transfer& transfer) {
  const Raised first = raised_.front();
  raised_.pop_front();
  transfer = {};
  transfer.op = Op::kMsi;
  transfer.domain = DomainId{first.context};
  transfer.address = interrupt_address_;
  transfer.bytes = sizeof(messages_[0]);
  transfer.issue = transfer.ready = first.ready;
  transfer.token = kSlots + first.context;
  transfer.counts = counts_requests_;
  transfer.data = reinterpret_cast<const std::uint8_t*>(&messages_[first.context]);
  ++interrupts_;
  ++interrupts_out_;
  return true;
}

void CreditWriter::finished(const TransferEnd& end) {
  if (end.token >= kSlots) {
    --interrupts_out_;
    return;
  }
  free_slots_.push_back(end.token);
  cross(flitwise::now());
}

void CreditWriter::forget() {
  forgotten_ += rules_.returns_waiting() + crossing_returns_.size();
  while (rules_.has_return()) {
    rules_.take_return();
  }
  due_.clear();
  for (const Crossing& one : crossing_returns_) {
    free_slots_.push_back(one.slot);
  }
  crossing_returns_.clear();
  raised_.clear();
  for (Return& one : returns_) {
    one.qws.fill(0);
  }
}

std::string CreditWriter::waits_for() const {
  const std::size_t waiting = due_.size() + crossing_returns_.size();
  return waiting == 0 ? "" : fmt::format("{} credit returns that wait to be sent", waiting);
}

void CreditWriter::start_window(Time now) {
  counts_requests_ = true;
  waits_.start_window(now);
}

WaitResult CreditWriter::waits(const std::string& place) const {
  return waits_.result(
      {place, "returns", ResourceRole::kQueue, "up", "", "", CreditReturnQueue::kMost});
}

}  // namespace flitwise
