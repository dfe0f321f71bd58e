// SPDX-License-Identifier: Apache-2.0
/// Memory that a device caches as well (HDM-DB) at its link: the rules of src/coherence, the lines,
/// a core that asks for what an engine wants, and the time that takes. [CXL-8.3]
#pragma once

#include <map>
#include <string>

#include "coherence/device_memory.h"
#include "coherence/memory_expander.h"
#include "common/due_queue.h"
#include "cxl/line_agent.h"
#include "flitwise/config.h"

namespace flitwise {

class CxlHdmDevice : public LineAgent<CxlHdmDevice>, private LineMemory {
 public:
  /// `listener` hears of states of lines; may be absent. stand_in: may be empty.
  CxlHdmDevice(const sc_core::sc_module_name& name, const DeviceConfig& config, CxlStandIn stand_in,
               PacketPool& pool, LatencyTracer& tracer, LineStateListener* listener);

  /// The link has gone down: the host holds nothing any more, and is not answered. The core goes
  /// on. [CXL-8.5]
  void link_lost();

  bool is_quiet() const override {
    return core_.lines_out() == 0 && rules_.outstanding() == 0 && to_link.empty();
  }
  std::string waiting() const override;
  std::map<std::string, std::uint64_t> errors() const override;
  /// Its part, of what belongs to the measured part.
  const CxlHdmDbResult& counted() const { return done_; }

 private:
  friend LineAgent;
  /// What memory is asked for.
  struct Access {
    std::uint32_t token = 0;
    bool is_read = false;
    bool counts = true;
    CxlLine line{};
  };

  void come(Packet& packet);
  void read(std::uint32_t token, std::uint64_t line) override;
  void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
             std::uint64_t byte_enables) override;
  void access(const Access& wanted);
  void work();
  void end_accesses(Time now);
  bool is_in_memory(const CoreRequest& request) const { return request.address < config_.memory; }
  void ask(const CoreRequest& request, bool counts);
  void send_all();
  bool is_answered(const CxlOut& out);
  void count(std::uint64_t& counter) const { counter += counts_ ? 1 : 0; }

  const CxlDeviceConfig config_;
  LineStore lines_;
  DeviceMemory rules_;
  DueQueue<Access> accesses_;
  Time inward_{};   // from core or link to the memory: for what is done now
  CxlOutput sent_;  // scratch
  const CxlStandIn stand_in_;
  CxlHdmDbResult done_;
};

}  // namespace flitwise
