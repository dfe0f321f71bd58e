// SPDX-License-Identifier: Apache-2.0
/// Pages of host memory.
#pragma once

#include <cstdint>

namespace flitwise {

/// Bytes of host memory; none where the size is 0.
struct PhysicalPages {
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;

  static constexpr PhysicalPages all() { return {0, ~std::uint64_t{0}}; }
};

}  // namespace flitwise
