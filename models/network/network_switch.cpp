// SPDX-License-Identifier: Apache-2.0
#include "network/network_switch.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

std::size_t index_of(Forwarding outcome) {
  return static_cast<std::size_t>(outcome);
}

}  // namespace

// Its times are sums of those of frames, to the femtosecond.
NetworkSwitch::NetworkSwitch(const sc_core::sc_module_name& name, const NetworkConfig& config)
    : ComponentModule(name), config_(config), wakeup_("wakeup", Time{1}) {
  wakeup_.wakes("work", [this] { work(); });
}

NicPort& NetworkSwitch::add_port(const Neighbour& neighbour) {
  const auto number = static_cast<std::uint32_t>(ports_.size());
  routes_.add(neighbour.address, number);
  Port& port = ports_.emplace_back(neighbour, std::string(name()) + "_" + neighbour.name,
                                   config_.switches.queue);
  port.nic.on_frame([this, number](Frame& frame) {
    arriving_.add({&frame, number}, std::max(frame.last, flitwise::now()));
    wakeup_.at(arriving_.next());
  });
  port.nic.on_room([](const Frame&, Time) {});  // cables have no credits
  return port.nic;
}

// What has left makes room for what comes at the same time.
void NetworkSwitch::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  while (arriving_.is_due(now)) {
    take(arriving_.take(), now);
  }
  Time next = arriving_.next();
  for (Port& port : ports_) {
    transmit(port, now);
    next = std::min(next, port.queue.next());
  }
  wakeup_.at(next);
}

// Store and forward: all of it is there.
void NetworkSwitch::take(const Arriving& arriving, Time now) {
  ++ports_[arriving.port].came;
  const StaticRoutes::Way way = routes_.forward(arriving.frame->bytes);
  ++outcomes_[index_of(way.outcome)];
  if (way.outcome != Forwarding::kGoesOn) {
    return;
  }
  Port& out = ports_[way.port];
  if (!out.queue.push(arriving.frame, now + config_.switches.timing.latency, now)) {
    ++out.sum.drops;
    ++dropped_;
  }
}

void NetworkSwitch::transmit(Port& port, Time now) {
  if (port.queue.next() > now) {
    return;
  }
  port.waits.add(port.queue.ready(), now);
  const Time span = {
      static_cast<std::int64_t>(port.queue.front().wire_bytes * 8e6 / port.neighbour.rate_gbps)};
  const FrameRef frame = port.queue.start(now, span);
  port.busy += span;
  ++port.sum.packets;
  port.sum.bytes += frame->wire_bytes;
  port.nic.send(*frame, now + span);
}

bool NetworkSwitch::is_quiet() const {
  return arriving_.empty() &&
         all_of(ports_, [](const Port& port) { return port.queue.waiting() == 0; });
}

void NetworkSwitch::add_progress(Progress& sum) const {
  for (const Port& port : ports_) {
    sum.steps += port.came + port.sum.packets;
  }
}

std::string NetworkSwitch::waiting() const {
  return sum_of<std::string>(ports_, [this](const Port& port) {
    return port.queue.waiting() == 0
               ? std::string()
               : fmt::format("{}: {} frames wait for its wire\n", name_of_port(port.neighbour.name),
                             port.queue.waiting());
  });
}

void NetworkSwitch::start_window() {
  const Time now = flitwise::now();
  window_begin_ = now;
  for (Port& port : ports_) {
    port.before = port.sum;
    port.queue.start_window(now);
    port.waits.start_window(now);
    port.busy = Time{};
  }
}

// A frame that waits for its wire waits in the queue; one without room does not wait.
std::vector<WaitResult> NetworkSwitch::waits() const {
  std::vector<WaitResult> all;
  const Time window = std::min(window_end_, flitwise::now()) - window_begin_;
  for (const Port& port : ports_) {
    const std::string at = name_of_port(port.neighbour.name);
    WaitResult queue = port.waits.result({at, "queue", ResourceRole::kQueue, "down", "write",
                                          "network.switch.queue", config_.switches.queue});
    queue.peak = port.queue.peak();
    WaitResult wire{
        {at, "port", ResourceRole::kServer, "down", "write", port.neighbour.rate_key, 1}};
    wire.busy = window > Time{} ? std::min(port.busy.ns() / window.ns(), 1.0) : 0;
    wire.span = window;
    all.push_back(std::move(queue));
    all.push_back(std::move(wire));
  }
  return all;
}

void NetworkSwitch::report(RunResult& result) const {
  for (const Port& port : ports_) {
    NetworkPortResult row;
    static_cast<NetworkPortCounters&>(row) = port.sum;
    row -= port.before;
    row.name = name_of_port(port.neighbour.name);
    row.most_queued = port.queue.peak();
    result.rows<NetworkPortResult>().push_back(std::move(row));
  }
}

Component::Counts NetworkSwitch::errors() const {
  Counts all;
  const auto add = [&all](const char* kind, std::uint64_t count) {
    if (count > 0) {
      all[kind] = count;
    }
  };
  add("network_queue_full", dropped_);
  add("network_bad_header", outcomes_[index_of(Forwarding::kBadHeader)]);
  add("network_ttl", outcomes_[index_of(Forwarding::kTtl)]);
  add("network_no_route", outcomes_[index_of(Forwarding::kNoRoute)]);
  return all;
}

std::vector<CheckResult> NetworkSwitch::checks() const {
  std::uint64_t came = 0, expected = 0, left = 0, waiting = 0;
  for (const Port& port : ports_) {
    const FrameFaults::Counts faults = port.neighbour.nic->faults();
    expected += port.neighbour.nic->sent() - faults.lost + faults.repeated;
    came += port.came;
    left += port.sum.packets;
    waiting += port.queue.waiting();
  }
  const std::uint64_t dropped =
      sum_of<std::uint64_t>(errors(), [](const auto& kind) { return kind.second; });
  return {{name() + std::string(": frames that adapters sent came, or are on their cables"),
           expected == came + arriving_.size(),
           fmt::format("{} sent and not lost, {} came, {} on cables", expected, came,
                       arriving_.size())},
          {name() + std::string(": frames that came left, wait or were dropped"),
           came == left + waiting + dropped,
           fmt::format("{} came, {} left, {} wait, {} dropped", came, left, waiting, dropped)}};
}

}  // namespace flitwise
