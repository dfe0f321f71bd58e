// SPDX-License-Identifier: Apache-2.0
/// The device's end of a split virtqueue (VIRTIO 1.2, 2.7) in the memory of a guest. What the
/// driver writes there is checked, never trusted: a bad chain comes out as one that has nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "uml/guest_memory.h"

namespace flitwise {

/// Descriptors that belong together: what the driver has written, and where the device may write.
struct VirtqueueChain {
  std::uint16_t head = 0;
  bool is_good = true;  ///< else there is nothing in it
  std::vector<std::uint8_t> readable;
  struct Area {
    std::uint64_t address;
    std::size_t size;
  };
  std::vector<Area> writable;

  std::size_t writable_bytes() const;
};

class Virtqueue {
 public:
  static constexpr unsigned kMostEntries = 32'768;
  static constexpr std::size_t kMostBytes = 1 << 20;  ///< of one chain

  /// `memory` outlives it.
  explicit Virtqueue(const GuestMemory& memory) : memory_(memory) {}

  /// A power of two; false where it is none.
  bool set_entries(unsigned entries);
  void set_next(std::uint16_t next) { next_ = used_ = next; }
  /// Addresses as the guest's process has them; false where a ring is not in its memory.
  bool set_rings(std::uint64_t descriptors, std::uint64_t available, std::uint64_t used);
  void set_enabled(bool is_enabled) { is_enabled_ = is_enabled; }
  /// The memory has gone.
  void forget_rings() { rings_.reset(); }

  /// The next chain, taken off the ring; nothing where there is none, or no ring.
  std::optional<VirtqueueChain> take();
  /// Gives it back with the first `written` bytes of its areas written.
  void give_back(const VirtqueueChain& chain, std::uint32_t written);
  /// Copies into the areas, and gives the chain back.
  void answer(const VirtqueueChain& chain, const std::vector<std::uint8_t>& bytes);
  /// The driver wants to hear of chains that were given back.
  bool wants_calls() const;
  /// What the driver has done that it must not, so far.
  std::uint64_t flaws() const { return flaws_; }

 private:
  struct Rings {
    std::uint8_t *descriptors, *available, *used;
  };
  struct Descriptor {
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint16_t flags, next;
  };
  bool collect(std::uint16_t index, VirtqueueChain& chain);
  bool add(const Descriptor& one, VirtqueueChain& chain, std::size_t& total);

  const GuestMemory& memory_;
  unsigned entries_ = 0;
  std::uint16_t next_ = 0, used_ = 0;
  std::optional<Rings> rings_;
  bool is_enabled_ = false;
  std::uint64_t flaws_ = 0;
};

}  // namespace flitwise
