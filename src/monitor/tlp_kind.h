// SPDX-License-Identifier: Apache-2.0
/// What the monitors ask of a TLP's type for each packet, looked up once.
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

struct TlpKind {
  std::uint8_t fc = 0;  ///< index of the class
  bool has_data = false, is_memory = false;
  constexpr bool is(FcClass one) const { return fc == static_cast<std::uint8_t>(one); }
};

inline constexpr std::array<TlpKind, kTlpTypes> kTlpKinds = [] {
  std::array<TlpKind, kTlpTypes> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto type = static_cast<TlpType>(i);
    kinds[i] = {static_cast<std::uint8_t>(fc_class(type)), has_data(type), is_memory_request(type)};
  }
  return kinds;
}();

constexpr TlpKind kind_of(const Tlp& tlp) {
  return kTlpKinds[static_cast<std::size_t>(tlp.type)];
}

}  // namespace flitwise
