// SPDX-License-Identifier: Apache-2.0
// Ranges of handles.
#include "config/handle_ranges.h"

#include "dhi/negotiation.h"

namespace flitwise {

bool share_handles(const Config& config) {
  return config.host.dhi.table == HostDhiTable::kShared ||
         (config.system.topology == Topology::kSwitch && config.link.identity == Identity::kDhi &&
          config.link.dhi_form == DhiForm::kRidFabric);
}

std::vector<HandleRange> handle_ranges(const Config& whole, const std::vector<unsigned>& bits) {
  if (share_handles(whole)) {
    const unsigned entries = whole.host.dhi.table == HostDhiTable::kShared
                                 ? whole.host.dhi.entries
                                 : HandleRange::of_bits(kMaxHandleBits).size();
    return partition_handles(entries, bits);
  }
  std::vector<HandleRange> ranges;
  for (const unsigned width : bits) {
    ranges.push_back(HandleRange::of_bits(width));
  }
  return ranges;
}

}  // namespace flitwise
