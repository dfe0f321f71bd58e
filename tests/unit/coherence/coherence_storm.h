// SPDX-License-Identifier: Apache-2.0
/// Random operations of several caches on few lines through one home, half of whose memory is
/// behind CXL.mem, against the sequential reference; and the faults that prove that it would
/// notice.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "coherence/device_cache.h"
#include "coherence/home_agent.h"
#include "coherence/memory_expander.h"
#include "unit/coherence/line_history.h"
#include "unit/coherence/memory_master.h"
#include "unit/coherence/monitored_agent.h"
#include "unit/coherence/random_network.h"
#include "unit/coherence/slow_memory.h"

namespace flitwise::test {

/// What the fabric does wrong on purpose.
enum class Fault {
  kNone,
  kForgottenSharer,      ///< a cache is not snooped, though it shares the line
  kForgottenOwner,       ///< the same of an owner
  kSnoopMissesEviction,  ///< a snoop does not see the line that is on its way out
  kBogusTakenForData,    ///< the Bogus bit is lost
  kSnoopOvertakesGo,     ///< the one order between channels is not kept
  kLostGo,               ///< one response vanishes
  kLostMemoryWrite,      ///< one write of memory in many does nothing
};

struct StormConfig {
  std::uint64_t seed = 1;
  std::uint64_t operations = 10'000;
  std::uint8_t caches = 4;
  std::uint32_t lines = 64;
  std::uint32_t sets = 4, ways = 2, cqids = 8;
  std::uint32_t uqids = kCxlIds;
  bool pulls_clean_evictions = false;
  bool offers_clean_evictions = true;
  Fault fault = Fault::kNone;
};

struct StormReport {
  std::uint64_t completed = 0, failed = 0;
  std::uint64_t stale_reads = 0;   ///< the line never was that while the read was out
  std::uint64_t stale_copies = 0;  ///< a cache got a line to keep that is not the newest
  std::uint64_t lost_writes = 0;   ///< lines that memory has not in the end
  std::uint64_t two_owners = 0;    ///< violations of the monitor
  std::uint64_t bad_messages = 0;
  std::uint64_t overlaps = 0;   ///< memory was asked twice for one line
  std::uint64_t left_over = 0;  ///< messages, ids, holders that are still there in the end
  bool is_stuck = false;
  std::array<std::uint64_t, 32> messages{};  ///< D2H requests by opcode
  std::uint64_t bogus = 0, deferred = 0;
  std::string first_violation;

  bool is_clean() const {
    return failed + stale_reads + stale_copies + lost_writes + two_owners + bad_messages +
                   overlaps + left_over ==
               0 &&
           !is_stuck;
  }
  std::string text() const;
};

class CoherenceStorm {
 public:
  explicit CoherenceStorm(const StormConfig& config);
  StormReport run();

 private:
  struct Core {
    std::unique_ptr<MonitoredAgent> told;
    std::unique_ptr<DeviceCache> cache;
    struct Operation {
      CoreRequest request;
      std::uint64_t issued = 0;
      bool is_passing = false;  ///< a write without a copy: it takes effect when its data leave
    };
    std::vector<Operation> operations;  // by token
    std::vector<std::uint32_t> tokens;  // not in use
    /// By CQID: the token of a passing write; whether a line is on its way out.
    std::vector<std::optional<std::uint32_t>> passing;
    std::vector<std::optional<std::uint64_t>> leaving;
  };
  /// The home's memory: even lines are the host's, odd ones the expander's.
  class Split final : public LineMemory {
   public:
    Split(LineMemory& even, LineMemory& odd) : even_(even), odd_(odd) {}
    void read(std::uint32_t token, std::uint64_t line) override { of(line).read(token, line); }
    void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
               std::uint64_t byte_enables) override {
      of(line).write(token, line, data, byte_enables);
    }

   private:
    LineMemory& of(std::uint64_t line) { return line / kCxlLineBytes % 2 == 0 ? even_ : odd_; }
    LineMemory& even_;
    LineMemory& odd_;
  };

  void issue();
  void issue(std::uint8_t port, const CoreRequest& request);
  void step();
  void deliver(const CxlOut& message);
  void deliver_to_cache(std::uint8_t port, const CxlOut& message);
  void memory_step();
  CxlLine line_in_memory(std::uint64_t line);
  void send_all(std::uint8_t port, bool has_port);
  void take_results(std::uint8_t port);
  bool swallows(CxlOut& message);
  bool misses(const CxlOut& snoop) const;
  void answer_for(std::uint8_t port, const CxlOut& snoop);
  void drain();
  void empty_caches();
  void judge_end();
  bool is_idle() const;

  StormConfig config_;
  std::mt19937_64 random_;
  RandomNetwork network_;
  SlowMemory host_memory_;
  CxlOutput master_out_;
  MemoryMaster master_;
  MemoryExpander expander_;
  Split memory_;
  HomeAgent home_;
  SingleWriterMonitor monitor_;
  std::vector<Core> cores_;
  std::vector<LineHistory> lines_;
  CxlOutput out_;
  CoreResults done_;
  std::uint64_t clock_ = 0, started_ = 0, values_ = 0;
  std::uint64_t faults_ = 0;
  StormReport report_;
};

}  // namespace flitwise::test
