// SPDX-License-Identifier: Apache-2.0
/// What a core asks its cache for, and what it is told when that is done. [COH-2.1]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coherence/cxl_line.h"

namespace flitwise {

enum class CoreOp : std::uint8_t {
  kRead,          ///< to keep: RdShared
  kReadAny,       ///< to keep, perhaps alone: RdAny
  kReadOnce,      ///< the value of now, not to keep: RdCurr
  kWrite,         ///< to keep: RdOwn, or RdOwnNoData for a whole line
  kWriteThrough,  ///< not to keep: ItoMWr for a whole line, else WrInv
  kWritePosted,   ///< the same, weakly ordered: WOWrInvF for a whole line, else WOWrInv
  kEvict,         ///< gives the line up: DirtyEvict, CleanEvict or CleanEvictNoData
};

struct CoreRequest {
  CoreOp op = CoreOp::kRead;
  std::uint32_t token = 0;  ///< the core's own name for it
  std::uint64_t address = 0;
  std::uint64_t byte_enables = kAllBytes;  ///< of writes
  CxlLine line{};                          ///< of writes
  std::uint32_t domain = 0;                ///< whose it is [COH-2.9]

  bool is_write() const {
    return op == CoreOp::kWrite || op == CoreOp::kWriteThrough || op == CoreOp::kWritePosted;
  }
};

/// Why a core cannot have what it asks for now.
enum class CoreObstacle : std::uint8_t {
  kNone,      ///< it can
  kId,        ///< no identifier is free for the message that it takes
  kLine,      ///< another request is at its line
  kWay,       ///< other requests are at all ways that it could go to
  kDomain,    ///< its line is here for another domain, and has to leave first [COH-2.9]
  kHandle,    ///< its domain has no handle yet that the home knows [CXL-7.8]
  kAddress,   ///< its translation is due [CXL-7.12]
  kNotKnown,  ///< it is never served here
};
inline constexpr std::size_t kCoreObstacles = 8;

struct CoreResult {
  CoreOp op = CoreOp::kRead;
  std::uint32_t token = 0;
  std::uint64_t address = 0;
  bool is_error = false;    ///< refused: nothing was read or written
  CxlLine line{};           ///< of reads; of writes to keep: the whole line with what was written
  bool is_at_home = false;  ///< of writes: with GO; memory gets the bytes later [COH-3.11]
};

/// The cache appends; the core takes and clears.
using CoreResults = std::vector<CoreResult>;

}  // namespace flitwise
