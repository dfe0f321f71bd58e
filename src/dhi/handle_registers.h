// SPDX-License-Identifier: Apache-2.0
/// The register block through which software allocates and frees handles at either end; layout in
/// docs/formats/dhi_dvsec.md. [DHI D12, D15]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "dhi/handle_types.h"

namespace flitwise {

namespace handle_register {  // Byte offsets in the block.
inline constexpr std::uint32_t kIdent = 0x00, kHandle = 0x04, kIdentity = 0x08, kPasid = 0x0c,
                               kUpper = 0x10, kCommand = 0x14, kStatus = 0x18, kBlockBytes = 0x1c;
inline constexpr std::uint32_t kIdentValue = 0x4448'4901;  ///< "DHI", version 1
// kUpper: the highest handle of a range; for ALLOC the word of the context, 0 for none.
// Fields of kHandle above the handle itself.
inline constexpr std::uint32_t kPasidSupported = 1U << 16, kTrusted = 1U << 17, kPmr = 1U << 18,
                               kEr = 1U << 19;
// Values of kCommand [3:0]; [15:8] is the epoch.
inline constexpr std::uint32_t kAlloc = 1, kDeallocOne = 2, kDeallocRange = 3, kDeallocFunction = 4,
                               kDeallocAll = 5;
// Fields of kStatus: [3:0] HandleStatus of the last command.
inline constexpr std::uint32_t kBusy = 1U << 31, kBadCommand = 1U << 30;
}  // namespace handle_register

/// What software asked for: to be done as if the message had come from the link.
using HandleCommand = std::variant<AllocMessage, DeallocMessage>;

/// Pure decode; whoever owns it applies the command and tells the outcome with finish().
class HandleRegisters {
 public:
  std::uint32_t read(std::uint32_t offset) const;  ///< one DW; 0 outside the block
  /// Writes one DW. A good command comes back and sets busy; one written while busy, or an unknown
  /// one, sets kBadCommand and changes nothing.
  std::optional<HandleCommand> write(std::uint32_t offset, std::uint32_t value);
  void finish(HandleStatus status) {
    status_ = static_cast<std::uint32_t>(status) | (status_ & handle_register::kBadCommand);
  }
  bool is_busy() const { return (status_ & handle_register::kBusy) != 0; }

 private:
  std::optional<HandleCommand> decode(std::uint32_t command) const;
  std::optional<HandleCommand> decode_alloc(std::uint8_t epoch) const;
  std::optional<HandleCommand> decode_dealloc(std::uint32_t code, std::uint8_t epoch) const;

  // Registers that only keep what is written.
  static constexpr bool is_plain(std::uint32_t offset) {
    return offset % 4 == 0 && offset >= handle_register::kHandle &&
           offset <= handle_register::kUpper;
  }
  static constexpr std::size_t index_of(std::uint32_t offset) { return offset / 4 - 1; }
  std::uint32_t plain(std::uint32_t offset) const { return plain_[index_of(offset)]; }

  std::array<std::uint32_t, 4> plain_{};
  std::uint32_t status_ = 0;
};

}  // namespace flitwise
