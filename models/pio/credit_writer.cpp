// SPDX-License-Identifier: Apache-2.0
#include "pio/credit_writer.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <utility>

#include "flitwise/link_socket.h"

namespace flitwise {

CreditWriter::CreditWriter(SendEngine& rules, const PioConfig& config,
                           std::function<void()> work_appeared)
    : rules_(rules),
      crossing_(config.timing.crossing),
      steering_tag_(static_cast<std::uint16_t>(config.steering_tag)),
      work_appeared_(std::move(work_appeared)) {
  rules_.set_coalescing(true);
  for (std::uint32_t slot = kSlots; slot > 0; --slot) {
    free_slots_.push_back(slot - 1);
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
    crossing_returns_.push_back({slot, due_.front(), now + crossing_});
    rules_.take_return();
    due_.pop_front();
  }
}

bool CreditWriter::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
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
  cross(now);
  return true;
}

void CreditWriter::finished(const TransferEnd& end) {
  free_slots_.push_back(end.token);
  cross(flitwise::now());
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
