// SPDX-License-Identifier: Apache-2.0
/// The order in which handles are offered as victims: FIFO, LRU or LFU. [DHI D9]
#pragma once

#include <memory>
#include <optional>

#include "common/slot_list.h"
#include "flitwise/config.h"

namespace flitwise {

/// Keeps the entries of one table in victim order. All functions are O(1).
class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;

  virtual void inserted(Slot slot) = 0;  ///< REQUIRES: slot is not in the order.
  virtual void used(Slot slot) = 0;      ///< REQUIRES: slot is in the order.
  virtual void removed(Slot slot) = 0;   ///< REQUIRES: slot is in the order.

  virtual std::optional<Slot> first() const = 0;           ///< the next victim
  virtual std::optional<Slot> after(Slot slot) const = 0;  ///< the one to ask when slot will not do
};

/// FIFO: longest stay first; uses do not matter. LRU: longest unused first. LFU: fewest uses in
/// this residency first, among equals the longest unused; counts do not age.
std::unique_ptr<ReplacementPolicy> make_replacement_policy(VictimPolicy policy, unsigned slots);

}  // namespace flitwise
