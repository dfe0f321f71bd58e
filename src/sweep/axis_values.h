// SPDX-License-Identifier: Apache-2.0
/// Short forms of value lists: ranges and evenly spaced points.
#pragma once

#include <string>
#include <vector>

namespace flitwise {

/// The values, or what is wrong with the short form ("...; expected ...").
struct ExpandedValues {
  std::vector<std::string> values;
  std::string problem;
};

/// `A..B:*K` multiplies, `A..B:+K` adds, `A..B` adds one; both ends belong to the range (B if it is
/// hit). A and B may carry a unit of one dimension (8B..4KiB:*2, 100ns..2us:+100ns); an addend then
/// needs one too. At most 100,000 values.
ExpandedValues expand_range(const std::string& text);

/// n numbers from `first` to `last`, both included. REQUIRES of the texts: plain numbers, n >= 2.
ExpandedValues expand_linspace(const std::vector<std::string>& first_last_n);

}  // namespace flitwise
