// SPDX-License-Identifier: Apache-2.0
#include "pio/credit_writer.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <utility>

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
  while (ready_.size() < rules_.returns_waiting()) {
    ready_.push_back(now + crossing_);
  }
  work_appeared_();
}

bool CreditWriter::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  const CreditReturn& first = rules_.first_return();
  Return& one = returns_[slot];
  for (std::size_t i = 0; i < kContextsPerSet; ++i) {
    one[i] = boost::endian::native_to_little(first.qws[i]);
  }
  count(first);
  transfer = {};
  transfer.domain = DomainId{rules_.group_of_context(first.context).first};
  transfer.address = first.address;
  transfer.bytes = kSendBlockBytes;
  transfer.issue = transfer.ready = ready_.front();
  transfer.token = slot;
  transfer.steering_tag = steering_tag_;
  transfer.counts = counts_requests_;
  transfer.data = reinterpret_cast<const std::uint8_t*>(one.data());
  waits_.add(ready_.front(), now);
  rules_.take_return();
  ready_.pop_front();
  return true;
}

Time CreditWriter::next_at() const {
  return free_slots_.empty() || ready_.empty() ? Time::never() : ready_.front();
}

void CreditWriter::count(const CreditReturn& one) {
  const std::uint64_t causes = one.qws[one.context % kContextsPerSet];
  const bool is_early = rules_.context(one.context).setup().early_return;
  const auto has = [&](CreditBits bit) { return (causes & bit) != 0 ? 1U : 0U; };
  (is_early ? counts_.early : counts_.threshold) += has(kDueToThreshold);
  (is_early ? counts_.early : counts_.pbc) +=
      has(kDueToPbc) != 0 && !(is_early && has(kDueToThreshold) != 0) ? 1 : 0;
  counts_.force += has(kDueToForce);
  counts_.error += has(kDueToError);
}

std::string CreditWriter::waits_for() const {
  return ready_.empty() ? "" : fmt::format("{} credit returns that wait to be sent", ready_.size());
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
