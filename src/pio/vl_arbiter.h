// SPDX-License-Identifier: Apache-2.0
/// Which virtual lane sends next: VL15 first, data VLs in turn or by weight.
#pragma once

#include <array>
#include <cstdint>

#include "pio/launch.h"

namespace flitwise {

inline constexpr unsigned kVlTableEntries = 16;
inline constexpr unsigned kMostVlWeight = 255;
inline constexpr unsigned kMostHighLimit = (1U << 14) - 1;

/// Blocks that a data VL may send each time its entry comes up. [PIO-6.5]
struct VlWeight {
  std::uint8_t vl = 0;      ///< 0..7
  std::uint8_t weight = 0;  ///< in blocks of 64 bytes; 0: the entry is passed over
};
using VlTable = std::array<VlWeight, kVlTableEntries>;
struct VlTables {
  VlTable high{}, low{};
  /// Blocks of the high table that may go before a packet of the low one has its turn, 0..16383;
  /// one packet may in any case.
  std::uint16_t high_limit = 0;
};

class VlArbiter {
 public:
  /// From now on data VLs go by weight, each table from its first entry on; before, in turn.
  /// A VL without a weight in either table never goes. [PIO-12.28]
  void use_tables(const VlTables& tables);

  /// What was chosen; `queue` as queue_of_vl() has it, kVlQueues: none.
  struct Choice {
    unsigned queue = kVlQueues;
    enum class By : std::uint8_t { kStrict, kTurn, kHigh, kLow } by = By::kStrict;
    unsigned entry = 0;
  };
  /// Among queues that have a packet which may go, a bit each.
  Choice choose(unsigned ready_queues) const;
  /// That queue sends a packet of so many blocks.
  void granted(const Choice& choice, unsigned blocks);

 private:
  struct Turn {
    unsigned entry = 0;
    int left = 0;  // of its weight
  };
  Choice from_table(const VlTable& table, const Turn& turn, Choice::By by, unsigned ready) const;

  bool has_tables_ = false;
  VlTables tables_;
  Turn high_, low_;
  unsigned high_sent_ = 0;  // blocks since the last turn of the low table
  unsigned last_ = kDataVls - 1;
};

}  // namespace flitwise
