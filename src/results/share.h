// SPDX-License-Identifier: Apache-2.0
/// A part of a whole as people read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "results/text_table.h"

namespace flitwise {

/// "12.34 %"; "-" of nothing.
inline std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return percent_text(whole == 0
                          ? std::nullopt
                          : std::optional(static_cast<double>(part) / static_cast<double>(whole)));
}

}  // namespace flitwise
