// SPDX-License-Identifier: Apache-2.0
/// The window of interrupt writes, and what an interrupt write is. [LNK-9.22]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

/// Where interrupt writes go. model: the usual x86 window of 1 MiB.
inline constexpr std::uint64_t kInterruptWindow = 0xfee0'0000;
inline constexpr std::uint64_t kInterruptWindowBytes = std::uint64_t{1} << 20;

/// True for a memory request any of whose bytes lie in the window.
constexpr bool touches_interrupt_window(const Tlp& tlp) {
  const std::uint64_t bytes = std::uint64_t{tlp.length_dw} * 4;
  return tlp.address < kInterruptWindow + kInterruptWindowBytes &&
         (tlp.address >= kInterruptWindow || bytes > kInterruptWindow - tlp.address);
}

/// True for an interrupt: one whole DW, written untranslated into the window, with the function's
/// own Requester ID and neither PASID nor handle. [LNK-9.22]
constexpr bool is_interrupt(const Tlp& tlp) {
  constexpr unsigned kWholeDw = 0xf;
  return tlp.type == TlpType::kMWr && tlp.length_dw == 1 && tlp.first_be == kWholeDw &&
         tlp.at == AddressType::kUntranslated && !tlp.has_pasid && !tlp.id_is_handle &&
         touches_interrupt_window(tlp);
}

}  // namespace flitwise
