// SPDX-License-Identifier: Apache-2.0
/// A type 3 device: memory that only the host keeps coherent (HDM-H). It does what it is asked and
/// knows of no states. [COH-5.1] [COH-5.2]
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "coherence/agent_books.h"
#include "coherence/cxl_line.h"

namespace flitwise {

/// Lines of a device's memory: 0 until written, and no real memory until then.
class LineStore {
 public:
  /// The line at `address`. REQUIRES: a multiple of 64.
  CxlLine read(std::uint64_t address) const {
    const auto found = pages_.find(address / kPageBytes);
    return found == pages_.end() ? CxlLine{} : (*found->second)[line_in_page(address)];
  }
  /// Writes the enabled bytes of a line. REQUIRES: a multiple of 64.
  void write(std::uint64_t address, const CxlLine& line, std::uint64_t byte_enables) {
    std::unique_ptr<Page>& page = pages_[address / kPageBytes];
    if (!page) {
      page = std::make_unique<Page>();
    }
    merge((*page)[line_in_page(address)], line, byte_enables);
  }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<CxlLine, kPageBytes / kCxlLineBytes>;
  static std::size_t line_in_page(std::uint64_t address) {
    return address % kPageBytes / kCxlLineBytes;
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

class MemoryExpander {
 public:
  /// Lines from 0 up to `size` bytes exist.
  explicit MemoryExpander(std::uint64_t size) : size_(size) {}

  const BadMessageCounts& bad_messages() const { return bad_; }
  /// A message of the host has come, with its line if it has one, and is answered; the time that
  /// takes is the caller's. Returns whether a line was written.
  bool receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out);

 private:
  void requested(const CxlMessage& request, CxlOutput& out);
  bool exists(const CxlMessage& request) const { return request.address < size_; }
  bool is_sound(const CxlMessage& request);

  std::uint64_t size_;
  LineStore lines_;
  BadMessageCounts bad_;
};

}  // namespace flitwise
