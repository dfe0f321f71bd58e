// SPDX-License-Identifier: Apache-2.0
/// Random operations of a host and of the core of a device on the device's own memory, against the
/// sequential reference.
#pragma once

#include <string>

#include "coherence/device_memory.h"
#include "coherence/host_lines.h"
#include "unit/coherence/line_history.h"
#include "unit/coherence/monitored_agent.h"
#include "unit/coherence/random_network.h"
#include "unit/coherence/slow_memory.h"

namespace flitwise::test {

/// What the fabric does wrong on purpose.
enum class MemFault {
  kNone,
  kIgnoredBackInvalidation,  ///< some BISnp are answered with BIRspI, and the host never sees them
  kWrongConflictOrder,       ///< BIConflictAck overtakes the Cmp before it
  kLostSnoopAnswer,          ///< one BIRsp vanishes
};

struct MemStormConfig {
  std::uint64_t seed = 1;
  std::uint64_t operations = 10'000;
  std::uint32_t lines = 64;
  std::uint32_t sets = 4, ways = 4, ids = 8;
  MemFault fault = MemFault::kNone;
};

struct MemStormReport {
  std::uint64_t completed = 0, failed = 0, stale = 0, lost_writes = 0, two_owners = 0;
  std::uint64_t bad_messages = 0, left_over = 0, overlaps = 0;
  std::uint64_t early = 0, late = 0, write_backs = 0, snoops = 0;
  bool is_stuck = false;
  bool is_clean() const {
    return failed + stale + lost_writes + two_owners + bad_messages + left_over + overlaps == 0 &&
           !is_stuck;
  }
  std::string text() const;
};

class MemStorm {
 public:
  explicit MemStorm(const MemStormConfig& config);
  MemStormReport run();

 private:
  struct Core {
    std::vector<CoreRequest> requests;  // by token
    std::vector<std::uint64_t> issued;
    std::vector<std::uint32_t> tokens;
  };
  void issue(bool is_host);
  void step();
  void deliver(const CxlOut& message);
  bool swallows(const CxlOut& message);
  void drain();
  void empty_host();
  void judge_end();
  void send_all();
  void take_results(bool is_host);
  bool is_idle() const;

  MemStormConfig config_;
  std::mt19937_64 random_;
  RandomNetwork network_;
  SlowMemory slow_;
  SingleWriterMonitor monitor_;
  MonitoredAgent host_told_, device_told_;
  HostLines host_;
  DeviceMemory device_;
  std::array<Core, 2> cores_;  // host, device
  std::vector<LineHistory> lines_;
  CxlOutput out_;
  CoreResults done_;
  std::uint64_t clock_ = 0, started_ = 0, values_ = 0, faults_ = 0;
  MemStormReport report_;
};

}  // namespace flitwise::test
