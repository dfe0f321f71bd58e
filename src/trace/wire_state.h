// SPDX-License-Identifier: Apache-2.0
/// What the units on the wires of a link tell of its two ends, as somebody with a protocol analyser
/// would reckon it: requests without their completion, and credits. Units that are sent again, lost
/// or damaged change nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "trace/trace_sink.h"

namespace flitwise {

/// Is the completion the last of its request? [LNK-2.5]
bool is_last_completion(const Tlp& completion);

/// Non-posted requests of one requester, by what their completions name them by.
struct RequestName {
  Bdf requester;
  std::uint16_t tag = 0;
  std::uint64_t key() const { return std::uint64_t{requester.value} << 16 | tag; }
};

/// One direction of a link.
class WireState {
 public:
  /// A unit that was sent in this direction, and one that came in the other.
  void sent(const TraceEvent& event);
  void came(const TraceEvent& event);

  /// Non-posted requests sent, without their last completion.
  std::uint32_t requests_out() const { return static_cast<std::uint32_t>(out_.size()); }
  /// Header credits of a class that are left, by the last that was announced; none: they are
  /// infinite, or nothing has been announced. [LNK-8.2]
  std::optional<std::uint32_t> header_credits(FcClass fc_class) const;

 private:
  struct Credits {
    bool is_told = false, is_infinite = false;
    unsigned shift = 0;
    std::uint32_t limit = 0, taken = 0;
  };
  std::array<Credits, kFcClasses> credits_;
  std::unordered_map<std::uint64_t, std::uint64_t> out_;  // uid by RequestName::key()
};

}  // namespace flitwise
