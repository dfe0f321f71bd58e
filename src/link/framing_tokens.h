// SPDX-License-Identifier: Apache-2.0
/// Framed packets as bytes of the lane-striped stream: symbols of generations 1 and 2, tokens of 3
/// to 5. K symbols stand as their byte values. [LNK-5.4] [LNK-5.5] [LNK-5.6]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace flitwise {

enum class Framing : std::uint8_t { kGen1, kGen3 };  ///< 8b/10b symbols, 128b/130b tokens

/// Symbols of generations 1 and 2. [LNK-5.7]
namespace symbol {
inline constexpr std::uint8_t kStp = 0xfb, kSdp = 0x5c, kEnd = 0xfd, kEdb = 0xfe;
}  // namespace symbol

using Token = std::array<std::uint8_t, 4>;
inline constexpr std::array<std::uint8_t, 2> kSdpToken = {0xf0, 0xac};  ///< [LNK-5.10]
inline constexpr Token kEdbToken = {0xc0, 0xc0, 0xc0, 0xc0};            ///< [LNK-5.10]

inline constexpr unsigned kStpParityBit = 15;  ///< counted from byte 0, bit 0 [LNK-5.8]
/// Bits of Length that each bit of the FCRC is the parity of, that of C0 first. [LNK-5.8]
inline constexpr std::array<std::uint16_t, 4> kFcrcMasks = {0x4d7, 0x6bc, 0x35e, 0x1af};
inline constexpr unsigned kMinTokenLengthDw = 5;      ///< [LNK-5.9]
inline constexpr unsigned kMaxTokenLengthDw = 0x7ff;  ///< 11 bits [LNK-5.8]

/// STP token. length_dw: token, TLP and LCRC together, 5..2047; sequence: 0..4095. [LNK-5.8]
Token stp_token(unsigned length_dw, std::uint16_t sequence);

struct StpFields {
  unsigned length_dw = 0;
  std::uint16_t sequence = 0;
};
/// Nothing if parity, FCRC or the first nibble is wrong, or the length too short. [LNK-5.22]
std::optional<StpFields> read_stp_token(const Token& token);

/// Appends the framed TLP with its LCRC; nullified: LCRC inverted and EDB. [LNK-5.11]
void frame_tlp(Framing framing, std::uint16_t sequence, const std::vector<std::uint8_t>& tlp,
               bool is_nullified, std::vector<std::uint8_t>& out);

/// Appends the framed DLLP; dllp: its six bytes with CRC. [LNK-5.6]
void frame_dllp(Framing framing, const std::array<std::uint8_t, 6>& dllp,
                std::vector<std::uint8_t>& out);

enum class FrameError : std::uint8_t {
  kTruncated,       ///< fewer bytes than the frame needs
  kBadStart,        ///< no STP or SDP, or a token with wrong parity or FCRC
  kBadEnd,          ///< no END or EDB where the frame ends
  kLengthMismatch,  ///< the token's length is not that of the bytes
  kBadLcrc,
};
const char* name_of(FrameError error);  ///< "truncated", "bad_start", ...

struct FrameResult {
  std::size_t offset = 0;  ///< where the TLP or DLLP starts
  std::size_t bytes = 0;   ///< its length, LCRC not included, CRC of a DLLP included
  std::uint16_t sequence = 0;
  bool is_nullified = false;
  std::optional<FrameError> error;
  std::size_t error_offset = 0;
};

/// Takes one framed TLP that fills the bytes exactly. A nullified one is no error. [LNK-5.11]
FrameResult unframe_tlp(Framing framing, const std::uint8_t* bytes, std::size_t count);
/// Takes one framed DLLP that fills the bytes exactly; its CRC is not looked at. [LNK-5.6]
FrameResult unframe_dllp(Framing framing, const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
