// SPDX-License-Identifier: Apache-2.0
// Entries and pages of memory.
#include "iommu/driver_pages.h"

#include <fmt/format.h>

#include <numeric>

#include "iommu/permission_table.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kReadAndWrite = 3;  // of one page [IOM-2.16]

}  // namespace

DeviceTlbInvalidation device_tlb_invalidation(const DriverDomain& domain, const PageRange& range) {
  const SizeField field = encode_range(range);
  DeviceTlbInvalidation command;
  command.source = domain.identity.bdf;
  command.physical_function = domain.physical_function.value;
  command.queue_depth = domain.queue_depth;
  command.pasid = domain.pasid;
  command.is_sized = field.s;
  command.address = field.address;
  return command;
}

void DriverPages::add_domain(const DriverDomain& domain) {
  const auto index = static_cast<std::uint32_t>(domains_.size());
  domains_.push_back(domain);
  domains_.back().first = static_cast<std::uint32_t>(pages_.size());
  domains_.back().count = 0;
  by_key_.emplace(key_of(domain.identity.bdf, domain.identity.pasid), index);
  by_function_.emplace(domain.identity.bdf.value, index);
}

DriverPages::Index DriverPages::add_page(std::uint64_t entry, bool is_pinned) {
  Page page;
  page.entry = entry;
  page.domain = domains() - 1;
  page.is_pinned = is_pinned;
  pages_.push_back(page);
  ++domains_.back().count;
  return static_cast<Index>(pages_.size() - 1);
}

const DriverDomain* DriverPages::find_function(Bdf function) const {
  const auto found = by_function_.find(function.value);
  return found == by_function_.end() ? nullptr : &domains_[found->second];
}

std::optional<DriverPages::Index> DriverPages::find(Bdf function, OptionalId<Pasid> pasid,
                                                    std::uint64_t address) const {
  const auto [from, to] = by_key_.equal_range(key_of(function, pasid));
  for (auto found = from; found != to; ++found) {
    const DriverDomain& domain = domains_[found->second];
    const std::uint64_t index = (address - domain.address) >> page_bits_;
    if (address >= domain.address && index < domain.count) {
      return static_cast<Index>(domain.first + index);
    }
  }
  return std::nullopt;
}

const DriverDomain* DriverPages::find_domain(Bdf function, OptionalId<Pasid> pasid) const {
  const auto found = by_key_.find(key_of(function, pasid));
  return found == by_key_.end() ? nullptr : &domains_[found->second];
}

// Words of 32 pages of 4 KiB; a page of memory may take many. [IOM-2.16]
template <class Write>
void DriverPages::permit(std::uint32_t domain, PageFrames::Frame frame, std::uint64_t rights,
                         Words& words, Write write) const {
  constexpr std::uint64_t kPage = std::uint64_t{1} << kPageBits, kBitsOfPage = 3;
  constexpr unsigned kWordBits = permission_word_bits(1);
  const std::uint64_t origin = frames_.physical(0) & ~((std::uint64_t{1} << kWordBits) - 1);
  const std::uint64_t from = frames_.physical(frame);
  if (domain >= permissions_.size()) {
    return;
  }
  for (const std::vector<std::uint64_t>& table : permissions_[domain]) {
    for (std::uint64_t page = from; page < from + (std::uint64_t{1} << page_bits_); page += kPage) {
      const std::uint64_t at = table[(page - origin) >> kWordBits];
      std::uint64_t& word = words[at];
      const unsigned shift = permission_shift(page);
      word = (word & ~(kBitsOfPage << shift)) | rights << shift;
      write(at, word);
    }
  }
}

void DriverPages::permit(std::uint32_t domain, PageFrames::Frame frame, std::uint64_t rights) {
  permit(domain, frame, rights, words_, poke_);
}

std::size_t DriverPages::wrong_permissions() const {
  Words right;
  for (const Page& page : pages_) {
    if (page.frame) {
      permit(page.domain, *page.frame, kReadAndWrite, right, [](std::uint64_t, std::uint64_t) {});
    }
  }
  std::size_t wrong = 0;
  for (const auto& [at, word] : words_) {
    const auto found = right.find(at);
    wrong += word != (found == right.end() ? 0 : found->second) ? 1 : 0;
  }
  return wrong;
}

