// SPDX-License-Identifier: Apache-2.0
/// The host's end of CXL.mem for memory that the device caches as well (HDM-DB): the rules of
/// src/coherence, cores that ask for what an engine wants, and the time that takes. [CXL-8.2]
#pragma once

#include <string>

#include "coherence/host_lines.h"
#include "cxl/line_agent.h"
#include "flitwise/config.h"

namespace flitwise {

class CxlHdmHost : public LineAgent<CxlHdmHost> {
 public:
  /// `listener` hears of states of lines; may be absent.
  CxlHdmHost(const sc_core::sc_module_name& name, const HostConfig& config, PacketPool& pool,
             LatencyTracer& tracer, LineStateListener* listener);

  /// The link has gone down: what is out fails, what is held is lost, and nothing is asked for
  /// until it is up again. [CXL-8.5]
  void link_lost() { lose(rules_.lose_all()); }

  bool is_quiet() const override {
    return core_.lines_out() == 0 && rules_.outstanding() == 0 && to_link.empty();
  }
  std::string waiting() const override;
  /// Its part, of what belongs to the measured part.
  const CxlHdmDbResult& counted() const { return done_; }

 private:
  friend LineAgent;
  const auto& cache() const { return config_.cxl_mem.cache; }
  void come(Packet& packet);
  static bool is_asked(const CxlMessage& message);
  void count_asked(bool is_write, bool is_hit);
  void count_sent(const CxlMessage& message);
  void send_all(Time inward) { send_out(now() + inward + config_.cxl_mem.bridge); }
  void count(std::uint64_t& counter, std::uint64_t n = 1) const { counter += counts_ ? n : 0; }

  const HostConfig config_;
  HostLines rules_;
  CxlHdmDbResult done_;
};

}  // namespace flitwise
