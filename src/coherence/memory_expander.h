// SPDX-License-Identifier: Apache-2.0
/// A type 3 device: memory that only the host keeps coherent (HDM-H). It does what it is asked and
/// knows of no states. [COH-5.1] [COH-5.2]
#pragma once

#include <cstdint>

#include "coherence/bad_messages.h"
#include "coherence/line_store.h"

namespace flitwise {

class MemoryExpander {
 public:
  /// Lines from 0 up to `size` bytes exist.
  explicit MemoryExpander(std::uint64_t size) : size_(size) {}

  const BadMessageCounts& bad_messages() const { return bad_; }
  /// A message of the host has come, with its line if it has one, and is answered; the time that
  /// takes is the caller's. Returns whether a line was written.
  bool receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out);

 private:
  void requested(const CxlMessage& request, CxlOutput& out);
  bool exists(const CxlMessage& request) const { return request.address < size_; }
  bool is_sound(const CxlMessage& request);

  std::uint64_t size_;
  LineStore lines_;
  BadMessageCounts bad_;
};

}  // namespace flitwise
