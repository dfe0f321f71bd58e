// SPDX-License-Identifier: Apache-2.0
#include "network/channel_cycles.h"

#include <algorithm>
#include <cstdint>

namespace flitwise {
namespace {

// Which channels wait for which: by channel, and the place of the next one among the ports of the
// node that it leads to.
class Waits {
 public:
  explicit Waits(const NetworkGraph& graph) : graph_(graph), first_(graph.ports() + 1) {
    for (PortId port = 0; port < graph.ports(); ++port) {
      first_[port + 1] = first_[port] + next_of(port).size();
    }
    bits_.resize(first_.back());
  }
  PortSet next_of(PortId port) const { return graph_.ports_of(graph_.port(port).to); }
  void add(PortId port, PortId next) { bits_[first_[port] + graph_.place_of(next)] = true; }
  bool has(PortId port, std::uint32_t place) const { return bits_[first_[port] + place]; }

 private:
  const NetworkGraph& graph_;
  std::vector<std::size_t> first_;
  std::vector<bool> bits_;
};

// Follows all ways of all hosts to this one.
void add_ways_to(const NextHops& hops, NodeId host, Waits& waits) {
  const NetworkGraph& graph = hops.graph();
  std::vector<bool> is_seen(graph.ports());
  std::vector<PortId> open;
  const auto see = [&](PortId port) {
    if (!is_seen[port]) {
      is_seen[port] = true;
      open.push_back(port);
    }
  };
  for (NodeId from = 0; from < graph.hosts(); ++from) {
    if (from != host) {
      const PortSet first = hops.candidates(from, host);
      std::for_each(first.begin(), first.end(), see);
    }
  }
  while (!open.empty()) {
    const PortId port = open.back();
    open.pop_back();
    if (graph.port(port).to == host) {
      continue;
    }
    for (const PortId next : hops.candidates(graph.port(port).to, host)) {
      waits.add(port, next);
      see(next);
    }
  }
}

// Depth first, without recursion: a channel that is met again while it is open closes a circle.
class Search {
 public:
  Search(const NetworkGraph& graph, const Waits& waits)
      : waits_(waits), state_(graph.ports(), State::kNew), place_(graph.ports()) {}

  std::vector<PortId> from(PortId port) {
    way_.clear();
    enter(port);
    while (!way_.empty()) {
      const PortId top = way_.back();
      const PortSet next = waits_.next_of(top);
      std::uint32_t& place = place_[top];
      while (place < next.size() && !waits_.has(top, place)) {
        ++place;
      }
      if (place == next.size()) {
        state_[top] = State::kDone;
        way_.pop_back();
        continue;
      }
      const PortId below = next[place++];
      if (state_[below] == State::kOpen) {
        return {std::find(way_.begin(), way_.end(), below), way_.end()};
      }
      enter(below);
    }
    return {};
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  void enter(PortId port) {
    if (state_[port] == State::kNew) {
      state_[port] = State::kOpen;
      way_.push_back(port);
    }
  }

  const Waits& waits_;
  std::vector<State> state_;
  std::vector<std::uint32_t> place_;
  std::vector<PortId> way_;
};

}  // namespace

std::vector<PortId> find_channel_cycle(const NextHops& hops) {
  const NetworkGraph& graph = hops.graph();
  Waits waits(graph);
  // Ways to hosts of one leaf differ in their last channel alone, which waits for none.
  std::vector<bool> is_done(graph.hosts());
  for (NodeId host = 0; host < graph.hosts(); ++host) {
    if (const std::uint32_t leaf = hops.leaf_of_host(host); !is_done[leaf]) {
      is_done[leaf] = true;
      add_ways_to(hops, host, waits);
    }
  }
  Search search(graph, waits);
  for (PortId port = 0; port < graph.ports(); ++port) {
    if (std::vector<PortId> cycle = search.from(port); !cycle.empty()) {
      return cycle;
    }
  }
  return {};
}

std::string text_of_cycle(const NetworkPlan& plan, const NetworkGraph& graph,
                          const std::vector<PortId>& cycle) {
  std::string text;
  for (const PortId port : cycle) {
    text += plan.name_of(graph.port(port).from) + " > ";
  }
  return cycle.empty() ? text : text + plan.name_of(graph.port(cycle.front()).from);
}

}  // namespace flitwise
