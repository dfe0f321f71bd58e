// SPDX-License-Identifier: Apache-2.0
/// A switch between network ports (docs/network.md): store and forward, static routes, one FIFO a
/// port. The rules are those of StaticRoutes and PortQueue; here is when.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/due_queue.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "network/network_result.h"
#include "network/nic_port.h"
#include "network/port_queue.h"
#include "network/static_routes.h"
#include "stats/wait_book.h"

namespace flitwise {

class NetworkSwitch final : public ComponentModule {
 public:
  /// The network port that is joined to one of its own by a cable.
  struct Neighbour {
    std::string name;           ///< also that of the port
    std::uint32_t address = 0;  ///< of IPv4; frames to it leave by the port
    double rate_gbps = 0;       ///< of the cable, either way
    Time propagation{};         ///< likewise
    std::string rate_key;       ///< of the configuration
    const NicPort* nic = nullptr;
  };

  NetworkSwitch(const sc_core::sc_module_name& name, const NetworkConfig& config);

  /// Its port, for the sockets of the neighbour. Before the simulation starts.
  NicPort& add_port(const Neighbour& neighbour);
  std::size_t ports() const { return ports_.size(); }
  NicPort& nic(std::size_t port) { return ports_[port].nic; }
  /// That waits and the way of a request name: "network.ep0".
  std::string name_of_port(const std::string& neighbour) const {
    return std::string(name()) + "." + neighbour;
  }
  std::string name_of_port(std::size_t port) const {
    return name_of_port(ports_[port].neighbour.name);
  }

  bool is_quiet() const override;
  void add_progress(Progress& sum) const override;
  std::string waiting() const override;
  void start_window() override;
  void end_window() override { window_end_ = flitwise::now(); }
  void extend_window() override { window_end_ = Time::never(); }
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;

 private:
  struct Port {
    Port(const Neighbour& one, const std::string& module, std::uint64_t room)
        : neighbour(one), nic(module.c_str(), one.propagation), queue(room) {}
    const Neighbour neighbour;
    NicPort nic;
    PortQueue queue;
    NetworkPortCounters sum, before;
    std::uint64_t came = 0;  ///< frames from the neighbour
    WaitBook waits;          ///< of frames that are ready, for its wire
    Time busy{};
  };
  struct Arriving {
    FrameRef frame;
    std::uint32_t port = 0;
  };
  void work();
  void take(const Arriving& arriving, Time now);
  void transmit(Port& port, Time now);

  const NetworkConfig config_;
  Wakeup wakeup_;
  StaticRoutes routes_;
  std::deque<Port> ports_;  // stay where they are
  DueQueue<Arriving> arriving_;
  std::array<std::uint64_t, 4> outcomes_{};  // frames, by Forwarding
  std::uint64_t dropped_ = 0;                // for want of room
  Time window_begin_{}, window_end_ = Time::never();
};

}  // namespace flitwise
