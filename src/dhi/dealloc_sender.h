// SPDX-License-Identifier: Apache-2.0
/// Orders of the host to give handles up: tags of each device, how many may be out, and which of
/// them an answer is about. [DHI D15]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dhi/handle_types.h"
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
  bool can_send(Bdf device) const;
  /// One leaves now, under the lowest free tag. REQUIRES: can_send(device); now never goes back.
  DeallocOrder send(Bdf device, Bdf function, const DeallocMessage& message, Time now);
  /// The order that an answer of the function is about: over from now on. Empty: nobody waits for
  /// it, and it changes nothing.
  std::optional<Order> complete(Bdf function, const DeallocDone& done);

  unsigned outstanding() const { return static_cast<unsigned>(out_.size()); }
  std::optional<Time> next_deadline() const;
  /// The next one whose deadline is not after now: given up, its tag is free. Call until there is
  /// none.
  std::optional<Order> expire(Time now);

 private:
  std::uint32_t tags_of(Bdf device) const;

  const Time timeout_;
  std::vector<Order> out_;  // oldest first
};

}  // namespace flitwise
