// SPDX-License-Identifier: Apache-2.0
/// Lines of a device's memory: 0 until written, and no real memory until then.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "coherence/cxl_line.h"

namespace flitwise {

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

}  // namespace flitwise
