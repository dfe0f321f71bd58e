// SPDX-License-Identifier: Apache-2.0
/// Flows: so many bytes from one host to another one, as traffic patterns make them.
#pragma once

#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

inline constexpr std::uint32_t kNoFlow = ~std::uint32_t{0};

struct Flow {
  std::uint32_t id = 0;                       ///< counts from 0 in the order in which they are made
  std::uint32_t source = 0, destination = 0;  ///< hosts, from 0; never the same
  std::uint64_t bytes = 0;                    ///< at least 1
  Time start{};                   ///< not before this; behind `after`, this long behind its end
  std::uint32_t after = kNoFlow;  ///< it may start when all bytes of that flow have arrived
};

/// Makes flows one by one; those without `after` in the order of their starts. Memory does not grow
/// with their number, but for what each pattern says.
class FlowSource {
 public:
  virtual ~FlowSource() = default;
  /// False: there are no more.
  virtual bool next(Flow& flow) = 0;
  virtual std::uint64_t left() const = 0;
};

}  // namespace flitwise
