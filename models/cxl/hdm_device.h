// SPDX-License-Identifier: Apache-2.0
/// Memory that a device caches as well (HDM-DB) at its link: the rules of src/coherence, the lines,
/// a core that asks for what an engine wants, and the time that takes. [CXL-8.3]
#pragma once

#include <systemc>

#include <map>
#include <queue>
#include <string>
#include <vector>

#include "coherence/device_memory.h"
#include "common/wakeup.h"
#include "cxl/cxl_outbox.h"
#include "cxl/line_core.h"
#include "cxl/line_store.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"

namespace flitwise {

class CxlHdmDevice : public sc_core::sc_module, private LineMemory {
 public:
  LinkTarget<CxlHdmDevice> from_link{"from_link"};
  CxlOutbox to_link{"to_link"};

  /// `listener` hears of states of lines; may be absent.
  CxlHdmDevice(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
               LatencyTracer& tracer, LineStateListener* listener);

  /// Where the core's work comes from; it outlives the device's end.
  void attach(Engine& engine) { core_.attach(engine); }
  /// The engine has work again.
  void wake() { wakeup_.at(now()); }

  /// The link has gone down: the host holds nothing any more, and is not answered. The core goes
  /// on. [CXL-8.5]
  void link_lost();

  bool is_quiet() const {
    return core_.lines_out() == 0 && rules_.outstanding() == 0 && to_link.empty();
  }
  std::string waiting() const;
  /// When the last request of the core so far was over.
  Time last_completion() const { return core_.last_completion(); }
  std::uint64_t lines_over() const { return core_.lines_over(); }
  std::map<std::string, std::uint64_t> errors() const;
  std::vector<CheckResult> checks() const;
  void start_window();
  std::vector<WaitResult> waits() const;
  /// Fills in its part: of what belongs to the measured part.
  void tell(CxlHdmDbResult& result) const;
  const DeviceMemory& rules() const { return rules_; }

 private:
  /// What memory is asked for; done at its time, in order where times are the same.
  struct Access {
    Time done{};
    std::uint64_t number = 0;
    std::uint32_t token = 0;
    bool is_read = false;
    bool counts = true;
    CxlLine line{};
    bool operator<(const Access& other) const {  // first on top
      return done != other.done ? other.done < done : other.number < number;
    }
  };

  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void read(std::uint32_t token, std::uint64_t line) override;
  void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
             std::uint64_t byte_enables) override;
  void access(Access wanted);
  void work();
  void end_accesses(Time now);
  bool is_in_memory(const CoreRequest& request) const { return request.address < config_.memory; }
  void ask(const CoreRequest& request, bool counts);
  void send_all();
  bool swallows(const CxlOut& out);
  void count(std::uint64_t& counter) const { counter += counts_ ? 1 : 0; }

  const CxlDeviceConfig config_;
  PacketPool& pool_;
  Wakeup wakeup_;
  LineCore core_;
  LineStore lines_;
  DeviceMemory rules_;
  std::priority_queue<Access> accesses_;
  std::uint64_t numbers_ = 0;
  Time inward_{};        // from core or link to the memory: for what is done now
  CxlOutput out_;        // scratch
  CxlOutput sent_;       // scratch
  CoreResults results_;  // scratch
  bool breaks_single_writer_;
  bool counts_ = true;  // what is done now belongs to the measured part
  CxlHdmDbResult done_;
};

}  // namespace flitwise
