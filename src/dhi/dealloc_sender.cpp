// SPDX-License-Identifier: Apache-2.0
// Tags and timeouts of orders to give handles up.
#include "dhi/dealloc_sender.h"

#include <algorithm>
#include <string>

#include "flitwise/error.h"

namespace flitwise {
namespace {
constexpr std::uint32_t kAllTags = (1U << kDeallocOrders) - 1U;
}

// Bit n: tag n is out.
std::uint32_t DeallocSender::tags_of(Bdf device) const {
  std::uint32_t tags = 0;
  for (const Order& one : out_) {
    tags |= one.device == device ? 1U << one.tag : 0U;
  }
  return tags;
}

bool DeallocSender::can_send(Bdf device) const {
  return tags_of(device) != kAllTags;
}

DeallocOrder DeallocSender::send(Bdf device, Bdf function, const DeallocMessage& message,
                                 Time now) {
  const std::uint32_t taken = tags_of(device);
  FLITWISE_CHECK(taken != kAllTags, "no tag for device " + std::to_string(device.value));
  const auto tag = static_cast<std::uint8_t>(__builtin_ctz(~taken));
  out_.push_back({device, function, message, tag, now + timeout_});
  return {message, tag};
}

std::optional<DeallocSender::Order> DeallocSender::complete(Bdf function, const DeallocDone& done) {
  const auto order = std::find_if(out_.begin(), out_.end(), [&](const Order& one) {
    return one.function == function && one.tag == done.tag && one.message.epoch == done.epoch;
  });
  if (order == out_.end()) {
    return std::nullopt;
  }
  const Order found = *order;
  out_.erase(order);
  return found;
}

std::optional<Time> DeallocSender::next_deadline() const {
  return out_.empty() ? std::nullopt : std::optional<Time>(out_.front().deadline);
}

std::optional<DeallocSender::Order> DeallocSender::expire(Time now) {
  if (out_.empty() || out_.front().deadline > now) {
    return std::nullopt;
  }
  const Order expired = out_.front();
  out_.erase(out_.begin());
  return expired;
}

}  // namespace flitwise
