// SPDX-License-Identifier: Apache-2.0
/// The pages that a driver of the translation agent maps and unmaps: where their entries are, and
/// which page of memory each has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ats/translation_range.h"
#include "flitwise/ids.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/page_frames.h"

namespace flitwise {

/// A buffer of one function and PASID.
struct DriverDomain {
  DeviceIdentity identity;
  std::uint16_t number = 0;  ///< DID
  OptionalId<Pasid> pasid;   ///< that its device names in Translation Requests
  bool has_device_tlb = false;
  bool has_page_requests = false;
  std::uint8_t queue_depth = 0;        ///< of its function's invalidations; 0 is 32 [IQU-12]
  Bdf physical_function;               ///< of its device
  bool responds_with_pasid = true;     ///< PRG Response PASID Required [PRI-36]
  std::uint64_t address = 0;           ///< of its first page
  std::uint32_t first = 0, count = 0;  ///< its pages, by index
  std::uint64_t pasid_entry = 0;       ///< address of its PASID table entry
  std::uint64_t pasid_entry_word = 0;  ///< what the first word of that holds
  bool is_shared = false;              ///< others have the same table of permissions [DHI D18]
  unsigned device = 0;                 ///< index of its device
  DomainId id{};                       ///< which one it is there
  bool is_over = false;                ///< its context has ended, or is about to
};

/// What makes its device forget translations of a range. [INV-01] [IOM-5.4]
DeviceTlbInvalidation device_tlb_invalidation(const DriverDomain& domain, const PageRange& range);

class DriverPages {
 public:
  using Index = std::uint32_t;
  /// Writes an entry of a page table.
  using Poke = std::function<void(std::uint64_t address, std::uint64_t value)>;

  struct Page {
    std::uint64_t entry = 0;  ///< address of its leaf
    std::uint32_t domain = 0;
    std::optional<PageFrames::Frame> frame;  ///< absent: not mapped
    bool is_pinned = false;                  ///< never unmapped
    bool is_wanted = false;                  ///< somebody is about to map it
  };

  DriverPages(PageFrames frames, unsigned page_bits, Poke poke)
      : frames_(std::move(frames)), page_bits_(page_bits), poke_(std::move(poke)) {}

  /// A domain without pages; they follow by add_page(), from its first address on.
  void add_domain(const DriverDomain& domain);
  /// Not mapped yet. entry: the address of its leaf.
  Index add_page(std::uint64_t entry, bool is_pinned);
  /// A permission table that tells of the pages of the domain added last: addresses of its words,
  /// the first one for the first page of memory, which starts one. [SEC-01]
  void add_permissions(std::vector<std::uint64_t> words) {
    permissions_.resize(domains());
    permissions_.back().push_back(std::move(words));
  }
  /// What a leaf holds beside the address.
  void set_flags(std::uint64_t flags) { flags_ = flags; }

  unsigned page_bits() const { return page_bits_; }
  std::uint32_t domains() const { return static_cast<std::uint32_t>(domains_.size()); }
  const DriverDomain& domain(std::uint32_t index) const { return domains_[index]; }
  DriverDomain& domain(std::uint32_t index) { return domains_[index]; }
  const DriverDomain& domain_of(Index page) const { return domains_[pages_[page].domain]; }
  std::uint64_t address(Index page) const {
    const DriverDomain& domain = domain_of(page);
    return domain.address + (std::uint64_t{page - domain.first} << page_bits_);
  }
  Page& page(Index index) { return pages_[index]; }
  const Page& page(Index index) const { return pages_[index]; }
  /// Some domain of the function; null where it has none.
  const DriverDomain* find_function(Bdf function) const;
  /// The domain of a function and PASID; null where the driver has none.
  const DriverDomain* find_domain(Bdf function, OptionalId<Pasid> pasid) const;
  /// The page at an address of a function and PASID; nothing where the driver has none there.
  std::optional<Index> find(Bdf function, OptionalId<Pasid> pasid, std::uint64_t address) const;

  /// Gives it a page of memory, permits that to its domain and writes its leaf. REQUIRES: it has
  /// none, and one is free.
  void map(Index page);
  /// Clears its leaf. The page of memory stays taken until frames().take_back(), and permitted
  /// until revoke(). REQUIRES: it is mapped.
  PageFrames::Frame unmap(Index page);
  /// Takes the permission for a page of memory away from a domain.
  void revoke(std::uint32_t domain, PageFrames::Frame frame) { permit(domain, frame, 0); }
  /// Words of permissions that say something else than which pages of memory are mapped.
  std::size_t wrong_permissions() const;
  /// Its context has ended: the present bit of its PASID table entry goes, leaves stay as they are.
  /// Returns the pages of memory that it had, which stay taken likewise. [IOM-2.5]
  std::vector<PageFrames::Frame> end_domain(std::uint32_t domain);
  /// No cache knows it any more: the rest of that word goes.
  void forget_domain(std::uint32_t domain);

  PageFrames& frames() { return frames_; }
  const PageFrames& frames() const { return frames_; }

 private:
  static std::uint64_t key_of(Bdf function, OptionalId<Pasid> pasid) {
    return std::uint64_t{function.value} << 20 | to_int(pasid.value_or(Pasid{}));
  }

  using Words = std::unordered_map<std::uint64_t, std::uint64_t>;  // by address
  /// Calls write(address, value) for each word that changes.
  template <class Write>
  void permit(std::uint32_t domain, PageFrames::Frame frame, std::uint64_t rights, Words& words,
              Write write) const;
  void permit(std::uint32_t domain, PageFrames::Frame frame, std::uint64_t rights);

  PageFrames frames_;
  unsigned page_bits_;
  Poke poke_;
  std::uint64_t flags_ = 0;
  std::vector<DriverDomain> domains_;
  std::vector<Page> pages_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_key_;
  std::unordered_map<std::uint16_t, std::uint32_t> by_function_;
  std::vector<std::vector<std::vector<std::uint64_t>>> permissions_;  // tables of each domain
  Words words_;                                                       // of permissions
};

}  // namespace flitwise
