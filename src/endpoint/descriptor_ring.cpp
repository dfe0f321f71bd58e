// SPDX-License-Identifier: Apache-2.0
#include "endpoint/descriptor_ring.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <limits>

#include "common/byte_vector.h"

namespace flitwise {
namespace {

std::uint32_t dw(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(little_endian(bytes, 4));
}

std::uint32_t nanoseconds(Time from, Time to) {
  return static_cast<std::uint32_t>((to - from).ns());
}

}  // namespace

RingDescriptor RingDescriptor::decode(const std::uint8_t* bytes) {
  return {little_endian(bytes, 8), little_endian(bytes + 0x08, 8), dw(bytes + 0x10),
          dw(bytes + 0x14)};
}

bool RingDescriptor::is_valid(std::uint64_t memory) const {
  const std::uint32_t direction = flags & (kToDevice | kFromDevice);
  const bool has_one = direction == kToDevice || direction == kFromDevice;
  return has_one && bytes > 0 && bytes <= kMostBytes && device <= memory &&
         bytes <= memory - device && host <= std::numeric_limits<std::uint64_t>::max() - bytes;
}

std::uint32_t DescriptorRing::read(std::uint32_t reg) const {
  namespace r = ring_register;
  switch (reg) {
    case r::kId: return r::kIdValue;
    case r::kControl: return is_running_ || is_halted_ ? r::kEnable : 0;
    case r::kStatus:
      return (is_running_ ? r::kRunning : 0) | (is_halted_ ? r::kHalted : 0) |
             (has_refused_ ? r::kRefused : 0);
    case r::kVector: return vector_;
    case r::kBase: return static_cast<std::uint32_t>(base_);
    case r::kBaseHigh: return static_cast<std::uint32_t>(base_ >> 32);
    case r::kEntries: return entries_;
    case r::kTail: return tail_;
    case r::kHead: return head_;
    case r::kMemory: return static_cast<std::uint32_t>(memory_);
    case r::kMemoryHigh: return static_cast<std::uint32_t>(memory_ >> 32);
    default: return 0;
  }
}

// Where the ring is and how long it is, software says while it stands still.
void DescriptorRing::write(std::uint32_t reg, std::uint32_t value, Time now) {
  namespace r = ring_register;
  if (reg == r::kControl) {
    if ((value & r::kEnable) == 0) {
      stop();
    } else if (!is_running_ && !is_halted_) {
      start();
    }
    return;
  }
  if (reg == r::kTail) {
    ring(value, now);
    return;
  }
  if (reg == r::kVector) {
    vector_ = value;
    return;
  }
  if (is_running_ || is_halted_) {
    return;
  }
  constexpr std::uint64_t kLow = 0xffff'ffff;
  switch (reg) {
    case r::kBase:
      base_ = (base_ & ~kLow) | (value & ~std::uint32_t{RingDescriptor::kBytes - 1});
      break;
    case r::kBaseHigh: base_ = (base_ & kLow) | std::uint64_t{value} << 32; break;
    case r::kEntries: entries_ = value; break;
    default: break;
  }
}

void DescriptorRing::start() {
  const bool is_power = entries_ >= 2 && (entries_ & (entries_ - 1)) == 0;
  has_refused_ = !is_power || entries_ > ring_register::kMostEntries;
  is_running_ = !has_refused_;
  rung_.assign(is_running_ ? entries_ : 0, Time{});
}

void DescriptorRing::stop() {
  is_running_ = is_halted_ = has_refused_ = false;
  head_ = told_ = begun_ = fetched_ = asked_ = tail_ = 0;
  ++life_;
}

void DescriptorRing::reset() {
  stop();
  base_ = 0;
  entries_ = vector_ = 0;
}

// A tail that goes back, or beyond what the ring holds, is refused.
void DescriptorRing::ring(std::uint32_t tail, Time now) {
  if (!is_running_ || tail - head_ > entries_ || tail - head_ < tail_ - head_) {
    has_refused_ = true;
    return;
  }
  for (; tail_ != tail; ++tail_) {
    rung_[tail_ % entries_] = now;
  }
}

// One read at a time, up to the end of the ring.
std::optional<DescriptorRing::Fetch> DescriptorRing::next_fetch() const {
  if (!is_running_ || asked_ != fetched_) {
    return std::nullopt;
  }
  const std::uint32_t count =
      std::min({prefetch_, tail_ - fetched_, kSlots - held(), entries_ - fetched_ % entries_});
  return count == 0 ? std::nullopt : std::optional<Fetch>({address_of(fetched_), count});
}

void DescriptorRing::begin_fetch() {
  asked_ = fetched_ + next_fetch()->count;
}

void DescriptorRing::fetched(const std::uint8_t* bytes, Time now) {
  for (; fetched_ != asked_; ++fetched_, bytes += RingDescriptor::kBytes) {
    Slot& slot = slots_[fetched_ % kSlots];
    slot = Slot{};
    slot.descriptor = RingDescriptor::decode(bytes);
    slot.fetched = now;
    slot.waited_ns = nanoseconds(rung_[fetched_ % entries_], now);
    if (!slot.descriptor.is_valid(memory_)) {
      copied(fetched_ % kSlots, CopyStatus::kBadDescriptor, now);
    }
  }
}

void DescriptorRing::fetch_failed() {
  stop();
  is_halted_ = true;
}

// Those that are not valid are over.
std::uint32_t DescriptorRing::copy_index() const {
  std::uint32_t index = begun_;
  while (index != fetched_ && slots_[index % kSlots].status) {
    ++index;
  }
  return index;
}

std::optional<std::uint32_t> DescriptorRing::next_copy() const {
  const std::uint32_t index = copy_index();
  return index == fetched_ ? std::nullopt : std::optional<std::uint32_t>(index % kSlots);
}

void DescriptorRing::copied(std::uint32_t number, CopyStatus status, Time now) {
  namespace endian = boost::endian;
  Slot& slot = slots_[number];
  slot.status = status;
  std::uint8_t* const to = slot.written_back.data();
  endian::store_little_u32(to, static_cast<std::uint32_t>(status));
  endian::store_little_u32(to + 4, status == CopyStatus::kDone ? slot.descriptor.bytes : 0);
  endian::store_little_u32(to + 8, slot.waited_ns);
  endian::store_little_u32(to + 12, nanoseconds(slot.fetched, now));
}

std::optional<DescriptorRing::WriteBack> DescriptorRing::next_write_back() const {
  const Slot& slot = slots_[told_ % kSlots];
  if (told_ == fetched_ || !slot.status) {
    return std::nullopt;
  }
  return WriteBack{address_of(told_) + RingDescriptor::kWrittenBack, slot.written_back.data(),
                   slot.descriptor.interrupts(), *slot.status};
}

void DescriptorRing::begin_write_back() {
  ++told_;
  begun_ = std::max(begun_ - head_, told_ - head_) + head_;
}

}  // namespace flitwise
