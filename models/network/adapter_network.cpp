// SPDX-License-Identifier: Apache-2.0
#include "network/adapter_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {

// Its times are sums of those of frames, to the femtosecond.
AdapterNetwork::AdapterNetwork(const sc_core::sc_module_name& name, const Setup& setup)
    : ComponentModule(name),
      setup_(setup),
      wakeup_("wakeup", Time{1}),
      fabric_(setup.plan, setup.rules, Random(setup.seed).split("ecmp"), events_, packets_),
      background_(setup.network, fabric_.graph(), Random(setup.seed), events_),
      fault_(setup.network, setup.plan, fabric_, events_),
      adapter_of_(setup.plan.hosts),
      ports_(fabric_.switch_ports()),
      before_(ports_.size()) {
  wakeup_.wakes("work", [this] { work(); });
  wakeup_.at(events_.next());
}

EdgeRate AdapterNetwork::cable_of(NodeId host) const {
  return fabric_.graph().port(fabric_.graph().ports_of(host)[0]).rate;
}

NicPort& AdapterNetwork::attach(NodeId host, const std::string& device, NicPort& nic) {
  fabric_.attach(host);
  Adapter& adapter =
      adapters_.emplace_back(host, device, name() + ("_" + device), cable_of(host).delay, nic);
  adapter_of_[host] = &adapter;
  adapter.port.on_frame([this, &adapter](Frame& frame) { come(adapter, frame); });
  adapter.port.on_room([](const Frame&, Time) {});  // cables have no credits
  return adapter.port;
}

// ---- in time

// What comes at the same time as something leaves comes first.
void AdapterNetwork::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  while (arriving_.is_due(now)) {
    const Arriving one = arriving_.take();
    ++(packets_.frame(one.packet) != nullptr ? came_ : other_sent_);
    fabric_.enter(one.host, one.packet, now);
  }
  while (events_.next() <= now) {
    act(events_.front(), now);
  }
  wakeup_.at(std::min(arriving_.next(), events_.next()));
}

void AdapterNetwork::act(EventQueue::What event, Time now) {
  const std::uint32_t where = place_of(event);
  if (kind_of(event) == NetworkEvent::kArrival) {
    const FabricPackets::Index packet = fabric_.arrive(where, now);
    if (packet != FabricPackets::kNone) {
      deliver(packet, where);
    }
    return;
  }
  events_.take();
  switch (kind_of(event)) {
    case NetworkEvent::kWireFree: fabric_.wire_is_free(where, now); break;
    case NetworkEvent::kPause: stop(where, true, now); break;
    case NetworkEvent::kResume: stop(where, false, now); break;
    case NetworkEvent::kBackground:
      background_.come(where);
      send_background(where, now);
      break;
    default: fault_.work(now); break;
  }
}

// It has begun to leave its adapter.
void AdapterNetwork::come(Adapter& adapter, Frame& frame) {
  add_arriving(adapter.host, packets_.make(&frame), frame.last);
}

void AdapterNetwork::add_arriving(NodeId host, FabricPackets::Index packet, Time last) {
  const Time decided = fabric_.decided_at(host, last, packets_[packet].bytes) + setup_.latency;
  arriving_.add({packet, host}, std::max(decided, flitwise::now()));
  wakeup_.at(arriving_.next());
}

// It begins to leave its last switch. Adapters do not look at what is not for them.
void AdapterNetwork::deliver(FabricPackets::Index packet, PortId port) {
  if (Frame* const frame = packets_.frame(packet)) {
    ++gone_;
    if (Adapter* const adapter = adapter_of(fabric_.graph().port(port).to)) {
      adapter->port.send(*frame, frame->last);
    }
  } else {
    ++other_over_;
  }
  packets_.free(packet);
}

// Ahead of what its adapter has not begun to send. [NW-7]
void AdapterNetwork::send_background(NodeId host, Time now) {
  Adapter* const adapter = adapter_of(host);
  while (background_.waits(host) && !fabric_.is_paused(host)) {
    const FabricPackets::Index packet = packets_.make();
    background_.take(host, packets_[packet]);
    if (adapter == nullptr) {
      ++other_sent_;
      fabric_.send(host, packet, now);
      continue;
    }
    const EdgeRate cable = cable_of(host);
    const Time end =
        std::max(now, adapter->own.wire_free_at()) + wire_time(packets_[packet].bytes, cable.gbps);
    adapter->own.take_wire(end);
    add_arriving(host, packet, end + cable.delay);
  }
}

// [CC-6]
void AdapterNetwork::stop(PortId port, bool is_paused, Time now) {
  is_paused ? fabric_.pause(port, now) : fabric_.resume(port, now);
  const NodeId node = fabric_.graph().port(port).from;
  if (!fabric_.graph().is_host(node)) {
    return;
  }
  if (Adapter* const adapter = adapter_of(node)) {
    adapter->own.pause(is_paused);
  }
  send_background(node, now);
}

// ---- what is told of it

// Ports to adapters have the name of this module, "network.ep0"; others those of their switches.
std::string AdapterNetwork::name_of(PortId port) const {
  const Adapter* const adapter = adapter_behind(port);
  return adapter == nullptr ? fabric_.name_of(port, setup_.plan) : name() + ("." + adapter->device);
}

