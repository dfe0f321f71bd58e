// SPDX-License-Identifier: Apache-2.0
// Regions of BAR 0.
#include "endpoint/bar_map.h"

#include <algorithm>
#include <limits>

namespace flitwise {

BarMap::Part BarMap::part_at(unsigned function, std::uint64_t offset) const {
  Part part;
  part.end = std::numeric_limits<std::uint64_t>::max();
  for (auto claim = claims_.rbegin(); claim != claims_.rend(); ++claim) {
    const BarRegion& region = claim->region;
    const bool is_of_function =
        function >= region.first_function && function - region.first_function < region.functions;
    if (!is_of_function || offset >= region.offset + region.bytes) {
      continue;
    }
    if (offset < region.offset) {
      part.end = std::min(part.end, region.offset);
      continue;
    }
    part.owner = claim->owner;
    part.region = claim->name;
    part.end = std::min(part.end, region.offset + region.bytes);
    break;
  }
  return part;
}

}  // namespace flitwise
