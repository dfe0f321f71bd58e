// SPDX-License-Identifier: Apache-2.0
/// Memory that a device caches as well (HDM-DB) at its link: the rules of src/coherence, the lines,
/// a core that asks for what an engine wants, and the time that takes. [CXL-8.3]
#pragma once

#include <map>
#include <queue>
#include <string>

#include "coherence/device_memory.h"
#include "cxl/line_agent.h"
#include "cxl/line_store.h"
#include "flitwise/config.h"

namespace flitwise {

class CxlHdmDevice : public LineAgent<CxlHdmDevice>, private LineMemory {
 public:
  /// `listener` hears of states of lines; may be absent.
  CxlHdmDevice(const sc_core::sc_module_name& name, const DeviceConfig& config,
               bool breaks_single_writer, PacketPool& pool, LatencyTracer& tracer,
               LineStateListener* listener);

  /// The link has gone down: the host holds nothing any more, and is not answered. The core goes
  /// on. [CXL-8.5]
  void link_lost();

  bool is_quiet() const override {
    return core_.lines_out() == 0 && rules_.outstanding() == 0 && to_link.empty();
  }
  std::string waiting() const override;
  std::map<std::string, std::uint64_t> errors() const override;
  /// Fills in its part: of what belongs to the measured part.
  void tell(CxlHdmDbResult& result) const;

 private:
  friend LineAgent;
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

  void come(Packet& packet);
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
  LineStore lines_;
  DeviceMemory rules_;
  std::priority_queue<Access> accesses_;
  std::uint64_t numbers_ = 0;
  Time inward_{};   // from core or link to the memory: for what is done now
  CxlOutput sent_;  // scratch
  bool breaks_single_writer_;
  CxlHdmDbResult done_;
};

}  // namespace flitwise
