// SPDX-License-Identifier: Apache-2.0
// Symbols and tokens around TLPs and DLLPs.
#include "link/framing_tokens.h"

#include <algorithm>

#include "common/byte_vector.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "tlp/crc.h"

namespace flitwise {
namespace {

constexpr std::size_t kLcrcBytes = 4;
constexpr std::size_t kTokenBytes = 4;
constexpr std::size_t kSymbolFrameBytes = 4;  // STP, two of sequence number, END
constexpr std::size_t kMinTlpBytes = 12;
constexpr std::uint8_t kStpNibble = 0xf;

bool is_odd(unsigned value) {
  return __builtin_parity(value) != 0;
}

unsigned fcrc(unsigned length_dw) {
  unsigned crc = 0;
  for (std::size_t bit = 0; bit < kFcrcMasks.size(); ++bit) {
    crc |= is_odd(length_dw & kFcrcMasks[bit]) ? 1U << bit : 0U;
  }
  return crc;
}

void put_lcrc(std::uint32_t crc, ByteVector& out) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(crc >> shift));
  }
}

template <class Range>
void append(ByteVector& out, const Range& range) {
  out.insert(out.end(), range.begin(), range.end());
}

FrameResult failed(FrameError error, std::size_t offset) {
  FrameResult result;
  result.error = error;
  result.error_offset = offset;
  return result;
}

// Compares the LCRC; a nullified TLP has it inverted. [LNK-5.11] [LNK-5.18]
FrameResult with_lcrc_checked(FrameResult frame, const std::uint8_t* bytes) {
  const std::uint32_t crc = lcrc(frame.sequence, bytes + frame.offset, frame.bytes);
  ByteVector expected;
  put_lcrc(frame.is_nullified ? ~crc : crc, expected);
  if (!std::equal(expected.begin(), expected.end(), bytes + frame.offset + frame.bytes)) {
    frame.error = FrameError::kBadLcrc;
    frame.error_offset = frame.offset + frame.bytes;
  }
  return frame;
}

FrameResult unframe_symbols(const std::uint8_t* bytes, std::size_t count) {
  if (count < kSymbolFrameBytes + kLcrcBytes + kMinTlpBytes) {
    return failed(FrameError::kTruncated, count);
  }
  if (bytes[0] != symbol::kStp || (bytes[1] & 0xf0) != 0) {
    return failed(FrameError::kBadStart, bytes[0] != symbol::kStp ? 0 : 1);
  }
  const std::uint8_t last = bytes[count - 1];
  if (last != symbol::kEnd && last != symbol::kEdb) {
    return failed(FrameError::kBadEnd, count - 1);
  }
  FrameResult frame;
  frame.offset = 3;
  frame.bytes = count - kSymbolFrameBytes - kLcrcBytes;
  frame.sequence = static_cast<std::uint16_t>(bytes[1] << 8 | bytes[2]);
  frame.is_nullified = last == symbol::kEdb;
  return with_lcrc_checked(frame, bytes);
}

FrameResult unframe_tokens(const std::uint8_t* bytes, std::size_t count) {
  if (count < kTokenBytes + kLcrcBytes + kMinTlpBytes) {
    return failed(FrameError::kTruncated, count);
  }
  const auto stp = read_stp_token({bytes[0], bytes[1], bytes[2], bytes[3]});
  if (!stp) {
    return failed(FrameError::kBadStart, 0);
  }
  const std::size_t length = 4U * stp->length_dw;
  FrameResult frame;
  frame.offset = kTokenBytes;
  frame.bytes = length - kTokenBytes - kLcrcBytes;
  frame.sequence = stp->sequence;
  if (count == length + kEdbToken.size()) {
    const auto wrong = std::mismatch(kEdbToken.begin(), kEdbToken.end(), bytes + length).second;
    if (wrong != bytes + count) {
      return failed(FrameError::kBadEnd, static_cast<std::size_t>(wrong - bytes));
    }
    frame.is_nullified = true;
  } else if (count != length) {
    return count < length ? failed(FrameError::kTruncated, count)
                          : failed(FrameError::kLengthMismatch, length);
  }
  return with_lcrc_checked(frame, bytes);
}

}  // namespace

