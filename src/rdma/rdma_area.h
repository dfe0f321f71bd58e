// SPDX-License-Identifier: Apache-2.0
/// What software and an RDMA adapter share in the buffer of a queue pair: its state, its rings, the
/// completion queues of the device, and places for payload. model: one buffer for all of it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace flitwise {

inline constexpr std::uint32_t kWqeBytes = 64, kReceiveEntryBytes = 32, kQpStateBytes = 64;

/// Sizes in bytes. The same at both ends of a connection.
struct RdmaGeometry {
  std::uint64_t buffer = 0;      ///< of each queue pair
  std::uint32_t queue = 0;       ///< entries of a send queue and of a receive queue
  std::uint32_t cq = 0;          ///< entries of each completion queue
  std::uint32_t cqe = 0;         ///< bytes of one
  std::uint64_t most_bytes = 0;  ///< of a message
};

class RdmaArea {
 public:
  /// has_queues: the completion queues of the device lie here.
  RdmaArea(const RdmaGeometry& geometry, std::uint64_t base, bool has_queues)
      : geometry_(geometry), base_(base), has_queues_(has_queues) {}
  RdmaArea(const RdmaGeometry& geometry, std::uint64_t first_base, std::uint32_t queue_pair)
      : RdmaArea(geometry, first_base + queue_pair * geometry.buffer, queue_pair == 0) {}

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return geometry_.buffer; }
  std::uint64_t state() const { return base_; }
  /// Eight bytes for atomics of the peer.
  std::uint64_t word() const { return base_ + kQpStateBytes; }
  std::uint64_t send_entry(std::uint32_t index) const {
    return base_ + 2 * std::uint64_t{kQpStateBytes} + index % geometry_.queue * kWqeBytes;
  }
  std::uint64_t receive_entry(std::uint32_t index) const {
    return send_entry(0) + std::uint64_t{geometry_.queue} * kWqeBytes +
           index % geometry_.queue * kReceiveEntryBytes;
  }
  /// REQUIRES: has_queues.
  std::uint64_t completion(bool is_receive, std::uint32_t index) const {
    return queues() + ((is_receive ? geometry_.cq : 0) + index % geometry_.cq) * geometry_.cqe;
  }
  std::uint64_t completions_begin() const { return queues(); }
  std::uint64_t completions_bytes() const {
    return std::uint64_t{2} * geometry_.cq * geometry_.cqe;
  }

  /// Messages that have a place at a time in each of the three parts, as many as a ring has entries
  /// at most; 0: the buffer is too small.
  std::uint32_t places() const {
    const std::uint64_t before = payload() - base_;
    const std::uint64_t room = geometry_.buffer > before ? geometry_.buffer - before : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry_.queue, room / 3 / place()));
  }
  /// What the end itself sends, or asks for.
  std::uint64_t own(std::uint32_t index) const { return part(0, index); }
  /// What its peer writes and reads.
  std::uint64_t exposed(std::uint32_t index) const { return part(1, index); }
  /// For what its peer sends.
  std::uint64_t buffer(std::uint32_t index) const { return part(2, index); }

 private:
  static constexpr std::uint64_t kLine = 64;
  static std::uint64_t whole_lines(std::uint64_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
  }
  std::uint64_t place() const {
    return whole_lines(std::max<std::uint64_t>(geometry_.most_bytes, 8));
  }
  std::uint64_t queues() const {
    return whole_lines(receive_entry(0) + std::uint64_t{geometry_.queue} * kReceiveEntryBytes);
  }
  std::uint64_t payload() const { return queues() + (has_queues_ ? completions_bytes() : 0); }
  std::uint64_t part(unsigned number, std::uint32_t index) const {
    return payload() + (std::uint64_t{number} * places() + index % places()) * place();
  }

  RdmaGeometry geometry_;
  std::uint64_t base_;
  bool has_queues_;
};

}  // namespace flitwise
