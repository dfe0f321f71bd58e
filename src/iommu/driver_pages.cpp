// SPDX-License-Identifier: Apache-2.0
// Entries and pages of memory.
#include "iommu/driver_pages.h"

namespace flitwise {

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

void DriverPages::map(Index index) {
  Page& page = pages_[index];
  page.frame = frames_.give(domain_of(index).identity, address(index));
  page.is_wanted = false;
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

}  // namespace flitwise
