// SPDX-License-Identifier: Apache-2.0
/// Messages in the wire format of Protocol Buffers, as far as a trace of Perfetto has them:
/// numbers, texts and messages in messages.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace flitwise {

class ProtoWriter {
 public:
  void clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

  void number(unsigned field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
  }
  void fixed64(unsigned field, std::uint64_t value) {
    varint(field << 3U | 1U);
    for (unsigned byte = 0; byte < 8; ++byte) {
      bytes_ += static_cast<char>(value >> 8 * byte & 0xff);
    }
  }
  void text(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_ += value;
  }
  void message(unsigned field, const ProtoWriter& inner) { text(field, inner.bytes_); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
      bytes_ += static_cast<char>(value | 0x80);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace flitwise
