// SPDX-License-Identifier: Apache-2.0
/// A type 3 device: memory that only the host keeps coherent (HDM-H). It does what it is asked and
/// knows of no states. [COH-5.1] [COH-5.2]
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/bad_messages.h"
#include "coherence/cxl_line.h"

namespace flitwise {

class MemoryExpander {
 public:
  /// Lines from 0 up to `size` bytes exist. `memory` is asked with Tags as tokens.
  MemoryExpander(std::uint64_t size, LineMemory& memory) : size_(size), memory_(memory) {}

  std::size_t outstanding() const { return outstanding_; }
  const BadMessageCounts& bad_messages() const { return bad_; }

  /// A message of the host has come, with its line if it has one.
  void receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out);
  /// The memory has done what it was asked for under this token.
  void memory_read(std::uint32_t token, const CxlLine& line, CxlOutput& out);
  void memory_written(std::uint32_t token, CxlOutput& out);

 private:
  void requested(const CxlMessage& request, CxlOutput& out);
  void requested_with_data(const CxlMessage& request, const CxlLine& line, CxlOutput& out);
  bool exists(const CxlMessage& request) const { return request.address < size_; }
  bool is_sound(const CxlMessage& request);
  void open(const CxlMessage& request);

  struct Request {
    bool is_out = false;
    CxlMessage message;
  };
  std::uint64_t size_;
  LineMemory& memory_;
  std::vector<Request> requests_;  // by Tag, up to the highest one seen
  std::size_t outstanding_ = 0;
  BadMessageCounts bad_;
};

}  // namespace flitwise
