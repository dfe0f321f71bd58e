// SPDX-License-Identifier: Apache-2.0
// Records of pages.
#include "iommu/page_frames.h"

#include <fmt/format.h>

#include <numeric>

namespace flitwise {

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
