// SPDX-License-Identifier: Apache-2.0
#include "network/pfc.h"

#include <fmt/format.h>

namespace flitwise {

std::uint64_t pfc_headroom(EdgeRate edge, std::uint32_t mtu) {
  constexpr std::uint32_t kHeaders = 128;                                   // of a packet, at most
  const double way = static_cast<double>(edge.delay.fs) * edge.gbps / 8e6;  // bytes
  return static_cast<std::uint64_t>(2 * way) + 2 * std::uint64_t{mtu + kHeaders};
}

std::string complaint_about(const PfcRules& rules, std::uint64_t room, std::uint32_t ports,
                            std::uint32_t mtu, EdgeRate edge) {
  if (!rules.is_on) {
    return {};
  }
  if (rules.xoff <= 0 || rules.xon <= 0) {
    return fmt::format(
        "XOFF of {} and XON of {} bytes seen for {} ports and a queue of {} bytes; expected both "
        "above 0: a larger queue, or less headroom",
        rules.xoff, rules.xon, ports, room);
  }
  if (rules.xon >= rules.xoff) {
    return fmt::format("XON of {} bytes seen; expected less than XOFF, {}", rules.xon, rules.xoff);
  }
  const std::uint64_t most =
      ports * (static_cast<std::uint64_t>(rules.xoff) + pfc_headroom(edge, mtu));
  if (most > room) {
    return fmt::format(
        "XOFF of {} bytes at {} ports seen, which with {} bytes on their way need {}; expected no "
        "more than the queue has, {}: packets could be dropped",
        rules.xoff, ports, pfc_headroom(edge, mtu), most, room);
  }
  return {};
}

}  // namespace flitwise
