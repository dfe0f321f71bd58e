// SPDX-License-Identifier: Apache-2.0
// The table of what joins the network ports of RDMA adapters.
#include <fmt/format.h>

#include <cmath>

#include "common/quantity.h"
#include "common/ranges.h"
#include "config/sections/item_list.h"
#include "config/sections/sections.h"
#include "rdma/rdma_frame.h"

namespace flitwise::config {

namespace {

constexpr Time kLongestTime = Time::from_us(1'000'000);

Key rate_key(const std::string& path, const Access<double>& member, std::uint64_t least,
             const std::string& sentence) {
  return rate(path, member, "Gb/s", bit_rate_dimension(), 1'000'000'000,
              between(least, 10'000'000'000'000), sentence);
}

// ---- network.graph
constexpr const char* kOfNetworkSwitch = "a name such as s0";
constexpr const char* kOfNetworkEdge =
    "an edge such as {from: h0, to: s0, rate: 100Gb/s, delay: 1us}";
constexpr double kBitsOfGigabit = 1e9;

void read_network_switches(Config& config, const Value& value, const ReadContext& context) {
  std::vector<std::string> names;
  const auto read = [&](const Value& item, const std::string&) {
    const bool is_name = item.kind == Value::Kind::kScalar && !item.text.empty();
    if (!is_name) {
      context.report(item.place, item.seen() + "; expected " + kOfNetworkSwitch);
    }
    names.push_back(item.text);
    return is_name;
  };
  if (read_list("network.graph.switches", "names of switches", value, context, read)) {
    config.network.graph.switches = std::move(names);
  }
}

// Of an edge; false, and reported, where it is none from `least` to `most`.
template <class T>
bool read_edge_field(const Value& item, const char* field, const Dimension& dimension,
                     std::int64_t least, std::int64_t most, const ReadContext& context, T store) {
  const Value::Entry* const entry = item.find(field);
  if (entry == nullptr) {
    return true;
  }
  const Read<std::int64_t> read = read_quantity(entry->value.text, dimension);
  const bool is_in = read.value && *read.value >= least && *read.value <= most;
  if (!is_in) {
    context.report(
        entry->value.place,
        read.value ? fmt::format("{} {}; expected {} to {}", field, entry->value.text,
                                 write_quantity(least, dimension), write_quantity(most, dimension))
                   : read.problem);
    return false;
  }
  store(*read.value);
  return true;
}

void read_network_edges(Config& config, const Value& value, const ReadContext& context) {
  std::vector<NetworkEdgeConfig> edges;
  const ItemReader reader(context, kOfNetworkEdge);
  const auto read = [&](const Value& item, const std::string& path) {
    if (!reader.has_only(item, {"from", "to", "rate", "delay"})) {
      return false;
    }
    const std::string* const from = reader.word(item, "from", path, "_-.");
    const std::string* const to = reader.word(item, "to", path, "_-.");
    NetworkEdgeConfig& edge = edges.emplace_back();
    const bool has_rate = read_edge_field(
        item, "rate", bit_rate_dimension(), 1'000'000'000, 10'000'000'000'000, context,
        [&](std::int64_t bits) { edge.rate_gbps = static_cast<double>(bits) / kBitsOfGigabit; });
    const bool has_delay =
        read_edge_field(item, "delay", time_dimension(), 0, kLongestTime.fs, context,
                        [&](std::int64_t time) { edge.delay = Time{time}; });
    if (from == nullptr || to == nullptr || !has_rate || !has_delay) {
      return false;
    }
    edge.from = *from;
    edge.to = *to;
    return true;
  };
  if (read_list("network.graph.edges", kOfNetworkEdge, value, context, read)) {
    config.network.graph.edges = std::move(edges);
  }
}

Key network_switches_key() {
  return {
      "network.graph.switches",
      "",
      "a list of names",
      "Switches of topology graph; hosts h0, h1 and so on are there as network.hosts says.",
      {},
      {{"type", "array"}, {"items", {{"type", {"string", "integer"}}}}},
      read_network_switches,
      [](const Config& config) -> nlohmann::ordered_json { return config.network.graph.switches; }};
}

Key network_edges_key() {
  const nlohmann::ordered_json name = {{"type", {"string", "integer"}}};
  Key key = list_key("network.graph.edges", "a list of {from, to}, also with rate and delay",
                     "Links of topology graph, both ways alike, between hosts and switches; rate "
                     "and delay are network.rate and network.timing.hop where they are not there.",
                     {{"properties",
                       {{"from", name},
                        {"to", name},
                        {"rate", {{"type", "string"}}},
                        {"delay", {{"type", "string"}}}}},
                      {"required", {"from", "to"}}});
  key.read = read_network_edges;
  key.write = [](const Config& config) {
    return mapped<nlohmann::ordered_json>(
        config.network.graph.edges, [](const NetworkEdgeConfig& edge) {
          nlohmann::ordered_json item = {{"from", edge.from}, {"to", edge.to}};
          if (edge.rate_gbps) {
            item["rate"] = write_quantity(std::llround(*edge.rate_gbps * kBitsOfGigabit),
                                          bit_rate_dimension());
          }
          if (edge.delay) {
            item["delay"] = write_quantity(edge.delay->fs, time_dimension());
          }
          return item;
        });
  };
  return key;
}

}  // namespace

Keys network_keys() {
  return {
      choice(KEY(network.mode),
             "Adapters of devices with all that is behind them; or hosts that are a network port "
             "and the rules of SRDMA alone, for hundreds of them."),
      choice(
          "network.topology", AT(network.topology),
          "What joins RDMA adapters, or hosts of mode packet: a cable between each two that name "
          "each other as peers; one switch for all of them; two switches with hosts at each "
          "(dumbbell); leaves and spines; a fat tree of three stages; or switches and links one "
          "by one (graph). By switches several adapters may have the same peer."),
      count(KEY(network.hosts), between(2, 1024),
            "Hosts, named h0, h1 and so on; of mode full the first ones are those of adapters, in "
            "the order of devices."),
      count(KEY(network.leaf_spine.leaves), between(1, 256),
            "Leaf switches, leaf0 and so on, each with as many hosts as the others."),
      count(KEY(network.leaf_spine.spines), between(1, 256),
            "Spine switches, spine0 and so on, each with a link to every leaf."),
      count(KEY(network.dumbbell_links), between(1, 256), "Links between the two switches."),
      network_switches_key(),
      network_edges_key(),
      rate_key("network.rate", AT(network.rate_gbps), 1'000'000'000, "Of each link."),
      choice(KEY(network.switching),
             "A switch sends a packet on once all of it is there, or once its headers are."),
      choice(KEY(network.ecmp.hash), "Of the 5-tuple, by which a switch picks one of its ways."),
      flag("network.ecmp.symmetric", AT(network.ecmp.is_symmetric),
           "Both directions of a 5-tuple have one hash."),
      flag("network.ecmp.polarised", AT(network.ecmp.is_polarised),
           "All switches have one seed for their hash, so that those behind a switch see only "
           "some of its values."),
      count(KEY(network.routing.value), between(0, 255),
            "Packets whose ToS, masked, is this are routed adaptively."),
      count(KEY(network.routing.mask), between(0, 255), "Bits of ToS that count."),
      choice(KEY(network.routing.metric),
             "Adaptive routing takes the way with the shortest queue, or with the least use."),
      choice(KEY(network.routing.tie), "Which of several ways that are as good."),
      size(KEY(network.routing.level), between(1, Bytes{1} << 30),
           "Queues within a level of this size are as good."),
      time(KEY(network.routing.flowlet), between(Time{}, kLongestTime),
           "A 5-tuple keeps its way until it has paused for longer than this; 0: each packet has "
           "a way of its own."),
      time(KEY(network.routing.util_window), between(Time::from_ns(100), kLongestTime),
           "Over which use is measured."),
      flag("network.ecn.enabled", AT(network.ecn.is_on),
           "Switches mark packets in long queues, and drop early what cannot be marked."),
      size(KEY(network.ecn.kmin), between(0, Bytes{1} << 40), "No packet is marked up to this."),
      size(KEY(network.ecn.kmax), between(1, Bytes{1} << 40), "All are beyond this."),
      real(KEY(network.ecn.pmax), 0, 1, "Share of packets that is marked just below kmax."),
      flag("network.pfc.enabled", AT(network.pfc.is_on),
           "A switch whose queue for one neighbour is long keeps it from sending."),
      size(KEY(network.pfc.headroom), between(0, Bytes{1} << 40),
           "Room of a port for what is on the way when it stops its neighbour."),
      choice("network.background.kind", AT(network.background.kind),
             "Plain UDP packets that each host sends to others at random, beside its flows."),
      real(KEY(network.background.load), 0, 1, "Share of each host's link for them."),
      size(KEY(network.background.bytes), between(1, 4096), "Payload of such a packet."),
      time(KEY(network.background.on), between(Time::from_ns(100), kLongestTime),
           "Mean of a burst."),
      time(KEY(network.background.off), between(Time{}, kLongestTime),
           "Mean of the pause behind it."),
      peer_key(KEY(network.fault.link),
               "A link that fails, such as leaf0-spine1, both ways; none: none does.", "a link"),
      time(KEY(network.fault.at), between(Time{}, kLongestTime), "When, since the start."),
      time(KEY(network.fault.lasts), between(Time{}, kLongestTime), "For how long; 0: to the end."),
      rate_key("network.fault.rate", AT(network.fault.rate_gbps), 0,
               "What is left of its rate; 0: it is down, or as fast as before where it loses "
               "packets by chance."),
      real(KEY(network.fault.loss), 0, 1, "Share of packets that it loses by chance, each way."),
      flag(KEY(network.allow_cycles), "Routes may lead in circles, where nothing stops senders."),
      size("network.switch.queue", AT(network.switches.queue),
           between(wire_bytes_of(kLeastFrameBytes), Bytes{1} << 40),
           "Room at each output port of a switch, in bytes on the wire: for frames that have "
           "come, until their last bit has left; those without room are dropped."),
      time("network.switch.timing.latency", AT(network.switches.timing.latency), any_latency(),
           "Of the switch of topology switch between adapters: from the last bit of a frame in to "
           "its first bit out, where the port is free."),
      time(KEY(network.timing.hop), any_latency(),
           "From the last bit out of a node to where the next one has decided."),
      time(KEY(network.timing.detect), between(Time{}, kLongestTime),
           "From a link that goes down to switches that go around it."),
  };
}

}  // namespace flitwise::config
