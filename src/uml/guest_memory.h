// SPDX-License-Identifier: Apache-2.0
/// Memory of a guest, as it hands it over: files, each mapped at an address. Whoever asks for an
/// address that is not there gets nothing: the guest is not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "uml/owned_file.h"

namespace flitwise {

/// [address, address + size) is in the file from `offset` on.
struct GuestRegion {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t user_address = 0;  ///< by which rings are named
  std::uint64_t offset = 0;
};

class GuestMemory {
 public:
  GuestMemory() = default;
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;
  ~GuestMemory() { clear(); }

  /// False, and nothing done, where the region is empty, not of whole pages or not in the file.
  bool add(const GuestRegion& region, OwnedFile file);
  void clear();

  /// Where these bytes are; null unless all of them lie in one region.
  std::uint8_t* at(std::uint64_t address, std::uint64_t size) const {
    return find(address, size, &GuestRegion::address);
  }
  std::uint8_t* at_user(std::uint64_t address, std::uint64_t size) const {
    return find(address, size, &GuestRegion::user_address);
  }

  struct Mapped {
    GuestRegion region;
    OwnedFile file;
    std::uint8_t* bytes;
  };
  const std::vector<Mapped>& regions() const { return regions_; }

 private:
  std::uint8_t* find(std::uint64_t address, std::uint64_t size,
                     std::uint64_t GuestRegion::*base) const;

  std::vector<Mapped> regions_;
};

}  // namespace flitwise
