// SPDX-License-Identifier: Apache-2.0
/// What a root port counts, and whom it tells of what it refuses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "root_complex/port_seams.h"
#include "tlp/tlp_check.h"

namespace flitwise {

/// What became of the TLPs from the link since the start of the run; each is in exactly one of the
/// first group or still waits for memory. Units: TLPs, bytes.
struct RootPortCounters {
  std::uint64_t writes = 0, reads = 0, interrupts = 0, messages = 0, handle_messages = 0,
                completions = 0, refused = 0;
  std::uint64_t received = 0;
  std::uint64_t settled = 0;  ///< requests of engines and scripts that were served or refused
  std::uint64_t nonposted = 0,
                answered = 0;  ///< requests that want an answer, and those that have it
  std::uint64_t written_bytes = 0, interrupt_bytes = 0, dropped_bytes = 0;  ///< of MWr
};

class PortRecord {
 public:
  explicit PortRecord(const char* port) : port_(port) {}
  void set_host(PortHost& host) { host_ = &host; }
  PortHost* host() const { return host_; }
  void observe_by(const Observer& observer) { observer_ = &observer; }

  RootPortCounters counters;
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  void count(const std::string& kind) { ++errors_[kind]; }
  /// For whoever observes the run.
  void observe(const char* what, const char* detail, const Packet& packet) const;
  /// A request is served or refused. What devices ask for on their own account, to get at the
  /// requests of an engine, is not counted.
  void settle(const Packet& packet);
  /// An error that takes nothing from the packet's way: counted by kind, and reported.
  void note(const Packet& packet, cfg::aer::Uncorrectable error, const char* kind,
            const char* detail);
  /// The packet ends here.
  void drop(const Packet& packet, cfg::aer::Uncorrectable error, const char* kind);
  /// Without an answer, and a fatal error. [LNK-9.17]
  void drop_malformed(const Packet& packet, TlpViolation violation);
  std::vector<CheckResult> checks() const;

 private:
  void end(const Packet& packet);

  const char* const port_;
  PortHost* host_ = nullptr;
  const Observer* observer_ = nullptr;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace flitwise
