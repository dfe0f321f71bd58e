// SPDX-License-Identifier: Apache-2.0
/// The host's end of CXL.mem for memory that the device caches as well (HDM-DB): the rules of
/// src/coherence, cores that ask for what an engine wants, and the time that takes. [CXL-8.2]
#pragma once

#include <systemc>

#include <map>
#include <string>
#include <vector>

#include "coherence/host_lines.h"
#include "common/wakeup.h"
#include "cxl/cxl_outbox.h"
#include "cxl/line_core.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"

namespace flitwise {

class CxlHdmHost : public sc_core::sc_module {
 public:
  LinkTarget<CxlHdmHost> from_link{"from_link"};
  CxlOutbox to_link{"to_link"};

  /// `listener` hears of states of lines; may be absent.
  CxlHdmHost(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
             LatencyTracer& tracer, LineStateListener* listener);

  /// Where the cores' work comes from; it outlives the host's end.
  void attach(Engine& engine) { core_.attach(engine); }
  /// The engine has work again.
  void wake() { wakeup_.at(now()); }

  /// The link has gone down: what is out fails, what is held is lost, and nothing is asked for
  /// until it is up again. [CXL-8.5]
  void link_lost();
  void link_up();

  bool is_quiet() const {
    return core_.lines_out() == 0 && rules_.outstanding() == 0 && to_link.empty();
  }
  std::string waiting() const;
  /// When the last answer so far was there.
  Time last_completion() const { return core_.last_completion(); }
  std::uint64_t lines_over() const { return core_.lines_over(); }
  std::map<std::string, std::uint64_t> errors() const;
  std::vector<CheckResult> checks() const;
  void start_window();
  std::vector<WaitResult> waits() const;
  /// Fills in its part: of what belongs to the measured part.
  void tell(CxlHdmDbResult& result) const;
  const HostLines& rules() const { return rules_; }

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void work();
  void ask(const CoreRequest& request, PacketRef packet);
  void send_all(Time inward);
  void count_sent(const CxlMessage& message);
  void count(std::uint64_t& counter, std::uint64_t n = 1) const { counter += counts_ ? n : 0; }

  const Config config_;
  PacketPool& pool_;
  Wakeup wakeup_;
  LineCore core_;
  HostLines rules_;
  PacketRef asking_;     // the request that a core makes now
  CxlOutput out_;        // scratch
  CoreResults results_;  // scratch
  bool is_down_ = false;
  std::uint64_t lost_lines_ = 0;
  bool counts_ = true;  // what is done now belongs to the measured part
  CxlHdmDbResult done_;
};

}  // namespace flitwise
