// SPDX-License-Identifier: Apache-2.0
/// A device cache (types 1 and 2) at its link: the rules of src/coherence, a core that asks it for
/// what an engine wants, and the time that takes. [CXL-7.1] [CXL-7.2]
#pragma once

#include <string>
#include <vector>

#include "coherence/device_cache.h"
#include "cxl/domain_field.h"
#include "cxl/line_agent.h"
#include "endpoint/line_seams.h"
#include "flitwise/config.h"

namespace flitwise {

class CxlCacheDevice : public LineAgent<CxlCacheDevice> {
 public:
  /// `field`: what its requests say of their domains, whom `names` knows [CXL-7.4]. `cache_id`: its
  /// port at the home. `listener` hears of states of lines; may be absent.
  CxlCacheDevice(const sc_core::sc_module_name& name, const DeviceConfig& config,
                 const CxlDomainField& field, LineNames& names, std::uint8_t cache_id,
                 PacketPool& pool, LatencyTracer& tracer, LineStateListener* listener);

  /// The core's addresses are translated by the device; it outlives the cache. [CXL-7.12]
  void attach(LineAddresses& addresses);
  using LineAgent::attach;

  /// A message that its rules know nothing of.
  void send(PacketRef message);

  /// The home says when memory has a whole line that was written through, beside the wire: what it
  /// says there ends before. [COH-3.11]
  void write_over(std::uint64_t line, bool is_written, Time when) {
    core_.write_over(line, is_written, when);
    wake();
  }

  /// The link has gone down: what is out fails, what is held is lost, and nothing is asked for
  /// until it is up again. `lines_received`: of those that were sent, with the home. [CXL-7.5]
  void link_lost(std::uint64_t lines_received);

  bool is_quiet() const override { return core_.lines_out() == 0 && rules_.outstanding() == 0; }
  std::string waiting() const override;
  /// Of the measured window.
  void report(RunResult& result) const override;
  void start_window() override;
  std::vector<WaitResult> waits() const override;
  std::map<std::string, std::uint64_t> errors() const override;

 private:
  friend LineAgent;
  const CxlCacheConfig& cache() const { return config_.cxl.cache; }
  void come(Packet& packet);
  static bool is_asked(const CxlMessage& message);
  CoreObstacle obstacle(const CoreRequest& request);
  void request(const CoreRequest& request);
  void name_domain(Packet& packet) const;
  Time naming() const { return name_.latency + place_.latency; }
  void let_go_of_handles();
  void end_use(LineAddresses::Use& use);
  void count_asked(bool is_write, bool is_hit);
  void count_sent(const CxlMessage& message);
  void send_all(Time inward) { send_out(now() + inward); }

  const DeviceConfig config_;
  DeviceCache rules_;
  const CxlDomainField field_;
  LineNames& names_;
  LineAddresses* addresses_ = nullptr;    // null: the core's are those of the host
  LineAddresses::Answer place_;           // of the request that the core makes now
  std::vector<LineAddresses::Use> uses_;  // by token of the core
  Handles::Answer name_;                  // of the request that the core makes now
  std::vector<HandlePin> pins_;   // by token of the core: of requests that are out [DHI D10]
  std::uint64_t unnamed_ = 0;     // requests that nothing could name
  std::uint64_t lines_sent_ = 0;  // Bogus ones aside, since the link came up
  CxlCacheResult done_, window_;
};

}  // namespace flitwise
