// SPDX-License-Identifier: Apache-2.0
/// Memory by lines as a home or a device sees it: it is asked now and answers later.
#pragma once

#include <cstdint>

#include "coherence/cxl_line.h"

namespace flitwise {

/// Whoever owns the memory tells the asker of the end of each request by its token, never within
/// the call itself.
class LineMemory {
 public:
  virtual ~LineMemory() = default;
  virtual void read(std::uint32_t token, std::uint64_t line) = 0;
  virtual void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
                     std::uint64_t byte_enables) = 0;
};

}  // namespace flitwise
