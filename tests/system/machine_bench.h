// SPDX-License-Identifier: Apache-2.0
/// A machine under test: brought up by its host software, run to its end, watched on its wires.
#pragma once

#include <functional>
#include <iostream>
#include <map>

#include "flitwise/link_socket.h"
#include "system/machine.h"
#include "trace/trace_sink.h"

namespace flitwise {

/// Counts TLPs on one link by direction and kind.
class WireCounter : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    if (event.packet->kind != PacketKind::kTlp) {
      return;
    }
    ++types[{event.is_up, event.packet->tlp.type}];
    ++purposes[{event.is_up, event.packet->purpose}];
  }
  std::uint64_t up(TlpType type) { return types[{true, type}]; }
  std::uint64_t down(TlpType type) { return types[{false, type}]; }
  std::uint64_t up(HandlePurpose purpose) { return purposes[{true, purpose}]; }

  std::map<std::pair<bool, TlpType>, std::uint64_t> types;
  std::map<std::pair<bool, HandlePurpose>, std::uint64_t> purposes;
};

class MachineBench {
 public:
  explicit MachineBench(const Config& config) : machine(config) {
    machine.fabric().links[0].link->watch(&wire);
  }

  /// Runs until `is_over`; false when that takes longer than `limit` of simulated time.
  bool run_until(const std::function<bool()>& is_over, Time limit = Time::from_us(2'000)) {
    const Time end = now() + limit;
    while (!is_over()) {
      if (now() > end) {
        std::cerr << machine.waiting();
        return false;
      }
      sc_core::sc_start(to_sc_time(Time::from_ns(100)));
    }
    return true;
  }
  bool bring_up(std::uint8_t epoch = 0) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    machine.boot(epoch);
    return run_until([this] { return machine.is_booted(); });
  }
  bool run_workload() {
    machine.start();
    return finish();
  }
  bool finish() {
    return run_until([this] { return machine.is_quiet(); }, Time::from_us(50'000));
  }
  HostAnswer read(std::uint64_t address, unsigned bytes) {
    HostAnswer result;
    bool is_done = false;
    machine.bridge().read(address, bytes, [&](const HostAnswer& answer) {
      result = answer;
      is_done = true;
    });
    run_until([&] { return is_done; });
    return result;
  }
  HostAnswer config(const CfgAccess& access) {
    HostAnswer result;
    bool is_done = false;
    machine.bridge().config(access, [&](const HostAnswer& answer) {
      result = answer;
      is_done = true;
    });
    run_until([&] { return is_done; });
    return result;
  }
  const BootedDevice& device(std::size_t index = 0) { return machine.booted().devices()[index]; }

  WireCounter wire;
  Machine machine;
};

}  // namespace flitwise