std::vector<PageFrames::Frame> DriverPages::end_domain(std::uint32_t index) {
  DriverDomain& domain = domains_[index];
  domain.is_over = true;
  std::vector<PageFrames::Frame> had;
  for (Index page = domain.first; page < domain.first + domain.count; ++page) {
    if (pages_[page].frame) {
      had.push_back(*pages_[page].frame);
      frames_.unmap(*pages_[page].frame);
      pages_[page].frame.reset();
    }
  }
  poke_(domain.pasid_entry, domain.pasid_entry_word & ~std::uint64_t{1});
  return had;
}

void DriverPages::forget_domain(std::uint32_t index) {
  poke_(domains_[index].pasid_entry, 0);
}

void DriverPages::map(Index index) {
  Page& page = pages_[index];
  page.frame = frames_.give(domain_of(index).identity, address(index));
  page.is_wanted = false;
  permit(page.domain, *page.frame, kReadAndWrite);
  poke_(page.entry, frames_.physical(*page.frame) | flags_);
}

PageFrames::Frame DriverPages::unmap(Index index) {
  Page& page = pages_[index];
  const PageFrames::Frame frame = *page.frame;
  page.frame.reset();
  poke_(page.entry, 0);
  frames_.unmap(frame);
  return frame;
}

void DriverPages::write_again(Index index) {
  const Page& page = pages_[index];
  poke_(page.entry, frames_.physical(*page.frame) | flags_);
}

// ---- records of pages

PageFrames::PageFrames(std::uint64_t base, unsigned page_bits, Frame count)
    : base_(base), page_bits_(page_bits), frames_(count), free_(count) {
  std::iota(free_.begin(), free_.end(), Frame{0});
}

PageFrames::Frame PageFrames::give(const DeviceIdentity& owner, std::uint64_t address) {
  const Frame frame = free_.front();
  free_.pop_front();
  Entry& entry = frames_[frame];
  entry.owner = key_of(owner);
  entry.address = address >> page_bits_;
  entry.state = State::kMapped;
  return frame;
}

void PageFrames::take_back(Frame frame) {
  Entry& entry = frames_[frame];
  entry.before = entry.owner;
  entry.owner = 0;
  entry.state = State::kFree;
  free_.push_back(frame);
}

const PageFrames::Entry* PageFrames::find(std::uint64_t physical) const {
  const std::uint64_t frame = (physical - base_) >> page_bits_;
  return physical < base_ || frame >= frames_.size() ? nullptr : &frames_[frame];
}

void PageFrames::access(const DeviceIdentity& who, std::uint64_t physical,
                        const std::uint64_t* untranslated) {
  const Entry* const entry = find(physical);
  if (entry == nullptr) {
    return;
  }
  ++accesses_;
  const bool is_elsewhere =
      untranslated != nullptr && *untranslated >> page_bits_ != entry->address;
  if (entry->owner != key_of(who) || is_elsewhere) {
    refuse(*entry, who, physical);
  } else if (entry->state == State::kLate) {
    ++late_;
  }
}

void PageFrames::use(const DeviceIdentity& who, std::uint64_t physical,
                     std::uint64_t untranslated) {
  const Entry* const entry = find(physical);
  if (entry != nullptr && entry->owner == key_of(who) &&
      entry->address != untranslated >> page_bits_) {
    refuse(*entry, who, physical);
  }
}

void PageFrames::refuse(const Entry& entry, const DeviceIdentity& who, std::uint64_t physical) {
  const bool is_stale = entry.before == key_of(who) || entry.owner == key_of(who);
  ++(is_stale ? stale_ : foreign_);
  if (first_.empty()) {
    first_ = fmt::format("{:02x}:{:02x}.{} PASID {} reached {:#x}, {}", who.bdf.bus(),
                         who.bdf.value >> 3 & 0x1fU, who.bdf.value & 7U,
                         to_int(who.pasid.value_or(Pasid{})), physical,
                         entry.owner == 0             ? "which is free"
                         : entry.owner == key_of(who) ? "which has another address now"
                                                      : "which is another's");
  }
}

}  // namespace flitwise