std::string AdapterNetwork::name_of_port(std::size_t adapter) const {
  const NetworkGraph& graph = fabric_.graph();
  return name_of(NetworkGraph::peer(graph.ports_of(adapters_[adapter].host)[0]));
}

std::vector<std::vector<std::string>> AdapterNetwork::ways(NodeId from, NodeId to) const {
  const NetworkGraph& graph = fabric_.graph();
  std::vector<std::vector<std::string>> hops;
  std::vector<NodeId> nodes = {graph.port(graph.ports_of(from)[0]).to};
  while (!nodes.empty() && nodes.front() != to) {
    std::vector<NodeId> next;
    std::vector<std::string>& names = hops.emplace_back();
    for (const NodeId node : nodes) {
      for (const PortId port : fabric_.hops().candidates(node, to)) {
        names.push_back(name_of(port));
        if (!contains(next, graph.port(port).to)) {
          next.push_back(graph.port(port).to);
        }
      }
    }
    nodes = std::move(next);
  }
  return hops;
}

void AdapterNetwork::add_progress(Progress& sum) const {
  sum.steps += came_ + gone_;
}

std::string AdapterNetwork::waiting() const {
  return sum_of<std::string>(ports_, [this](PortId port) {
    const std::uint64_t bytes = fabric_.queued_bytes(port, flitwise::now());
    return bytes == 0 ? std::string()
                      : fmt::format("{}: {} bytes wait for its wire\n", name_of(port), bytes);
  });
}

void AdapterNetwork::start_window() {
  const Time now = flitwise::now();
  window_begin_ = now;
  fabric_.start_window(now);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const NetworkPortResult row = fabric_.result_of(ports_[i], now);
    before_[i] = {row, row.paused, fabric_.busy(ports_[i], now)};
  }
  for (Adapter& adapter : adapters_) {
    adapter.pauses = fabric_.pauses_of(adapter.host, now);
  }
}

void AdapterNetwork::end_window() {
  window_end_ = flitwise::now();
}

Time AdapterNetwork::until() const {
  return std::min(window_end_, flitwise::now());
}

// A frame that waits for its wire waits in the queue; one without room does not wait.
std::vector<WaitResult> AdapterNetwork::waits() const {
  std::vector<WaitResult> all;
  const Time window = until() - window_begin_;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const std::string at = name_of(ports_[i]);
    WaitResult queue =
        fabric_.waits_of(ports_[i]).result({at, "queue", ResourceRole::kQueue, "down", "write",
                                            "network.switch.queue", setup_.rules.room});
    queue.peak = fabric_.result_of(ports_[i], until()).most_queued;
    WaitResult wire{{at, "port", ResourceRole::kServer, "down", "write",
                     key_of_wire(setup_.network, fabric_.graph(), ports_[i], setup_.rate_key), 1}};
    const Time busy = fabric_.busy(ports_[i], until()) - before_[i].busy;
    wire.busy = window > Time{} ? std::min(busy.ns() / window.ns(), 1.0) : 0;
    wire.span = window;
    all.push_back(std::move(queue));
    all.push_back(std::move(wire));
  }
  for (const Adapter& adapter : adapters_) {
    const StallCount pauses = fabric_.pauses_of(adapter.host, until()) - adapter.pauses;
    if (pauses.time > Time{}) {
      all.push_back(pause_wait(adapter.device, pauses));
    }
  }
  return all;
}

void AdapterNetwork::report(RunResult& result) const {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    NetworkPortResult row = fabric_.result_of(ports_[i], until());
    row -= before_[i].counters;
    row.paused = row.paused - before_[i].paused;
    row.name = name_of(ports_[i]);
    const Adapter* const adapter = adapter_behind(ports_[i]);
    row.to = adapter == nullptr ? setup_.plan.name_of(fabric_.graph().port(ports_[i]).to)
                                : adapter->device;
    result.rows<NetworkPortResult>().push_back(std::move(row));
  }
}

std::vector<CheckResult> AdapterNetwork::checks() const {
  std::uint64_t sent = 0;
  for (const Adapter& adapter : adapters_) {
    const FrameFaults::Counts faults = adapter.own.faults();
    sent += adapter.own.sent() - faults.lost + faults.repeated;
  }
  std::uint64_t on_cables = 0, others_on_cables = 0;
  arriving_.for_each([&](const Arriving& one) {
    ++(packets_.frame(one.packet) != nullptr ? on_cables : others_on_cables);
  });
  const std::uint64_t inside = packets_.in_use() - on_cables - others_on_cables;
  return {{name() + std::string(": frames that adapters sent came, or are on their cables"),
           sent == came_ + on_cables,
           fmt::format("{} sent and not lost, {} came, {} on cables", sent, came_, on_cables)},
          {name() + std::string(": frames that came left, wait or were dropped"),
           came_ + other_sent_ == gone_ + other_over_ + inside + fabric_.dropped(),
           fmt::format("{} came, {} left, {} inside, {} dropped; of other traffic {} came, {} left",
                       came_, gone_, inside, fabric_.dropped(), other_sent_, other_over_)}};
}

}  // namespace flitwise
