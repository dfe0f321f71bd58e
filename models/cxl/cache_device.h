// SPDX-License-Identifier: Apache-2.0
/// A device cache (types 1 and 2) at its link: the rules of src/coherence, a core that asks it for
/// what an engine wants, and the time that takes. [CXL-7.1] [CXL-7.2]
#pragma once

#include <systemc>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coherence/device_cache.h"
#include "common/wakeup.h"
#include "cxl/cxl_outbox.h"
#include "cxl/line_core.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"
#include "trace/latency_tracer.h"

namespace flitwise {

class CxlCacheDevice : public sc_core::sc_module {
 public:
  LinkTarget<CxlCacheDevice> from_link{"from_link"};
  CxlOutbox to_link{"to_link"};

  /// `cache_id`: its port at the home. `listener` hears of states of lines; may be absent.
  CxlCacheDevice(const sc_core::sc_module_name& name, const Config& config, std::uint8_t cache_id,
                 PacketPool& pool, LatencyTracer& tracer, LineStateListener* listener);

  /// Where the core's work comes from; it outlives the cache.
  void attach(Engine& engine) { core_.attach(engine); }
  /// The engine has work again.
  void wake() { wakeup_.at(now()); }

  /// A message that its rules know nothing of.
  void send(PacketRef message);

  /// The home says when memory has a whole line that was written through, beside the wire: what it
  /// says there ends before. [COH-3.11]
  void write_over(std::uint64_t line, bool is_written, Time when) {
    core_.write_over(line, is_written, when);
    wakeup_.at(now());
  }

  /// The link has gone down: what is out fails, what is held is lost, and nothing is asked for
  /// until it is up again. `lines_received`: of those that were sent, with the home. [CXL-7.5]
  void link_lost(std::uint64_t lines_received);
  void link_up();

  bool is_quiet() const { return core_.lines_out() == 0 && rules_.outstanding() == 0; }
  std::string waiting() const;
  /// When the last answer so far was there.
  Time last_completion() const { return core_.last_completion(); }
  std::uint64_t lines_over() const { return core_.lines_over(); }
  std::map<std::string, std::uint64_t> errors() const;
  std::vector<CheckResult> checks() const;
  /// Of the measured window.
  CxlCacheResult result() const;
  void start_window();
  std::vector<WaitResult> waits() const;
  const DeviceCache& rules() const { return rules_; }
  /// What D2H Req of a domain say of it; by default nothing. [CXL-7.4]
  void name_domains(std::function<std::uint64_t(DomainId)> identity) {
    identity_ = std::move(identity);
  }

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void work();
  void ask(const CoreRequest& request, PacketRef packet);
  void send_all();
  void count_sent(const CxlMessage& message);

  const Config config_;
  PacketPool& pool_;
  Wakeup wakeup_;
  LineCore core_;
  DeviceCache rules_;
  std::function<std::uint64_t(DomainId)> identity_;
  PacketRef asking_;     // the request that the core makes now
  bool counts_ = true;   // what is done now belongs to the measured part
  CxlOutput out_;        // scratch
  CoreResults results_;  // scratch
  bool is_down_ = false;
  std::uint64_t lines_sent_ = 0;  // Bogus ones aside, since the link came up
  std::uint64_t lost_lines_ = 0;
  CxlCacheResult done_, window_;
};

}  // namespace flitwise
