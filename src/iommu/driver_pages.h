// SPDX-License-Identifier: Apache-2.0
/// The pages that a driver of the translation agent maps and unmaps: where their entries are, and
/// which page of memory each has.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ats/translation_entry.h"
#include "flitwise/ids.h"
#include "iommu/invalidation_descriptor.h"

namespace flitwise {

/// Who may reach which page of host memory, by what software has done: the oracle that accesses are
/// held against while pages come and go. [INV-35]
/// Pages of memory of one size, side by side. A page is free, or belongs to one domain at one of
/// its addresses: mapped, or late, where its entry is gone but its invalidation not over.
class PageFrames {
 public:
  using Frame = std::uint32_t;

  /// All of them free. base: a multiple of the page.
  PageFrames(std::uint64_t base, unsigned page_bits, Frame count);

  std::uint64_t physical(Frame frame) const { return base_ + (std::uint64_t{frame} << page_bits_); }
  std::size_t count() const { return frames_.size(); }
  std::size_t free() const { return free_.size(); }

  /// The page that has been free for longest goes to a domain. REQUIRES: one is free.
  Frame give(const DeviceIdentity& owner, std::uint64_t address);
  /// Its entry is gone.
  void unmap(Frame frame) { frames_[frame].state = State::kLate; }
  /// Its invalidation is over.
  void take_back(Frame frame);

  /// An access reaches memory in the name of `who`. untranslated: the address that it named, if it
  /// was one that the agent has translated.
  void access(const DeviceIdentity& who, std::uint64_t physical, const std::uint64_t* untranslated);
  /// A request of `who` is about to go to this address, by a translation that the device has of
  /// `untranslated`. That the page is its own at all is asked when the request reaches memory.
  void use(const DeviceIdentity& who, std::uint64_t physical, std::uint64_t untranslated);

  std::uint64_t late() const { return late_; }        ///< accesses to late pages
  std::uint64_t stale() const { return stale_; }      ///< to what the domain once had
  std::uint64_t foreign() const { return foreign_; }  ///< to what it did not have just before
  std::uint64_t accesses() const { return accesses_; }
  /// The first one that was stale or foreign; empty where there was none.
  const std::string& first() const { return first_; }

 private:
  enum class State : std::uint8_t { kFree, kMapped, kLate };
  /// Function and PASID in one number; 0: no owner.
  static std::uint64_t key_of(const DeviceIdentity& identity) {
    return std::uint64_t{1} << 40 | std::uint64_t{identity.bdf.value} << 20 |
           to_int(identity.pasid.value_or(Pasid{}));
  }
  struct Entry {
    std::uint64_t owner = 0, before = 0, address = 0;
    State state = State::kFree;
  };
  /// The page that holds an address; null: none of these.
  const Entry* find(std::uint64_t physical) const;
  void refuse(const Entry& entry, const DeviceIdentity& who, std::uint64_t physical);

  std::uint64_t base_;
  unsigned page_bits_;
  std::vector<Entry> frames_;
  std::deque<Frame> free_;
  std::uint64_t accesses_ = 0, late_ = 0, stale_ = 0, foreign_ = 0;
  std::string first_;
};

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
    bool is_registered = false;              ///< for RDMA: pinned, and its entry is written anew
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
  /// Writes the leaf of one that is mapped as it stands.
  void write_again(Index page);
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
