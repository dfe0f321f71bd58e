// SPDX-License-Identifier: Apache-2.0
/// A ring of descriptors in host memory, by which software has a device copy between host memory
/// and memory of its own: registers, which descriptors are fetched, which copy goes next, and what
/// is written back. Without a clock. model: devices have something of the kind, each its own
/// (docs/descriptor_ring.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// DWs in BAR 0 of the PF, from kOffset on.
namespace ring_register {
inline constexpr std::uint64_t kOffset = 0x1000;
inline constexpr std::size_t kBytes = 0x40;
inline constexpr std::uint32_t kId = 0x00, kControl = 0x04, kStatus = 0x08, kVector = 0x0c,
                               kBase = 0x10, kBaseHigh = 0x14, kEntries = 0x18, kTail = 0x1c,
                               kHead = 0x20, kMemory = 0x24, kMemoryHigh = 0x28;
inline constexpr std::uint32_t kIdValue = 0x31525746;  ///< "FWR1"
inline constexpr std::uint32_t kEnable = 1U << 0;      ///< of control
inline constexpr std::uint32_t kRunning = 1U << 0, kHalted = 1U << 1, kRefused = 1U << 2;
inline constexpr std::uint32_t kMostEntries = 4096;
}  // namespace ring_register

struct RingDescriptor {
  static constexpr std::size_t kBytes = 64, kWrittenBack = 0x30, kWrittenBackBytes = 16;
  static constexpr std::uint32_t kToDevice = 1U << 0, kFromDevice = 1U << 1, kInterrupt = 1U << 2;
  static constexpr std::uint32_t kMostBytes = 1U << 20;  ///< that one may copy

  std::uint64_t host = 0, device = 0;  ///< addresses
  std::uint32_t bytes = 0, flags = 0;

  static RingDescriptor decode(const std::uint8_t* bytes);
  bool is_to_device() const { return (flags & kToDevice) != 0; }
  bool interrupts() const { return (flags & kInterrupt) != 0; }
  /// One direction, and some bytes that there are.
  bool is_valid(std::uint64_t memory) const;
};

/// First DW of what is written back; 0: not there yet.
enum class CopyStatus : std::uint32_t { kDone = 1, kBadDescriptor, kRefused, kTimeout, kPoisoned };

class DescriptorRing {
 public:
  static constexpr std::uint32_t kSlots = 64;  ///< descriptors that the device holds

  /// memory: bytes of the device. prefetch: descriptors that one read brings at most.
  DescriptorRing(std::uint64_t memory, std::uint32_t prefetch)
      : memory_(memory), prefetch_(prefetch) {}

  std::uint32_t read(std::uint32_t reg) const;
  void write(std::uint32_t reg, std::uint32_t value, Time now);
  /// As after a reset of the device.
  void reset();

  bool is_running() const { return is_running_; }
  /// Changes whenever the ring stops: what was under way then is of no concern any more.
  std::uint32_t life() const { return life_; }
  std::uint32_t vector() const { return vector_; }  ///< of its interrupts
  /// Nothing is left that has been asked for.
  bool is_idle() const { return !is_running_ || head_ == tail_; }
  std::uint32_t held() const { return fetched_ - head_; }

  // ---- what to do next, each followed by its telling
  struct Fetch {
    std::uint64_t address = 0;
    std::uint32_t count = 0;
  };
  std::optional<Fetch> next_fetch() const;
  void begin_fetch();
  void fetched(const std::uint8_t* bytes, Time now);
  void fetch_failed();  ///< the ring halts

  /// The next descriptor that has its copy to come; one that is not valid is over at once.
  std::optional<std::uint32_t> next_copy() const;
  const RingDescriptor& descriptor(std::uint32_t slot) const { return slots_[slot].descriptor; }
  void begin_copy() { begun_ = copy_index() + 1; }
  void copied(std::uint32_t slot, CopyStatus status, Time now);

  struct WriteBack {
    std::uint64_t address = 0;
    const std::uint8_t* bytes = nullptr;
    bool interrupts = false;
    CopyStatus status = CopyStatus::kDone;
  };
  /// In the order of the ring.
  std::optional<WriteBack> next_write_back() const;
  void begin_write_back();
  void written_back() { ++head_; }

 private:
  struct Slot {
    RingDescriptor descriptor;
    std::optional<CopyStatus> status;  // once it is over
    Time fetched;
    std::uint32_t waited_ns = 0;  // from its doorbell until then
    std::array<std::uint8_t, RingDescriptor::kWrittenBackBytes> written_back{};
  };
  void start();
  void stop();
  void ring(std::uint32_t tail, Time now);
  std::uint32_t copy_index() const;
  std::uint64_t address_of(std::uint32_t index) const {
    return base_ + std::uint64_t{index % entries_} * RingDescriptor::kBytes;
  }

  const std::uint64_t memory_;
  const std::uint32_t prefetch_;
  std::uint64_t base_ = 0;
  std::uint32_t entries_ = 0, vector_ = 0, life_ = 0;
  bool is_running_ = false, is_halted_ = false, has_refused_ = false;
  // Indices count on and wrap: those done, told of to the host, with their copy begun, fetched,
  // being fetched, and handed over by software.
  std::uint32_t head_ = 0, told_ = 0, begun_ = 0, fetched_ = 0, asked_ = 0, tail_ = 0;
  std::vector<Time> rung_;  // by entry
  std::array<Slot, kSlots> slots_{};
};

}  // namespace flitwise