Token stp_token(unsigned length_dw, std::uint16_t sequence) {
  FLITWISE_CHECK(length_dw >= kMinTokenLengthDw && length_dw <= kMaxTokenLengthDw,
                 "length of the STP token out of range");
  const unsigned check = fcrc(length_dw);
  const bool parity = is_odd(length_dw) != is_odd(check);
  return {static_cast<std::uint8_t>((length_dw & 0xfU) << 4 | kStpNibble),
          static_cast<std::uint8_t>((length_dw >> 4) | (parity ? 1U << (kStpParityBit - 8) : 0U)),
          static_cast<std::uint8_t>(check << 4 | ((sequence >> 8) & 0xfU)),
          static_cast<std::uint8_t>(sequence & 0xffU)};
}

std::optional<StpFields> read_stp_token(const Token& token) {
  StpFields fields;
  fields.length_dw = static_cast<unsigned>(token[0] >> 4) | (token[1] & 0x7fU) << 4;
  fields.sequence = static_cast<std::uint16_t>((token[2] & 0xfU) << 8 | token[3]);
  if (fields.length_dw < kMinTokenLengthDw ||
      stp_token(fields.length_dw, fields.sequence) != token) {
    return std::nullopt;
  }
  return fields;
}

void frame_tlp(Framing framing, std::uint16_t sequence, const ByteVector& tlp, bool is_nullified,
               ByteVector& out) {
  const std::uint32_t crc = lcrc(sequence, tlp.data(), tlp.size());
  if (framing == Framing::kGen1) {
    out.push_back(symbol::kStp);
    out.push_back(static_cast<std::uint8_t>((sequence >> 8) & 0xfU));
    out.push_back(static_cast<std::uint8_t>(sequence & 0xffU));
  } else {
    const std::size_t length = kTokenBytes + tlp.size() + kLcrcBytes;
    append(out, stp_token(static_cast<unsigned>(length / 4), sequence));
  }
  append(out, tlp);
  put_lcrc(is_nullified ? ~crc : crc, out);
  if (framing == Framing::kGen1) {
    out.push_back(is_nullified ? symbol::kEdb : symbol::kEnd);
  } else if (is_nullified) {
    append(out, kEdbToken);
  }
}

void frame_dllp(Framing framing, const std::array<std::uint8_t, 6>& dllp, ByteVector& out) {
  if (framing == Framing::kGen1) {
    out.push_back(symbol::kSdp);
    append(out, dllp);
    out.push_back(symbol::kEnd);
  } else {
    append(out, kSdpToken);
    append(out, dllp);
  }
}

const char* name_of(FrameError error) {
  static constexpr const char* kNames[] = {"truncated", "bad_start", "bad_end", "length_mismatch",
                                           "bad_lcrc"};
  return name_in(kNames, error);
}

FrameResult unframe_tlp(Framing framing, const std::uint8_t* bytes, std::size_t count) {
  return framing == Framing::kGen1 ? unframe_symbols(bytes, count) : unframe_tokens(bytes, count);
}

FrameResult unframe_dllp(Framing framing, const std::uint8_t* bytes, std::size_t count) {
  constexpr std::size_t kFrameBytes = 8;
  if (count < kFrameBytes) {
    return failed(FrameError::kTruncated, count);
  }
  if (count > kFrameBytes) {
    return failed(FrameError::kLengthMismatch, kFrameBytes);
  }
  FrameResult frame;
  frame.bytes = 6;
  frame.offset = framing == Framing::kGen3 ? kSdpToken.size() : 1;
  std::array<std::uint8_t, 6> dllp{};
  std::copy_n(bytes + frame.offset, dllp.size(), dllp.begin());
  ByteVector expected;
  frame_dllp(framing, dllp, expected);
  const auto right = static_cast<std::size_t>(
      std::mismatch(expected.begin(), expected.end(), bytes).first - expected.begin());
  if (right < kFrameBytes) {
    return failed(right < frame.offset ? FrameError::kBadStart : FrameError::kBadEnd, right);
  }
  return frame;
}

}  // namespace flitwise
