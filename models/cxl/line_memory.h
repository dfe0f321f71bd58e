// SPDX-License-Identifier: Apache-2.0
/// Lines of a device's memory: 0 until written, and no real memory until then.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "flitwise/cxl.h"

namespace flitwise {

class LineMemory {
 public:
  /// size: bytes, a multiple of a line.
  explicit LineMemory(std::uint64_t size) : size_(size) {}

  bool contains(std::uint64_t address) const { return address < size_; }
  /// The line at `address`, null where nothing was written. REQUIRES: contains(address).
  const std::uint8_t* find(std::uint64_t address) const {
    const auto found = pages_.find(address / kPageBytes);
    return found == pages_.end() ? nullptr : found->second->data() + line_in_page(address);
  }
  /// Writes the enabled bytes of a line. REQUIRES: contains(address).
  void write(std::uint64_t address, const std::uint8_t* line, std::uint64_t enables) {
    std::unique_ptr<Page>& page = pages_[address / kPageBytes];
    if (!page) {
      page = std::make_unique<Page>();
    }
    std::uint8_t* const to = page->data() + line_in_page(address);
    if (enables == ~std::uint64_t{0}) {
      std::memcpy(to, line, kCxlLineBytes);
      return;
    }
    for (unsigned byte = 0; byte < kCxlLineBytes; ++byte) {
      if ((enables >> byte & 1U) != 0) {
        to[byte] = line[byte];
      }
    }
  }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<std::uint8_t, kPageBytes>;
  static std::uint64_t line_in_page(std::uint64_t address) {
    return address % kPageBytes / kCxlLineBytes * kCxlLineBytes;
  }

  std::uint64_t size_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace flitwise
