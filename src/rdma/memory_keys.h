// SPDX-License-Identifier: Apache-2.0
/// Memory regions of one end and their keys: who may do what where. [VB-1] [HP-7]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/rdma_memory.h"

namespace flitwise {

/// Rights of a region and of a queue pair, bits of a mask. Reading by the end itself needs none.
enum RdmaRight : std::uint8_t {
  kLocalRead = 0,
  kLocalWrite = 1,
  kRemoteRead = 2,
  kRemoteWrite = 4,
  kRemoteAtomic = 8
};
inline constexpr std::uint8_t kAllRdmaRights = 15;

struct MemoryRegion {
  std::uint32_t domain = 0;  ///< protection domain
  std::uint64_t base = 0, bytes = 0;
  std::uint8_t rights = 0;  ///< of RdmaRight
};

/// A key is the place of a region in the table [31:8] and a tag [7:0], which changes each time that
/// a region takes the place, so that an old key fits none before 255 others have had it. It is lkey
/// and rkey at once. [RDM-9]
class MemoryKeys {
 public:
  /// REQUIRES: 1..2^24 regions.
  explicit MemoryKeys(std::uint32_t regions) : places_(regions) {}

  /// The key of a new region. None where the table is full, the region reaches beyond the address
  /// space, or a remote right to write comes without the local one. [RDM-9]
  std::optional<std::uint32_t> add(const MemoryRegion& region);
  /// The region is gone, valid or not. False where the key fits none.
  bool remove(std::uint32_t key);
  /// The key names a region of that domain, which is invalid from now on. False where it does not,
  /// or is invalid already. [RDM-10]
  bool invalidate(std::uint32_t key, std::uint32_t domain);
  /// May it be done with these bytes? Nothing is asked of 0 bytes. [RX-C9]
  bool allow(std::uint32_t domain, const Sge& piece, RdmaRight right) const {
    const Place* const place = place_of(piece.key);
    return piece.bytes == 0 || (place != nullptr && is_within(*place, domain, piece, right));
  }
  bool allow(std::uint32_t domain, const MemoryView& view, RdmaRight right) const;

 private:
  struct Place {
    MemoryRegion region;
    std::uint8_t tag = 0;
    bool is_used = false, is_valid = false;
  };
  const Place* place_of(std::uint32_t key) const {
    const std::uint32_t index = key >> 8;
    const bool is_there =
        index < places_.size() && places_[index].is_used && places_[index].tag == (key & 0xff);
    return is_there ? &places_[index] : nullptr;
  }
  static bool is_within(const Place& place, std::uint32_t domain, const Sge& piece,
                        RdmaRight right) {
    const MemoryRegion& region = place.region;
    return place.is_valid && region.domain == domain && (region.rights & right) == right &&
           piece.bytes <= region.bytes && piece.address >= region.base &&
           piece.address - region.base <= region.bytes - piece.bytes;
  }

  std::vector<Place> places_;
  std::size_t first_free_ = 0;  // no place before it is free
};

}  // namespace flitwise
