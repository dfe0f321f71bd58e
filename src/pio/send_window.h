// SPDX-License-Identifier: Apache-2.0
/// The PIO window of a device and the send memory behind it: sizes, and what an address names.
/// docs/rules/pio.md states the rules that this folder cites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace flitwise {

inline constexpr unsigned kSendContexts = 160;
inline constexpr unsigned kSdmaEngines = 16;
/// Who may have packets to launch: contexts 0..159, then engines 160..175. [PIO-6.1]
inline constexpr unsigned kPioSources = kSendContexts + kSdmaEngines;
inline constexpr unsigned kSendBlockBytes = 64;  ///< one block is one credit
inline constexpr unsigned kQwBytes = 8;          ///< the smallest unit of a write
inline constexpr unsigned kQwsPerBlock = kSendBlockBytes / kQwBytes;
inline constexpr unsigned kSendMemoryBlocks = 16384;
inline constexpr unsigned kMostContextBlocks = 1024;
inline constexpr unsigned kMostPacketBlocks = 162;  ///< 128 B and 10 KiB of MTU [PIO-12.24]
/// Counters of blocks have 11 bits, whatever the size of a context. [PIO-7.1]
inline constexpr unsigned kCreditRing = 2048;
inline constexpr std::uint32_t kPioWindowBytes = 32U << 20;
inline constexpr unsigned kWindowContexts = 256;  ///< that an offset can name

/// Errors of a context, by their bit in SendCtxtErrStatus. [PIO-9.2]
enum class SendError : std::uint8_t {
  kInconsistentSop,
  kDisallowedPacket,
  kWriteCrossesBoundary,
  kWriteOverflow,
  kWriteOutOfBounds
};
inline constexpr int kSendErrors = 5;
const char* name_of(SendError error);  ///< "inconsistent_sop", "write_overflow", ...

/// What an offset in the window names. [PIO-2.1]
struct WindowAddress {
  bool is_sop = false;   ///< the block is said to be the first of a packet
  unsigned context = 0;  ///< 0..255
  unsigned block = 0;    ///< of the context's buffer, 0..1023
  unsigned byte = 0;     ///< of the block, 0..63
};
/// Bits above the 32 MiB of the window are not looked at.
constexpr WindowAddress decode_window(std::uint32_t offset) {
  return {(offset >> 24 & 1U) != 0, offset >> 16 & 0xffU, (offset & 0xffffU) / kSendBlockBytes,
          offset % kSendBlockBytes};
}

/// The offset that names it. [PIO-2.1]
constexpr std::uint32_t encode_window(const WindowAddress& address) {
  return (address.is_sop ? 1U << 24 : 0U) | address.context << 16 |
         (address.block * kSendBlockBytes + address.byte);
}

/// The QWs of a block that a write fills, a bit each; absent where its shape is refused: it has to
/// consist of whole, aligned QWs, at least one, and stay in one 64-byte block. [PIO-3.1, 12.3]
std::optional<std::uint8_t> qws_of_write(unsigned first_byte, std::size_t bytes);

}  // namespace flitwise
