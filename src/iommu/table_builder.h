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
#include "iommu/permission_table.h"

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

/// What the domain of a PASID may do with a range of physical pages. [SEC-01]
struct PermissionGrant {
  Bdf function;
  Pasid pasid{};                   ///< 0 for requests without a PASID
  std::uint64_t address = 0;       ///< physical, a multiple of the unit
  std::uint64_t bytes = 0;         ///< a multiple of the unit
  unsigned unit_bits = kPageBits;  ///< or that of a word above level 1: one word for the whole unit
  PagePermission permission{true, true};
  std::optional<bool> is_trusted;  ///< absent: as it was, false at first
};

/// Addresses of the words that a translated request for the first byte of a grant meets.
struct GrantedEntries {
  std::uint64_t pointer = 0;         ///< in the PASID table entry
  std::vector<std::uint64_t> words;  ///< top to leaf
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
    kPermission,
  };
  Bdf function;
  Pasid pasid{};
  /// Of page entries: the input of that stage; of permissions: physical.
  std::uint64_t address = 0;
  Kind kind = Kind::kRoot;
  unsigned level = 1;  ///< of page entries and permissions: 1 is the lowest
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

  /// area: where tables are made, page after page; it reads 0 and has no other user.
  explicit TableBuilder(Poke poke, std::uint64_t area = kDefaultArea,
                        unsigned host_address_bits = 48);

  /// Throws std::invalid_argument where the PASID is translated otherwise already, a page meets a
  /// table or another size, or memory ends.
  MappedEntries map(const Mapping& mapping);
  /// Throws std::invalid_argument where the PASID has not been mapped, the range ends beyond the
  /// host's addresses, a unit meets smaller or larger ones, or memory ends.
  GrantedEntries permit(const PermissionGrant& grant);
  /// A page behind the tables made so far, for whatever else the agent is to find there.
  std::uint64_t take_page();
  /// Behind the last table made so far.
  std::uint64_t end() const { return next_; }
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
    bool is_trusted = false;
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
  std::uint64_t permission_word(TableEntryName name, unsigned last);
  void permit_pages(TableEntryName name, const PermissionGrant& grant);
  void permit_units(TableEntryName name, const PermissionGrant& grant);

  Poke poke_;
  std::uint64_t next_;
  const unsigned host_address_bits_;
  std::map<Key, std::uint64_t> tables_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Owner> owners_;  // by function and PASID
  std::set<std::uint64_t> leaves_;                                   // addresses of entries
  std::vector<std::uint64_t> new_first_tables_;
  std::map<std::uint64_t, std::uint64_t> permissions_;  // words of level 1 by their address
};

}  // namespace flitwise
