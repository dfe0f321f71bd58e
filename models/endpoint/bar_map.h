// SPDX-License-Identifier: Apache-2.0
/// Who answers for which part of BAR 0: parts of a device, and the engines on it, claim regions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// Part of BAR 0, of one function or of several in a row.
struct BarRegion {
  std::uint64_t offset = 0, bytes = 0;
  unsigned first_function = 0, functions = 1;
};

/// Where an access lies: in the region that its owner calls so, at an offset into BAR 0.
struct MmioPlace {
  unsigned region = 0;
  unsigned function = 0;
  std::uint64_t offset = 0;
};

/// A part of a read that lies in one region.
struct MmioRead {
  MmioPlace place;
  std::size_t bytes = 0;
  std::uint32_t ticket = 0;  ///< which read
  std::size_t at = 0;        ///< where in its data
};

class BarAccess;

class RegionOwner {
 public:
  /// Software has written some bytes in a row; they are there during the call.
  virtual void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                          Time now) = 0;
  /// May it be told of a write ahead of its time? `now` is the time at which the write takes effect
  /// then. Saves a wake-up a write.
  virtual bool is_told_early() const { return false; }
  /// Software reads. To be answered once (BarAccess::answer), now or later, and no more after a
  /// reset of the device.
  virtual void mmio_read(const MmioRead& read, BarAccess& access, Time now) = 0;

 protected:
  ~RegionOwner() = default;
};

class BarMap {
 public:
  /// From now on the owner has the region, whoever had some of it before. It calls it `name`.
  void claim(const BarRegion& region, RegionOwner& owner, unsigned name = 0) {
    claims_.push_back({region, &owner, name});
  }

  struct Part {
    RegionOwner* owner = nullptr;  ///< null: the offset has no owner
    unsigned region = 0;
    std::uint64_t end = 0;  ///< of the bytes from `offset` on that are the same owner's
  };
  Part part_at(unsigned function, std::uint64_t offset) const {
    Part part;
    part.end = std::numeric_limits<std::uint64_t>::max();
    for (auto claim = claims_.rbegin(); claim != claims_.rend(); ++claim) {
      const BarRegion& region = claim->region;
      const bool is_of_function =
          function >= region.first_function && function - region.first_function < region.functions;
      if (!is_of_function || offset >= region.offset + region.bytes) {
        continue;
      }
      if (offset >= region.offset) {
        return {claim->owner, claim->name, std::min(part.end, region.offset + region.bytes)};
      }
      part.end = std::min(part.end, region.offset);
    }
    return part;
  }

 private:
  struct Claim {
    BarRegion region;
    RegionOwner* owner;
    unsigned name;
  };
  std::vector<Claim> claims_;  // a later one wins
};

}  // namespace flitwise
