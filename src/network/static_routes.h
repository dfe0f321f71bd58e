// SPDX-License-Identifier: Apache-2.0
/// Where a switch sends a frame: static routes by IPv4 destination, and what a router does to the
/// header on the way. [NW-6]
#pragma once

#include <cstdint>
#include <vector>

#include "common/byte_vector.h"

namespace flitwise {

/// What becomes of a frame.
enum class Forwarding : std::uint8_t {
  kGoesOn,
  kBadHeader,  ///< no IPv4, or another checksum than that of its header
  kTtl,        ///< it has used up its hops
  kNoRoute
};

class StaticRoutes {
 public:
  struct Way {
    Forwarding outcome = Forwarding::kNoRoute;
    std::uint32_t port = 0;  ///< kGoesOn
  };

  /// Frames to `address` leave by that port. Addresses lie close together: there is an entry for
  /// each between the lowest and the highest.
  void add(std::uint32_t address, std::uint32_t port);
  /// One is taken from the TTL of a frame that goes on, and its checksum is mended; others stay as
  /// they are.
  Way forward(ByteVector& frame) const;

 private:
  std::uint32_t first_ = 0;
  std::vector<std::int32_t> ports_;  // by address - first_; kNoPort: none
};

}  // namespace flitwise
