// SPDX-License-Identifier: Apache-2.0
// Translation structures, table by table, and permission tables, word by word. [IOM-2.16]
#include "iommu/table_builder.h"

#include <algorithm>
#include <stdexcept>

namespace flitwise {
namespace {

using Kind = TableEntryName::Kind;

constexpr std::uint64_t kTableBytes = 4096;
constexpr std::uint64_t kPresent = 1;
constexpr std::uint64_t kContextFlags =  // P, DTE, PASIDE, PRE, PDTS [IOM-2.3]
    kPresent | 1U << 2 | 1U << 3 | 1U << 4 | TableBuilder::kDirectorySize << 9;
constexpr std::uint64_t kFirstStageTable = 7;   // P, R/W, U/S [IOM-2.8]
constexpr std::uint64_t kSecondStageTable = 3;  // R, W [IOM-2.9]
constexpr std::uint64_t kPageSizeBit = 1U << 7;
constexpr unsigned kNestedSecondLevels = 4;
constexpr std::uint16_t kDefaultDomain = 1;

std::uint64_t leaf_flags(Kind kind, MappingRights rights, unsigned level) {
  const std::uint64_t size = level > 1 ? kPageSizeBit : 0;
  if (kind == Kind::kSecondStage) {
    return size | (rights.read ? 1U : 0U) | (rights.write ? 2U : 0U) | (rights.execute ? 4U : 0U);
  }
  return size | kPresent | (rights.write ? 2U : 0U) | (rights.user ? 4U : 0U) |
         (rights.execute ? 0 : std::uint64_t{1} << 63);
}

// Where the entry of this name lies in its table.
std::uint64_t offset_of(const TableEntryName& name) {
  switch (name.kind) {
    case Kind::kRoot:
      return std::uint64_t{name.function.bus()} * kRootEntryBytes +
             (name.function.value & 0x80U) / 0x80U * 8U;
    case Kind::kContext: return (name.function.value & 0x7fU) * std::uint64_t{kContextEntryBytes};
    case Kind::kPasidDirectory:
      return (to_int(name.pasid) >> 6U) * std::uint64_t{kPasidDirectoryEntryBytes};
    case Kind::kPasid: return (to_int(name.pasid) & 0x3fU) * std::uint64_t{kPasidEntryBytes};
    case Kind::kFirstStage:
    case Kind::kSecondStage: return entry_offset(name.address, name.level);
    case Kind::kPermission: return permission_word_offset(name.address, name.level);
  }
  return 0;
}

std::uint64_t page_bits_of(PagePermission permission) {
  return (permission.read ? 1U : 0U) | (permission.write ? 2U : 0U);
}

std::uint64_t large_word(PagePermission permission) {
  const std::uint64_t rights = (permission.read ? PermissionWord::kRead : 0) |
                               (permission.write ? PermissionWord::kWrite : 0);
  return rights == 0 ? 0 : rights | PermissionWord::kPresent | PermissionWord::kLarge;
}

unsigned level_of(unsigned unit_bits) {
  unsigned level = 2;
  while (permission_word_bits(level) < unit_bits) {
    ++level;
  }
  return level;
}

}  // namespace

TableBuilder::TableBuilder(Poke poke, std::uint64_t area, unsigned host_address_bits)
    : poke_(std::move(poke)), next_(area), host_address_bits_(host_address_bits) {}

std::pair<std::uint32_t, std::uint32_t> TableBuilder::owner_key(const TableEntryName& name) {
  return {name.function.value, to_int(name.pasid)};
}

TableBuilder::Key TableBuilder::key_of(const TableEntryName& name) const {
  const std::uint32_t function = name.function.value;
  const std::uint32_t pasid = to_int(name.pasid);
  switch (name.kind) {
    case Kind::kRoot: return {name.kind, 0, 0, 0, 0};
    case Kind::kContext: return {name.kind, function >> 7, 0, 0, 0};
    case Kind::kPasidDirectory: return {name.kind, function, 0, 0, 0};
    case Kind::kPasid: return {name.kind, function, pasid >> 6U, 0, 0};
    case Kind::kPermission:
      return {name.kind, function, pasid, name.level,
              name.address >> permission_table_bits(name.level)};
    case Kind::kFirstStage:
    case Kind::kSecondStage: break;
  }
  const auto found = owners_.find(owner_key(name));
  const Owner owner = found == owners_.end() ? Owner{} : found->second;
  const unsigned levels = name.kind == Kind::kFirstStage ? owner.first_levels : owner.second_levels;
  const std::uint64_t translated = name.address & ~bits_from(span_bits(levels + 1));
  return {name.kind, function, pasid, name.level, translated >> span_bits(name.level + 1)};
}

std::optional<std::uint64_t> TableBuilder::find(const TableEntryName& name) const {
  const auto table = tables_.find(key_of(name));
  return table == tables_.end() ? std::nullopt : std::optional(table->second + offset_of(name));
}

std::uint64_t TableBuilder::take_page() {
  const std::uint64_t page = next_;
  next_ += kTableBytes;
  return page;
}

void TableBuilder::write(std::uint64_t address, std::uint64_t value) {
  if (!poke_(address, value)) {
    throw std::invalid_argument("no host memory is left for translation tables");
  }
}

// The address of an entry; a table that is not there yet is made, and its parent entry points to
// it.
std::uint64_t TableBuilder::entry(const TableEntryName& name, std::uint64_t parent,
                                  std::uint64_t flags) {
  const auto [table, is_new] = tables_.try_emplace(key_of(name), next_);
  if (is_new) {
    next_ += kTableBytes;
    if (name.kind == Kind::kFirstStage) {
      new_first_tables_.push_back(table->second);
    }
    if (name.kind != Kind::kRoot) {
      write(parent, table->second | flags);
    }
  }
  return table->second + offset_of(name);
}

const TableBuilder::Owner& TableBuilder::owner_of(const Mapping& mapping) {
  Owner owner;
  owner.type = mapping.type;
  const bool is_nested = mapping.type == TranslationType::kNested;
  const bool has_first = is_nested || mapping.type == TranslationType::kFirstStage;
  owner.first_levels = has_first ? mapping.levels : 0;
  owner.second_levels = is_nested ? kNestedSecondLevels : has_first ? 0 : mapping.levels;
  owner.domain = mapping.domain.value_or(kDefaultDomain);
  const auto [found, is_new] =
      owners_.try_emplace(owner_key({mapping.function, mapping.pasid}), owner);
  const Owner& known = found->second;
  if (known.type != owner.type || known.first_levels != owner.first_levels ||
      known.second_levels != owner.second_levels ||
      (mapping.domain && known.domain != owner.domain)) {
    throw std::invalid_argument(
        "this PASID has been mapped before with another stage, levels or did");
  }
  return known;
}

void TableBuilder::make_structures(const Mapping& mapping, const Owner& owner) {
  TableEntryName name{mapping.function, mapping.pasid};
  constexpr std::pair<Kind, std::uint64_t> kPath[] = {{Kind::kRoot, 0},
                                                      {Kind::kContext, kPresent},
                                                      {Kind::kPasidDirectory, kContextFlags},
                                                      {Kind::kPasid, kPresent}};
  std::uint64_t at = 0;
  for (const auto& [kind, flags] : kPath) {  // flags: of the entry above
    name.kind = kind;
    at = entry(name, at, flags);
  }
  const unsigned width = owner.second_levels == 0 ? 2U : owner.second_levels - 2U;  // AW
  const std::uint64_t low = kPresent | width << 2 | static_cast<std::uint64_t>(owner.type) << 6;
  const std::uint64_t mode = owner.first_levels == 5 ? 1U << 2 : 0U;  // FSPM [IOM-2.5]
  name.kind = Kind::kFirstStage;
  name.level = owner.first_levels;
  if (owner.first_levels != 0 && !find(name)) {
    entry(name, at + 16, mode);
  }
  name.kind = Kind::kSecondStage;
  name.level = owner.second_levels;
  const bool has_second = owner.type != TranslationType::kPassThrough && owner.second_levels != 0;
  if (has_second && !find(name)) {
    entry(name, at, low);
  } else if (!has_second) {
    write(at, low);
  }
  write(at + 8, owner.domain);
}

// Entries down to the leaf.
void TableBuilder::make_page(TableEntryName name, std::uint64_t page, unsigned page_bits,
                             MappingRights rights) {
  const Owner& owner = owners_.at(owner_key(name));
  const bool is_first = name.kind == Kind::kFirstStage;
  const unsigned last = (page_bits - kPageBits) / kLevelBits + 1;
  name.level = is_first ? owner.first_levels : owner.second_levels;
  std::uint64_t at = *find(name);
  while (name.level > last) {
    if (leaves_.count(at) != 0) {
      throw std::invalid_argument("a larger page is mapped there");
    }
    --name.level;
    at = entry(name, at, is_first ? kFirstStageTable : kSecondStageTable);
  }
  TableEntryName below = name;
  --below.level;
  if (last > 1 && find(below)) {
    throw std::invalid_argument("smaller pages are mapped there");
  }
  leaves_.insert(at);
  write(at, page | leaf_flags(name.kind, rights, last));
}

void TableBuilder::make_pages(const Mapping& mapping) {
  const bool is_nested = mapping.type == TranslationType::kNested;
  TableEntryName name{mapping.function, mapping.pasid};
  name.kind = is_nested || mapping.type == TranslationType::kFirstStage ? Kind::kFirstStage
                                                                        : Kind::kSecondStage;
  const std::uint64_t page = std::uint64_t{1} << mapping.page_bits;
  for (std::uint64_t at = 0; at < mapping.bytes; at += page) {
    name.address = mapping.address + at;
    make_page(name, (is_nested ? mapping.via : mapping.to) + at, mapping.page_bits, mapping.rights);
  }
  if (!is_nested) {
    return;
  }
  // The guest sees its tables where they are.
  name.kind = Kind::kSecondStage;
  for (const std::uint64_t table : new_first_tables_) {
    name.address = table;
    make_page(name, table, kPageBits, {});
  }
  for (std::uint64_t at = 0; at < mapping.bytes; at += page) {
    name.address = mapping.via + at;
    make_page(name, mapping.to + at, mapping.page_bits, {});
  }
}

// The entries that exist on the way to name.address, from the top.
std::vector<std::uint64_t> TableBuilder::path(TableEntryName name, unsigned levels) const {
  std::vector<std::uint64_t> entries;
  for (name.level = levels; name.level > 0; --name.level) {
    const std::optional<std::uint64_t> at = find(name);
    if (!at) {
      break;
    }
    entries.push_back(*at);
  }
  return entries;
}

MappedEntries TableBuilder::map(const Mapping& mapping) {
  const Owner owner = owner_of(mapping);
  new_first_tables_.clear();
  make_structures(mapping, owner);
  if (mapping.type != TranslationType::kPassThrough) {
    make_pages(mapping);
  }
  TableEntryName name{mapping.function, mapping.pasid};
  MappedEntries entries;
  entries.root_table = tables_.at(key_of(name));
  const auto at = [&](Kind kind) {
    name.kind = kind;
    return *find(name);
  };
  entries.root = at(Kind::kRoot);
  entries.context = at(Kind::kContext);
  entries.pasid_directory = at(Kind::kPasidDirectory);
  entries.pasid = at(Kind::kPasid);
  name.address = mapping.address;
  name.kind = Kind::kFirstStage;
  entries.first_stage = path(name, owner.first_levels);
  name.address = owner.first_levels != 0 ? mapping.via : mapping.address;
  name.kind = Kind::kSecondStage;
  entries.second_stage = path(name, owner.second_levels);
  return entries;
}

// The address of a word of level `last`, with the tables down to it. REQUIRES: the top is there.
std::uint64_t TableBuilder::permission_word(TableEntryName name, unsigned last) {
  name.level = permission_levels(host_address_bits_);
  std::uint64_t at = *find(name);
  while (name.level > last) {
    if (leaves_.count(at) != 0) {
      throw std::invalid_argument("a larger range is permitted there");
    }
    --name.level;
    at = entry(name, at, PermissionWord::kPresent);
  }
  return at;
}

void TableBuilder::permit_pages(TableEntryName name, const PermissionGrant& grant) {
  constexpr std::uint64_t kWordBytes = std::uint64_t{1} << permission_word_bits(1);
  constexpr std::uint64_t kBitsOfPage = 3;
  const std::uint64_t end = grant.address + grant.bytes;
  for (std::uint64_t page = grant.address; page < end;) {
    name.address = page;
    const std::uint64_t at = permission_word(name, 1);
    std::uint64_t& word = permissions_[at];
    const std::uint64_t word_end = std::min(end, (page | (kWordBytes - 1)) + 1);
    for (; page < word_end; page += std::uint64_t{1} << kPageBits) {
      const unsigned shift = permission_shift(page);
      word = (word & ~(kBitsOfPage << shift)) | page_bits_of(grant.permission) << shift;
    }
    write(at, word);
  }
}

void TableBuilder::permit_units(TableEntryName name, const PermissionGrant& grant) {
  const unsigned level = level_of(grant.unit_bits);
  const std::uint64_t unit = std::uint64_t{1} << grant.unit_bits;
  for (std::uint64_t at = 0; at < grant.bytes; at += unit) {
    name.address = grant.address + at;
    name.level = level - 1;
    if (find(name)) {
      throw std::invalid_argument("smaller ranges are permitted there");
    }
    const std::uint64_t word = permission_word(name, level);
    const std::uint64_t value = large_word(grant.permission);
    if (value != 0) {
      leaves_.insert(word);
    } else {
      leaves_.erase(word);
    }
    write(word, value);
  }
}

GrantedEntries TableBuilder::permit(const PermissionGrant& grant) {
  TableEntryName name{grant.function, grant.pasid, 0, Kind::kPasid};
  const auto owner = owners_.find(owner_key(name));
  const std::optional<std::uint64_t> pasid_entry = find(name);
  if (owner == owners_.end() || !pasid_entry) {
    throw std::invalid_argument("map has made no tables for this PASID");
  }
  const std::uint64_t host_end = ~bits_from(host_address_bits_);
  if (grant.address > host_end || grant.bytes > host_end - grant.address + 1) {
    throw std::invalid_argument("the range ends beyond the physical addresses of the host");
  }
  Owner& domain = owner->second;
  domain.is_trusted = grant.is_trusted.value_or(domain.is_trusted);
  GrantedEntries entries;
  entries.pointer = *pasid_entry + kPermissionQuad * 8U;
  name.kind = Kind::kPermission;
  name.address = grant.address;
  name.level = permission_levels(host_address_bits_);
  const std::uint64_t flags =
      permission_pointer::kEnable | (domain.is_trusted ? permission_pointer::kTrusted : 0);
  const std::uint64_t top =
      entry(name, entries.pointer, flags) - permission_word_offset(name.address, name.level);
  write(entries.pointer, top | flags);
  if (grant.unit_bits == kPageBits) {
    permit_pages(name, grant);
  } else {
    permit_units(name, grant);
  }
  entries.words = path(name, permission_levels(host_address_bits_));
  return entries;
}

}  // namespace flitwise
