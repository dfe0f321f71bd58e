// SPDX-License-Identifier: Apache-2.0
// Permission tables, word by word. [IOM-2.16]
#include <algorithm>
#include <stdexcept>

#include "iommu/table_builder.h"

namespace flitwise {
namespace {

using Kind = TableEntryName::Kind;

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
  TableEntryName name;
  name.function = grant.function;
  name.pasid = grant.pasid;
  name.kind = Kind::kPasid;
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
