// SPDX-License-Identifier: Apache-2.0
/// Posted requests that wait, by what IDO compares: whether one of them holds a TLP back is found
/// in the same time however many wait.
#pragma once

#include <array>
#include <cstdint>

#include "common/open_table.h"
#include "common/slot_list.h"
#include "flitwise/tlp.h"

namespace flitwise {

class PostedIndex {
 public:
  bool empty() const { return posted_.open_count() == 0; }
  /// Returns its token, for remove(). REQUIRES: `order` is above that of all that are there.
  std::uint32_t add(const Tlp& posted, std::uint64_t order);
  void remove(std::uint32_t token);
  /// Is there one whose order is below this one and that `later` may not pass, by passing()?
  bool holds_back(const Tlp& later, std::uint64_t order, bool completes_io_or_cfg_write) const;

 private:
  /// In the list of one group, oldest first.
  struct Link {
    std::uint64_t group = 0;
    std::uint32_t previous = kNobody, next = kNobody;
  };
  /// It is in three groups: all with or without handle, those of its Requester ID, and of its
  /// PASID.
  struct Posted {
    std::uint64_t order = 0;
    std::array<Link, 3> links;
  };
  struct Group {
    std::uint32_t first = kNobody, last = kNobody;
  };
  static std::uint64_t spread(const std::uint64_t& group) { return group * kGoldenSpread; }

  OpenTable<std::uint64_t, Group, spread> groups_;
  TokenPool<Posted> posted_;
};

}  // namespace flitwise
