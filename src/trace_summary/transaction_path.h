// SPDX-License-Identifier: Apache-2.0
/// The way of one transaction, a TLP of a request or a line of CXL, cut into steps without gaps:
/// they add up to its latency. Unit: ps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/packet.h"
#include "trace_summary/wire_book.h"

namespace flitwise {

/// A unit on a wire.
struct Send {
  std::size_t wire = WireBook::kNone;
  std::string type;
  std::uint64_t uid = 0;
  std::int64_t first = 0, last = 0;
  bool is_again = false, is_damaged = false, is_lost = false;
};

struct Transaction {
  std::uint64_t uid = 0;
  std::string type, requester;
  std::optional<std::int64_t> tag;
  std::int64_t address = 0, length_dw = 0, payload_bytes = 0, domain = 0;
  bool is_counted = false;
  bool has_handle = false;  ///< the requester is a handle; completions have a BDF
  std::array<std::optional<std::int64_t>, kHops> stamps;
  std::optional<std::int64_t> done;
  std::vector<Send> sends;    ///< of the transaction itself, in the order of sending
  std::vector<Send> answers;  ///< of its completions, likewise

  std::optional<std::int64_t> stamped(Hop hop) const {
    return stamps[static_cast<std::size_t>(hop)];
  }
  /// None: its beginning or its end is not known.
  std::optional<std::int64_t> latency() const {
    const auto issue = stamped(Hop::kIssue);
    return issue && done ? std::optional(*done - *issue) : std::nullopt;
  }
};

/// Where time goes.
enum class Cause : std::uint8_t {
  kHandle,     ///< to the stamp `handle`
  kAdmission,  ///< to `queued`
  kBusy,       ///< of the time from `queued` to `sent`: its first wire had other units
  kQueue,      ///< the rest of it
  kWire,       ///< its own symbols on a wire
  kAgain,      ///< from a first attempt to the one that arrived
  kSwitch,     ///< from one wire to the next
  kReceiver,   ///< from the last wire to `received`
  kLink,       ///< from `sent` to `received`, where the trace has no unit of it
  kRootPort,   ///< to `resolved`
  kMemory,     ///< to `memory`
  kAnswer,     ///< to `completed`
};
inline constexpr std::size_t kCauses = 12;
const char* name_of(Cause cause);  ///< "handle", "wire_busy", ...
const char* text_of(Cause cause);  ///< in words

struct PathStep {
  Cause cause;
  std::size_t wire = WireBook::kNone;  ///< that it is waited for, or used
  std::int64_t from = 0, until = 0;
  bool is_answer = false;  ///< of the last completion
  std::int64_t took() const { return until - from; }
};

/// From the stamp `issue` to the end, in order; steps that take no time are left out, and none is
/// of Cause::kBusy. Of a read with its completions the way of the last one is part of it. Empty
/// where there is no latency.
std::vector<PathStep> steps_of(const Transaction& transaction);

}  // namespace flitwise
