// SPDX-License-Identifier: Apache-2.0
/// What software and an RDMA adapter share in the buffer of a queue pair: its state, its rings, the
/// completion queues of the device, and places for payload. model: one buffer for all of it; or all
/// but payload in that of the first queue pair, as structures that are one piece each.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hca/structure_registers.h"

namespace flitwise {

inline constexpr std::uint32_t kWqeBytes = 64, kReceiveEntryBytes = 32, kQpStateBytes = 64;

/// What lies where in a buffer. kNone: nothing, or not the same with all of the bytes.
enum class RdmaPart : std::uint8_t {
  kState,
  kWord,
  kSendRing,
  kReceiveRing,
  kCompletions,
  kOwn,
  kExposed,
  kBuffers,
  kNone
};

/// Sizes in bytes. The same at both ends of a connection.
struct RdmaGeometry {
  std::uint64_t buffer = 0;      ///< of each queue pair
  std::uint32_t queue = 0;       ///< entries of a send queue and of a receive queue
  std::uint32_t cq = 0;          ///< entries of each completion queue
  std::uint32_t cqe = 0;         ///< bytes of one
  std::uint64_t most_bytes = 0;  ///< of a message
  /// Queue pairs of a function whose states and rings lie together in the buffer of its first one,
  /// at most; 0: each has its own.
  std::uint32_t together = 0;
};

/// A structure of an adapter in host memory. Unit: bytes.
struct StructurePlace {
  StaticStructure structure = StaticStructure::kQpStateArray;
  std::uint64_t address = 0, bytes = 0;
};
/// States, completion queues, send rings and receive rings of all of them, in this order. None
/// straddles a page that it fits into, up to 2 MiB. model: the registers of ring descriptors and of
/// receive queue descriptors name the rings themselves. REQUIRES: geometry.together > 0; base: a
/// multiple of 2 MiB, or else of the page that matters.
inline std::array<StructurePlace, 4> structures_at(const RdmaGeometry& geometry,
                                                   std::uint64_t base) {
  const std::uint64_t entries = std::uint64_t{geometry.together} * geometry.queue;
  std::array<StructurePlace, 4> all = {{
      {StaticStructure::kQpStateArray, 0, std::uint64_t{geometry.together} * kQpStateBytes},
      {StaticStructure::kCq, 0, std::uint64_t{2} * geometry.cq * geometry.cqe},
      {StaticStructure::kRingDescriptors, 0, entries * kWqeBytes},
      {StaticStructure::kRqDescriptors, 0, entries * kReceiveEntryBytes},
  }};
  std::uint64_t next = kQpStateBytes;  // behind the word for atomics
  for (StructurePlace& one : all) {
    std::uint64_t unit = 64;
    while (unit < one.bytes && unit < std::uint64_t{2} << 20) {
      unit *= 2;
    }
    const std::uint64_t begin = (next + unit - 1) / unit * unit;
    one.address = base + begin;
    next = begin + one.bytes;
  }
  return all;
}

/// Where they end, from the base on.
inline std::uint64_t structures_end(const RdmaGeometry& geometry) {
  const StructurePlace last = structures_at(geometry, 0).back();
  return last.address + last.bytes;
}

class RdmaArea {
 public:
  /// has_queues: the completion queues of the device lie here.
  RdmaArea(const RdmaGeometry& geometry, std::uint64_t base, bool has_queues)
      : geometry_(geometry), base_(base), has_queues_(has_queues) {
    state_ = base;
    send_ = base + 2 * std::uint64_t{kQpStateBytes};
    receive_ = send_ + std::uint64_t{geometry.queue} * kWqeBytes;
    queues_ = whole_lines(receive_ + std::uint64_t{geometry.queue} * kReceiveEntryBytes);
    payload_ = queues_ + (has_queues ? completions_bytes() : 0);
  }
  /// Of a queue pair of the only function.
  RdmaArea(const RdmaGeometry& geometry, std::uint64_t first_base, std::uint32_t queue_pair)
      : RdmaArea(geometry, first_base + queue_pair * geometry.buffer, first_base, queue_pair) {}
  /// Of queue pair `index` of a function whose first one has its buffer at first_base.
  RdmaArea(const RdmaGeometry& geometry, std::uint64_t base, std::uint64_t first_base,
           std::uint32_t index)
      : RdmaArea(geometry, base, index == 0) {
    if (geometry.together > 0) {
      lie_together(first_base, index);
    }
  }

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return geometry_.buffer; }
  std::uint64_t state() const { return state_; }
  static constexpr std::uint64_t kWordBytes = 8;
  /// For atomics of the peer.
  std::uint64_t word() const {
    return base_ + (geometry_.together > 0 ? 0 : std::uint64_t{kQpStateBytes});
  }
  std::uint64_t send_entry(std::uint32_t index) const {
    return send_ + index % geometry_.queue * kWqeBytes;
  }
  std::uint64_t receive_entry(std::uint32_t index) const {
    return receive_ + index % geometry_.queue * kReceiveEntryBytes;
  }
  /// REQUIRES: has_queues.
  std::uint64_t completion(bool is_receive, std::uint32_t index) const {
    return queues_ + ((is_receive ? geometry_.cq : 0) + index % geometry_.cq) * geometry_.cqe;
  }
  std::uint64_t exposed_bytes() const { return places() * place(); }
  std::uint64_t completions_begin() const { return queues_; }
  std::uint64_t completions_bytes() const {
    return std::uint64_t{2} * geometry_.cq * geometry_.cqe;
  }

