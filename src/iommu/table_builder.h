// SPDX-License-Identifier: Apache-2.0
/// Builds translation structures as software would, for scripts and cases: valid, everything
/// present, and at addresses that follow from the order of the calls. [IOM-2.1]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "flitwise/ids.h"
#include "iommu/entries.h"

namespace flitwise {

/// Rights of a mapping. A first stage always lets read; a second one knows no user.
struct MappingRights {
  bool read = true, write = true, user = true, execute = true;
};

/// A range of addresses of one PASID of one function, and where it leads.
struct Mapping {
  Bdf function;
  Pasid pasid{};  ///< 0 for requests without a PASID
  TranslationType type = TranslationType::kFirstStage;
  unsigned levels = 4;        ///< first stage and nested: 4 or 5; else 3 to 5
  std::uint64_t address = 0;  ///< a multiple of the page, as `to` and `via`
  std::uint64_t to = 0;       ///< physical
  std::uint64_t via = 0;      ///< nested: the guest address in between
  std::uint64_t bytes = 0;    ///< a multiple of the page; pass-through: ignored
  unsigned page_bits = kPageBits;
  MappingRights rights;
  std::optional<std::uint16_t> domain;  ///< absent: 1
};

/// Addresses of the entries that a request for the first byte of a mapping meets.
struct MappedEntries {
  std::uint64_t root_table = 0;
  std::uint64_t root = 0, context = 0, pasid_directory = 0, pasid = 0;
  std::vector<std::uint64_t> first_stage, second_stage;  ///< top to leaf; nested: of `via`
};

/// One entry of the structures by its place in a walk.
struct TableEntryName {
  enum class Kind : std::uint8_t {
    kRoot,
    kContext,
    kPasidDirectory,
    kPasid,
    kFirstStage,
    kSecondStage,
  };
  Bdf function;
  Pasid pasid{};
  std::uint64_t address = 0;  ///< of page entries: the input of that stage
  Kind kind = Kind::kRoot;
  unsigned level = 1;  ///< of page entries: 1 is the lowest
};

/// Knows the tables it has made, so that entries changed behind its back do not mislead it.
class TableBuilder {
 public:
  /// Writes 8 bytes of host memory; false outside of it.
  using Poke = std::function<bool(std::uint64_t address, std::uint64_t value)>;

  static constexpr std::uint64_t kDefaultArea = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kMostPages = 1U << 16;  ///< of one mapping
  static constexpr unsigned kDirectorySize = 2;          ///< PDTS: the directory fills one page
  static constexpr std::uint32_t kMostPasids = 1U << (kDirectorySize + 13);

  /// area: where tables are made, page after page; it reads 0 and nobody else uses it.
  explicit TableBuilder(Poke poke, std::uint64_t area = kDefaultArea);

  /// Throws std::invalid_argument where the PASID is translated otherwise already, a page meets a
  /// table or another size, or memory ends.
  MappedEntries map(const Mapping& mapping);
  /// Nothing where no mapping has made it.
  std::optional<std::uint64_t> find(const TableEntryName& name) const;

 private:
  /// Which table: the kind of its entries, whose it is, and for page tables the level of its
  /// entries and the addresses it serves.
  using Key =
      std::tuple<TableEntryName::Kind, std::uint32_t, std::uint32_t, unsigned, std::uint64_t>;
  struct Owner {
    TranslationType type = TranslationType::kNone;
    unsigned first_levels = 0, second_levels = 0;  // 0: there is no such stage
    std::uint16_t domain = 0;
  };

  static std::pair<std::uint32_t, std::uint32_t> owner_key(const TableEntryName& name);
  Key key_of(const TableEntryName& name) const;
  const Owner& owner_of(const Mapping& mapping);
  void make_structures(const Mapping& mapping, const Owner& owner);
  void make_pages(const Mapping& mapping);
  void make_page(TableEntryName name, std::uint64_t page, unsigned page_bits, MappingRights rights);
  std::uint64_t entry(const TableEntryName& name, std::uint64_t parent, std::uint64_t flags);
  std::vector<std::uint64_t> path(TableEntryName name, unsigned levels) const;
  void write(std::uint64_t address, std::uint64_t value);

  Poke poke_;
  std::uint64_t next_;
  std::map<Key, std::uint64_t> tables_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Owner> owners_;  // by function and PASID
  std::set<std::uint64_t> leaves_;                                   // addresses of entries
  std::vector<std::uint64_t> new_first_tables_;
};

}  // namespace flitwise
