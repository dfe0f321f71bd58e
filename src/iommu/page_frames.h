// SPDX-License-Identifier: Apache-2.0
/// Who may reach which page of host memory, by what software has done: the oracle that accesses are
/// held against while pages come and go. [INV-35]
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "flitwise/ids.h"

namespace flitwise {

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

}  // namespace flitwise
