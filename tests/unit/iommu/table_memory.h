// SPDX-License-Identifier: Apache-2.0
/// Translation structures in a sparse memory, and a walk driven to its end over them.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "iommu/walk.h"

namespace flitwise::test {

/// Memory by 8-byte words; what was never written reads 0, or what a derived memory says.
class TableMemory {
 public:
  TableMemory() = default;
  TableMemory(const TableMemory&) = default;
  TableMemory& operator=(const TableMemory&) = default;
  virtual ~TableMemory() = default;
  std::uint64_t read(std::uint64_t address) const {
    const auto found = words_.find(address);
    return found == words_.end() ? background(address) : found->second;
  }
  void write(std::uint64_t address, std::uint64_t value) { words_[address] = value; }
  void break_at(std::uint64_t address) { broken_.push_back(address); }
  virtual bool is_broken(std::uint64_t address) const {
    for (const std::uint64_t broken : broken_) {
      if (broken == address) {
        return true;
      }
    }
    return false;
  }
  const std::unordered_map<std::uint64_t, std::uint64_t>& words() const { return words_; }

  /// Answers what a walk asks for.
  void serve(Walk& walk) {
    const MemoryAccess access = *walk.next();
    if (is_broken(access.address)) {
      walk.failed();
      return;
    }
    std::array<std::uint8_t, 64> bytes{};
    for (unsigned i = 0; i < access.bytes; i += 8) {
      store_u64(bytes.data() + i, read(access.address + i));
    }
    if (access.kind == MemoryAccess::Kind::kSetBits && read(access.address) == access.expected) {
      write(access.address, access.expected | access.bits);
    }
    walk.supply(bytes.data());
  }
  const WalkResult& finish(Walk& walk) {
    while (!walk.is_done()) {
      serve(walk);
    }
    return walk.result();
  }

 protected:
  virtual std::uint64_t background(std::uint64_t /*address*/) const { return 0; }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> words_;
  std::vector<std::uint64_t> broken_;
};

inline constexpr std::uint64_t kRootTable = 0x10000, kContextTable = 0x11000, kDirectory = 0x12000,
                               kPasidTable = 0x14000, kFirstTables = 0x100000,
                               kSecondTables = 0x200000;
inline constexpr std::uint64_t kUserPage = 7;  ///< P, R/W, U/S of a first-stage entry
inline constexpr std::uint64_t kReadWrite = 3;

/// A small machine: one function 01:00.0 and its tables.
struct Tables {
  TableMemory memory;
  IommuCapabilities offers;
  RootTable root{kRootTable, TableMode::kScalable};
  Bdf function = Bdf::of(1, 0, 0);
  std::uint64_t context_low = kDirectory | 0x1d;  ///< P, DTE, PASIDE, PRE, PDTS 0
  std::uint64_t context_high = 0;
  std::uint64_t next_table = 0x300000;

  Tables() { write_structures(); }

  std::uint64_t root_at() const { return kRootTable + 16 * function.bus(); }
  std::uint64_t context_at() const { return kContextTable; }
  std::uint64_t entry_at(std::uint32_t pasid) const { return kPasidTable + 64 * (pasid & 63); }
  void write_structures() {
    memory.write(root_at(), kContextTable | 1);
    memory.write(context_at(), context_low);
    memory.write(context_at() + 8, context_high);
    memory.write(kDirectory, kPasidTable | 1);
  }
  /// PASID table entry. type: PGTT; aw: levels of the second stage minus 2; fspm: of the first - 4.
  void set_pasid(std::uint32_t pasid, unsigned type, unsigned aw = 2, unsigned fspm = 0,
                 std::uint64_t q0 = 0, std::uint64_t q2 = 0, std::uint64_t did = 9) {
    memory.write(kDirectory + 8 * (pasid >> 6), kPasidTable | 1);
    memory.write(entry_at(pasid), kSecondTables | 1 | aw << 2 | type << 6 | q0);
    memory.write(entry_at(pasid) + 8, did);
    memory.write(entry_at(pasid) + 16, kFirstTables | fspm << 2 | q2);
  }
  /// Writes entries from `levels` down to `leaf_level`; non-leaves with `flags`, new tables as
  /// needed. Returns where the leaf entry stands.
  std::uint64_t map(std::uint64_t top, unsigned levels, std::uint64_t address, std::uint64_t leaf,
                    unsigned leaf_level, std::uint64_t flags) {
    std::uint64_t table = top;
    for (unsigned level = levels; level > leaf_level; --level) {
      const std::uint64_t at = table + entry_offset(address, level);
      if (memory.read(at) == 0) {
        memory.write(at, next_table | flags);
        next_table += 0x1000;
      }
      table = memory.read(at) & FirstStageEntry::kTableMask;
    }
    const std::uint64_t at = table + entry_offset(address, leaf_level);
    memory.write(at, leaf | (leaf_level > 1 ? 0x80 : 0));
    return at;
  }
  std::uint64_t map_first(std::uint64_t address, std::uint64_t leaf, unsigned leaf_level = 1,
                          unsigned levels = 4) {
    return map(kFirstTables, levels, address, leaf, leaf_level, kUserPage);
  }
  std::uint64_t map_second(std::uint64_t address, std::uint64_t leaf, unsigned leaf_level = 1,
                           unsigned levels = 4) {
    return map(kSecondTables, levels, address, leaf, leaf_level, kReadWrite);
  }
  /// Where the entry of this level stands on the path of `address`.
  std::uint64_t entry_of(std::uint64_t top, unsigned levels, std::uint64_t address,
                         unsigned level) const {
    std::uint64_t table = top;
    for (unsigned above = levels; above > level; --above) {
      table = memory.read(table + entry_offset(address, above)) & FirstStageEntry::kTableMask;
    }
    return table + entry_offset(address, level);
  }

  WalkRequest request(std::uint64_t address, bool write = false) const {
    WalkRequest request;
    request.source = function;
    request.address = address;
    request.wish.read = !write;
    request.wish.write = write;
    return request;
  }
  WalkRequest request_with_pasid(std::uint32_t pasid, std::uint64_t address, bool write) const {
    WalkRequest result = request(address, write);
    result.pasid = Pasid{pasid};
    return result;
  }
  WalkRequest translation_request(std::uint64_t address, bool no_write = false) const {
    WalkRequest result = request(address);
    result.kind = WalkKind::kTranslationRequest;
    result.wish.write = !no_write;
    return result;
  }
  WalkResult walk(const WalkRequest& request) {
    Walk walk(request, root, offers);
    return memory.finish(walk);
  }
  FaultReason fault(const WalkRequest& request) { return walk(request).fault; }
  WalkResult read(std::uint64_t address) { return walk(request(address)); }
  WalkResult write(std::uint64_t address) { return walk(request(address, true)); }
};

}  // namespace flitwise::test
