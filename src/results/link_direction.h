// SPDX-License-Identifier: Apache-2.0
/// One direction of a link with the link it belongs to, and what follows from its counters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/result.h"

namespace flitwise {

struct LinkDirection {
  const LinkResult& link;
  const DirectionResult& traffic;

  bool is_up() const { return &traffic == &link.up; }
  std::string name() const { return link.name + (is_up() ? " up" : " down"); }

  // Both directions of each link, one after the other.
  static std::size_t count(const std::vector<LinkResult>& links) { return 2 * links.size(); }
  static LinkDirection at(const std::vector<LinkResult>& links, std::size_t row) {
    const LinkResult& link = links[row / 2];
    return {link, row % 2 == 0 ? link.up : link.down};
  }
};

/// Payload bits over all bits that are not idle; empty when the wire carried nothing.
std::optional<double> link_efficiency(const DirectionResult& traffic);
/// Payload bits over the span from the first to the last symbol of the counted TLPs; empty without
/// such a span. Unit: Gb/s.
std::optional<double> goodput_gbps(const LinkDirection& direction);
/// Share of the window that is not idle; empty when there is no window.
std::optional<double> utilisation(const DirectionResult& traffic);

}  // namespace flitwise
