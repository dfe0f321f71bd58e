// SPDX-License-Identifier: Apache-2.0
/// The data that headers have announced and that is still to come: line by line in the order of the
/// headers, four chunks each, byte enables behind where a line is enabled in part. Sender and
/// receiver both keep it, since slots of data do not say what they hold. [CXL-2.5] [CXL-2.6]
#pragma once

#include <cstdint>

#include "flitwise/cxl.h"

namespace flitwise {

/// Chunks that a message owes, byte enables included.
constexpr std::uint32_t cxl_chunks_of_line(bool has_byte_enables) {
  return kCxlChunksPerLine + (has_byte_enables ? 1 : 0);
}

class CxlOwedData {
 public:
  /// Lines that may be owed at a time.
  static constexpr std::uint32_t kMostLines = 64;

  std::uint32_t chunks() const { return chunks_; }
  std::uint32_t lines() const { return lines_; }
  bool is_empty() const { return chunks_ == 0; }
  /// The next chunk has byte enables. REQUIRES: something is owed.
  bool next_is_byte_enables() const { return first_is_partial() && front_ == 1; }
  /// The next chunk is the last of its line, byte enables included. REQUIRES: something is owed.
  bool next_ends_line() const { return front_ == 1; }

  /// REQUIRES: lines() < kMostLines.
  void add(bool has_byte_enables) {
    partial_ |= std::uint64_t{has_byte_enables ? 1U : 0U} << lines_;
    ++lines_;
    chunks_ += cxl_chunks_of_line(has_byte_enables);
    if (lines_ == 1) {
      front_ = cxl_chunks_of_line(has_byte_enables);
    }
  }
  /// One chunk has gone. REQUIRES: something is owed.
  void take() {
    --chunks_;
    if (--front_ == 0) {
      --lines_;
      partial_ >>= 1;
      front_ = cxl_chunks_of_line(first_is_partial());
    }
  }

 private:
  bool first_is_partial() const { return (partial_ & 1U) != 0; }

  std::uint64_t partial_ = 0;  // bit i: the i-th line has byte enables
  std::uint32_t chunks_ = 0;
  std::uint32_t lines_ = 0;
  std::uint32_t front_ = 0;  // chunks left of the first line, byte enables included
};

}  // namespace flitwise