  /// Messages that have a place at a time in each of the three parts, as many as a ring has entries
  /// at most; 0: the buffer is too small.
  std::uint32_t places() const {
    const std::uint64_t before = payload_ - base_;
    const std::uint64_t room = geometry_.buffer > before ? geometry_.buffer - before : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry_.queue, room / 3 / place()));
  }
  /// What the end itself sends, or asks for.
  std::uint64_t own(std::uint32_t index) const { return part(0, index); }
  /// What its peer writes and reads.
  std::uint64_t exposed(std::uint32_t index) const { return part(1, index); }
  /// For what its peer sends.
  std::uint64_t buffer(std::uint32_t index) const { return part(2, index); }

  /// Where an access of 1 byte or more lies. Structures that lie together are read and written in
  /// the name of the first queue pair.
  RdmaPart part_of(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t pairs = has_queues_ ? std::max(geometry_.together, 1U) : 1;
    const struct {
      RdmaPart part;
      std::uint64_t begin, bytes;
    } parts[] = {
        {RdmaPart::kState, state(), pairs * kQpStateBytes},
        {RdmaPart::kWord, word(), kWordBytes},
        {RdmaPart::kSendRing, send_entry(0), pairs * geometry_.queue * kWqeBytes},
        {RdmaPart::kReceiveRing, receive_entry(0), pairs * geometry_.queue * kReceiveEntryBytes},
        {RdmaPart::kCompletions, queues_, has_queues_ ? completions_bytes() : 0},
        {RdmaPart::kOwn, own(0), exposed_bytes()},
        {RdmaPart::kExposed, exposed(0), exposed_bytes()},
        {RdmaPart::kBuffers, buffer(0), exposed_bytes()}};
    for (const auto& one : parts) {
      if (address >= one.begin && bytes <= one.bytes && address - one.begin <= one.bytes - bytes) {
        return one.part;
      }
    }
    return RdmaPart::kNone;
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static std::uint64_t whole_lines(std::uint64_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
  }
  std::uint64_t place() const {
    return whole_lines(std::max<std::uint64_t>(geometry_.most_bytes, 8));
  }
  void lie_together(std::uint64_t first_base, std::uint32_t queue_pair) {
    const auto all = structures_at(geometry_, first_base);
    const std::uint64_t entries = std::uint64_t{queue_pair} * geometry_.queue;
    state_ = all[0].address + std::uint64_t{queue_pair} * kQpStateBytes;
    queues_ = all[1].address;
    send_ = all[2].address + entries * kWqeBytes;
    receive_ = all[3].address + entries * kReceiveEntryBytes;
    payload_ = has_queues_ ? whole_lines(all[3].address + all[3].bytes) : base_ + kLine;
  }
  std::uint64_t part(unsigned number, std::uint32_t index) const {
    const std::uint32_t all = places();
    return payload_ + (std::uint64_t{number} * all + index % all) * place();
  }

  RdmaGeometry geometry_;
  std::uint64_t base_;
  bool has_queues_;
  std::uint64_t state_ = 0, send_ = 0, receive_ = 0, queues_ = 0, payload_ = 0;
};

}  // namespace flitwise
