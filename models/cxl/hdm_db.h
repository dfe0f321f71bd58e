// SPDX-License-Identifier: Apache-2.0
/// Memory that a device caches as well (HDM-DB), at both ends of its link: the rules of
/// src/coherence, cores that ask for what an engine wants, and the time that takes. [CXL-8.2]
/// [CXL-8.3]
#pragma once

#include <map>
#include <string>

#include "coherence/device_memory.h"
#include "coherence/host_lines.h"
#include "coherence/memory_expander.h"
#include "common/due_queue.h"
#include "cxl/line_agent.h"
#include "flitwise/config.h"

namespace flitwise {

/// The host's end.
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

/// The device's end, with the memory.
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
