// SPDX-License-Identifier: Apache-2.0
/// Messages with random fields, each within its width.
#pragma once

#include <random>
#include <vector>

#include "cxl/flit_codec.h"

namespace flitwise::test {

class RandomCxl {
 public:
  explicit RandomCxl(std::uint64_t seed) : random_(seed) {}

  std::uint64_t bits(std::uint32_t count) { return count == 0 ? 0 : random_() >> (64U - count); }
  CxlMessage message(CxlChannel channel, const CxlWidths& widths) {
    CxlWireMessage made;
    made.message.channel = channel;
    for (const CxlFieldSpec& spec : fields_of(widths.form, channel)) {
      set_value(made, spec, bits(spec.bits));
    }
    made.message.identity = channel == CxlChannel::kD2hReq ? bits(widths.identity_bits) : 0;
    return made.message;
  }
  /// Of any channel of the direction, with a line where it has one, and byte enables at times.
  CxlSend send(CxlDirection direction, const CxlWidths& widths) {
    for (;;) {
      const auto channel = static_cast<CxlChannel>(random_() % kCxlChannels);
      if (info_of(channel).direction != direction || fields_of(widths.form, channel).count == 0) {
        continue;
      }
      CxlSend made;
      made.message = message(channel, widths);
      for (std::uint8_t& byte : made.line) {
        byte = made.message.has_data() ? static_cast<std::uint8_t>(bits(8)) : 0;
      }
      if (info_of(channel).may_have_byte_enables && bits(2) == 0) {
        made.message.byte_enables = random_();
      }
      return made;
    }
  }

 private:
  std::mt19937_64 random_;
};

/// All fields that a message has on the wire are the same.
inline bool same_fields(const CxlMessage& a, const CxlMessage& b, const CxlWidths& widths) {
  bool is_same = a.channel == b.channel && a.identity == b.identity;
  for (const CxlFieldSpec& spec : fields_of(widths.form, a.channel)) {
    is_same = is_same && value_of(CxlWireMessage{a}, spec) == value_of(CxlWireMessage{b}, spec);
  }
  return is_same;
}

}  // namespace flitwise::test
