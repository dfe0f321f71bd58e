// SPDX-License-Identifier: Apache-2.0
/// The sequential reference of coherence tests: what each line was from when to when. A read is
/// right if the line was what it read at some moment between its issue and its end.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "coherence/cxl_line.h"

namespace flitwise::test {

inline constexpr std::size_t kWords = 8;
using Words = std::array<std::uint64_t, kWords>;

inline Words words_of(const CxlLine& line) {
  Words words;
  std::memcpy(words.data(), line.data(), sizeof words);
  return words;
}

/// A line whose words all have this value.
inline CxlLine line_of_value(std::uint64_t value) {
  Words words;
  words.fill(value);
  CxlLine line;
  std::memcpy(line.data(), words.data(), sizeof words);
  return line;
}

/// Byte enables of the words in `mask`.
inline std::uint64_t enables_of(unsigned mask) {
  std::uint64_t enables = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    enables |= ((mask >> i) & 1U) != 0 ? std::uint64_t{0xff} << (8 * i) : 0;
  }
  return enables;
}

class LineHistory {
 public:
  LineHistory() { versions_.push_back({0, CxlLine{}}); }

  const CxlLine& newest() const { return versions_.back().line; }
  /// A write takes effect at `time`, which never goes back.
  void write(std::uint64_t time, const CxlLine& from, std::uint64_t byte_enables) {
    CxlLine line = newest();
    merge(line, from, byte_enables);
    if (versions_.size() == kKept) {
      versions_.erase(versions_.begin(), versions_.begin() + kKept / 2);
    }
    versions_.push_back({time, line});
  }
  /// Was it this at some time from `issue` to `end`?
  bool was(const CxlLine& line, std::uint64_t issue, std::uint64_t end) const {
    std::uint64_t until = ~std::uint64_t{0};  // of the version looked at
    for (auto version = versions_.rbegin(); version != versions_.rend() && until >= issue;
         ++version) {
      if (version->from <= end && version->line == line) {
        return true;
      }
      until = version->from;
    }
    return false;
  }

 private:
  static constexpr std::size_t kKept = 4096;
  struct Version {
    std::uint64_t from;
    CxlLine line;
  };
  std::vector<Version> versions_;
};

}  // namespace flitwise::test
