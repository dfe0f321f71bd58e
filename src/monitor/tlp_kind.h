// SPDX-License-Identifier: Apache-2.0
/// What the monitors ask of a TLP's type for each packet, looked up once.
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

class TlpKind {
 public:
  constexpr TlpKind() = default;
  constexpr explicit TlpKind(TlpType type)
      : bits_(static_cast<std::uint8_t>(static_cast<unsigned>(fc_class(type)) |
                                        (has_data(type) ? kHasData : 0U) |
                                        (is_memory_request(type) ? kIsMemory : 0U))) {}

  constexpr std::size_t fc() const { return bits_ & kClass; }  ///< index of the class
  constexpr bool is(FcClass one) const { return fc() == static_cast<std::size_t>(one); }
  constexpr bool has_data() const { return (bits_ & kHasData) != 0; }
  constexpr bool is_memory() const { return (bits_ & kIsMemory) != 0; }

 private:
  static constexpr unsigned kClass = 3, kHasData = 4, kIsMemory = 8;
  static constexpr bool has_data(TlpType type) { return flitwise::has_data(type); }
  std::uint8_t bits_ = 0;
};

inline constexpr std::array<TlpKind, kTlpTypes> kTlpKinds = [] {
  std::array<TlpKind, kTlpTypes> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i] = TlpKind(static_cast<TlpType>(i));
  }
  return kinds;
}();

constexpr TlpKind kind_of(const Tlp& tlp) {
  return kTlpKinds[static_cast<std::size_t>(tlp.type)];
}

}  // namespace flitwise
