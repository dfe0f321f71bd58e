// SPDX-License-Identifier: Apache-2.0
/// What software knows of its RDMA work requests and queue pairs.
#pragma once

#include <cstdint>

#include "flitwise/time.h"
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

/// What the payload of a request is made of: no two adapters, queue pairs and requests have the
/// same. A SEND has the next one of that number.
inline std::uint64_t stamp_of_request(unsigned adapter, std::uint32_t pair, std::uint32_t number) {
  return (std::uint64_t{adapter} << 52 | std::uint64_t{pair} << 32 | number) * 2;
}
inline std::uint64_t stamp_of_send(unsigned adapter, std::uint32_t pair, std::uint32_t number) {
  return stamp_of_request(adapter, pair, number) + 1;
}

}  // namespace flitwise
