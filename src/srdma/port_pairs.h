// SPDX-License-Identifier: Apache-2.0
/// UDP ports of the sessions of a NIC: pairs that nobody outside can guess, each used by one
/// session at a time. [SG-1] [SG-2] [SG-3]
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/open_table.h"
#include "crypto/keyed_stream.h"
#include "flitwise/time.h"
#include "srdma/session.h"

namespace flitwise {

struct PortRange {
  std::uint16_t first = 49152, last = 65535;
  std::uint32_t size() const { return last < first ? 0 : last - first + 1U; }
};
struct IpPair {
  std::uint32_t local = 0, remote = 0;
};

struct PortRules {
  PortRange source, destination;
  std::vector<std::uint16_t> reserved = {4791};  ///< for neither; the port of CM messages too
  /// A pair rests so long before it is drawn again. [SG-C4]
  Time quarantine = Time::from_us(100);
};

/// A tuple is that of packets that this NIC sends; its reverse is the same session. All calls but
/// draw() are O(1); draw() expects two tries at most while half of the pairs are free, and looks
/// through all of them otherwise.
class PortPairs {
 public:
  PortPairs(const PortRules& rules, KeyedStream random);

  /// None: ENOPORT, and nothing has changed. [SG-3]
  std::optional<SessionTuple> draw(const IpPair& between, Time now);
  /// One that the peer has drawn. False: it is in use or rests, or its port here is bound, or
  /// one of its ports is reserved. Ranges are those of the end that draws. [HS-5]
  bool take(const SessionTuple& tuple, Time now);
  /// It rests, if packets may have been sent by it.
  void release(const SessionTuple& tuple, Time now, bool has_been_used);
  bool is_in_use(const SessionTuple& tuple) const;

  /// A plain UDP application has the port of this NIC. False: a session has it.
  bool bind(std::uint16_t port);
  bool is_bound(std::uint16_t port) const { return bound_.find(port) != nullptr; }

  /// Pairs in use.
  std::size_t in_use() const { return in_use_; }

 private:
  struct Use {
    Time until = Time::never();  ///< a session has it; or when its rest ends
  };
  static std::uint64_t hash_tuple(const SessionTuple& tuple);
  static std::uint64_t hash_port(const std::uint16_t& port);
  static std::uint64_t hash_addresses(const std::uint64_t& addresses);
  static std::uint64_t addresses_of(const SessionTuple& tuple);
  bool is_free(const SessionTuple& tuple, Time now) const;
  bool is_reserved(std::uint16_t port) const;
  void start_use(const SessionTuple& tuple);
  void end_rests(Time now);
  void forget(const SessionTuple& tuple);

  PortRules rules_;
  KeyedStream random_;
  OpenTable<SessionTuple, Use, hash_tuple> used_;  ///< and resting
  OpenTable<std::uint16_t, bool, hash_port> bound_;
  OpenTable<std::uint16_t, std::uint32_t, hash_port> own_ports_;  ///< sessions of each
  /// Pairs between two addresses that are in use or rest.
  OpenTable<std::uint64_t, std::uint64_t, hash_addresses> pairs_;
  std::deque<std::pair<Time, SessionTuple>> resting_;  ///< oldest first
  std::size_t in_use_ = 0;
};

}  // namespace flitwise
