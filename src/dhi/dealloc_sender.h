// SPDX-License-Identifier: Apache-2.0
/// Orders of the host to give handles up: tags of each device, how many may be out, and which of
/// them an answer is about. [DHI D15]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/error.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"

namespace flitwise {

class DeallocSender {
 public:
  /// timeout: how long an answer may take.
  explicit DeallocSender(Time timeout) : timeout_(timeout) {}

  struct Order {
    Bdf device;    ///< its first function: whose tags they are
    Bdf function;  ///< that the message goes to, and the answer comes from
    DeallocMessage message;
    std::uint8_t tag = 0;
    Time deadline{};
  };

  /// Whether the device takes one more; else the caller keeps it.
  bool can_send(Bdf device) const { return tags_of(device) != kAllTags; }
  /// One leaves now, under the lowest free tag. REQUIRES: can_send(device); now never goes back.
  DeallocOrder send(Bdf device, Bdf function, const DeallocMessage& message, Time now) {
    const std::uint32_t taken = tags_of(device);
    FLITWISE_CHECK(taken != kAllTags, "no tag for device " + std::to_string(device.value));
    const auto tag = static_cast<std::uint8_t>(__builtin_ctz(~taken));
    out_.push_back({device, function, message, tag, now + timeout_});
    return {message, tag};
  }
  /// The order that an answer of the function is about: over from now on. Empty: nobody waits for
  /// it, and it changes nothing.
  std::optional<Order> complete(Bdf function, const DeallocDone& done) {
    return take(std::find_if(out_.begin(), out_.end(), [&](const Order& one) {
      return one.function == function && one.tag == done.tag && one.message.epoch == done.epoch;
    }));
  }

  unsigned outstanding() const { return static_cast<unsigned>(out_.size()); }
  std::optional<Time> next_deadline() const {
    return out_.empty() ? std::nullopt : std::optional<Time>(out_.front().deadline);
  }
  /// The next one whose deadline is not after now: given up, its tag is free. Call until there is
  /// none.
  std::optional<Order> expire(Time now) {
    return take(!out_.empty() && out_.front().deadline <= now ? out_.begin() : out_.end());
  }

 private:
  static constexpr std::uint32_t kAllTags = (1U << kDeallocOrders) - 1U;

  /// Bit n: tag n is out.
  std::uint32_t tags_of(Bdf device) const {
    std::uint32_t tags = 0;
    for (const Order& one : out_) {
      tags |= one.device == device ? 1U << one.tag : 0U;
    }
    return tags;
  }
  std::optional<Order> take(std::vector<Order>::iterator one) {
    if (one == out_.end()) {
      return std::nullopt;
    }
    const Order taken = *one;
    out_.erase(one);
    return taken;
  }

  const Time timeout_;
  std::vector<Order> out_;  // oldest first
};

}  // namespace flitwise
