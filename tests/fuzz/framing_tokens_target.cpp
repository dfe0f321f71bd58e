// SPDX-License-Identifier: Apache-2.0
// The first byte chooses symbols or tokens, TLP or DLLP, and the rest is a frame; the same bytes
// also serve as what is to be framed.
#include <algorithm>

#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"
#include "link/framing_tokens.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

bool lies_within(const FrameResult& frame, const ByteVector& bytes) {
  return frame.error ? frame.error_offset <= bytes.size()
                     : frame.offset + frame.bytes <= bytes.size();
}

void check_tlp_frame(Framing framing, const ByteVector& bytes) {
  const FrameResult frame = unframe_tlp(framing, bytes.data(), bytes.size());
  FLITWISE_PROPERTY(lies_within(frame, bytes));
  if (frame.error) {
    return;
  }
  const auto start = bytes.begin() + static_cast<std::ptrdiff_t>(frame.offset);
  const ByteVector tlp(start, start + static_cast<std::ptrdiff_t>(frame.bytes));
  ByteVector again;
  frame_tlp(framing, frame.sequence, tlp, frame.is_nullified, again);
  FLITWISE_PROPERTY(again == bytes);
}

void check_dllp_frame(Framing framing, const ByteVector& bytes) {
  const FrameResult frame = unframe_dllp(framing, bytes.data(), bytes.size());
  FLITWISE_PROPERTY(lies_within(frame, bytes));
  if (frame.error) {
    return;
  }
  std::array<std::uint8_t, 6> dllp{};
  FLITWISE_PROPERTY(frame.bytes == dllp.size());
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(frame.offset), dllp.size(), dllp.begin());
  ByteVector again;
  frame_dllp(framing, dllp, again);
  FLITWISE_PROPERTY(again == bytes);
}

// Whatever is framed is found again.
void check_framing(Framing framing, const ByteVector& bytes, bool is_nullified) {
  constexpr std::size_t kLeastTlpBytes = 12;
  ByteVector tlp = bytes;
  tlp.resize(std::clamp<std::size_t>(tlp.size() / 4 * 4, kLeastTlpBytes, kMostTlpBytes));
  const auto sequence = static_cast<std::uint16_t>((tlp[0] << 8 | tlp[1]) & 0xfff);
  ByteVector framed;
  frame_tlp(framing, sequence, tlp, is_nullified, framed);
  const FrameResult frame = unframe_tlp(framing, framed.data(), framed.size());
  FLITWISE_PROPERTY(!frame.error);
  FLITWISE_PROPERTY(frame.sequence == sequence && frame.is_nullified == is_nullified);
  FLITWISE_PROPERTY(frame.bytes == tlp.size());
  FLITWISE_PROPERTY(std::equal(tlp.begin(), tlp.end(),
                               framed.begin() + static_cast<std::ptrdiff_t>(frame.offset)));
}

void check_token(const ByteVector& bytes) {
  if (bytes.size() < 4) {
    return;
  }
  const Token token = {bytes[0], bytes[1], bytes[2], bytes[3]};
  if (const auto fields = read_stp_token(token)) {
    FLITWISE_PROPERTY(stp_token(fields->length_dw, fields->sequence) == token);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  if (size == 0) {
    return 0;
  }
  const Framing framing = (data[0] & 1U) != 0 ? Framing::kGen3 : Framing::kGen1;
  const std::vector<std::uint8_t> bytes = fuzz::bytes_of_input(data + 1, size - 1);
  check_token(bytes);
  if ((data[0] & 2U) != 0) {
    check_dllp_frame(framing, bytes);
  } else {
    check_tlp_frame(framing, bytes);
  }
  check_framing(framing, bytes, (data[0] & 4U) != 0);
  return 0;
}
