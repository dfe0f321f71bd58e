// SPDX-License-Identifier: Apache-2.0
/// What software knows of its RDMA work requests and queue pairs, and what it has others do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "flitwise/time.h"
#include "rdma/ring_entries.h"
#include "rdma/work_request.h"

namespace flitwise {

struct VerbsRequest {
  WorkOpcode opcode = WorkOpcode::kWrite;
  std::uint32_t bytes = 0;
  std::uint64_t stamp = 0;     ///< what its payload is made of
  std::uint64_t original = 0;  ///< what an atomic has to find
  Time begun{};
  bool counts = false, is_unseen = false;  ///< payload is not known to be at the peer
};

struct VerbsPair {
  std::uint32_t posted = 0, completed = 0;
  std::uint32_t sends = 0, sends_completed = 0;
  std::uint32_t received = 0, receives_posted = 0;
  std::uint64_t word = 0;  ///< of the peer, as atomics leave it
  bool is_dead = false;
};

/// Requests of a connection that was made anew count on from another number, so that the payload of
/// what is left of the old one is known from theirs.
constexpr std::uint32_t first_of_epoch(std::uint32_t epoch) {
  return epoch << 24;
}
/// What the payload of a request is made of: no two adapters, queue pairs and requests have the
/// same. A SEND has the next one of that number.
inline std::uint64_t stamp_of_request(unsigned adapter, std::uint32_t pair, std::uint32_t number) {
  return (std::uint64_t{adapter} << 52 | std::uint64_t{pair} << 32 | number) * 2;
}
inline std::uint64_t stamp_of_send(unsigned adapter, std::uint32_t pair, std::uint32_t number) {
  return stamp_of_request(adapter, pair, number) + 1;
}
/// Of a host, at once and untimed.
struct VerbsMemory {
  std::function<void(std::uint64_t address, const std::uint8_t* bytes, std::size_t size)> poke;
  std::function<void(std::uint64_t address, std::uint8_t* bytes, std::size_t size)> peek;
};
/// What software asks of those around it.
struct VerbsHooks {
  VerbsMemory own;
  std::vector<VerbsMemory> peers;  ///< in the order of the configuration
  /// Eight bytes of a completion queue, as software finds them now.
  std::function<std::uint64_t(std::uint64_t address)> look;
  std::function<void(Doorbell bell)> ring;
  std::function<void(CompletionArm order)> arm;
  /// Stores a command, a line at a time.
  std::function<void(const std::uint8_t* bytes, std::size_t size)> command;
  std::function<void()> begins;  ///< the next request
  std::function<void()> work_ended;
};

}  // namespace flitwise
