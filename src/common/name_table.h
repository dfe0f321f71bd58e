// SPDX-License-Identifier: Apache-2.0
/// Names of the values of an enumeration that counts from 0.
#pragma once

#include <cstddef>

namespace flitwise {

/// "?" for a number without a name.
template <class Enum, std::size_t N>
constexpr const char* name_in(const char* const (&names)[N], Enum value) {
  return static_cast<std::size_t>(value) < N ? names[static_cast<std::size_t>(value)] : "?";
}

}  // namespace flitwise
