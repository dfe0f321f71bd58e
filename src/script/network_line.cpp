// SPDX-License-Identifier: Apache-2.0
#include "script/network_line.h"

#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "script/array_line.h"

namespace flitwise {
namespace {

constexpr const char* kNetworkArgumentNames[] = {"{setup}", "from-to", "{packet}", "number"};
constexpr std::uint64_t kMostSide = 64, kMostScriptHosts = 256, kMostScriptEdges = 4096;
constexpr std::uint64_t kMostRate = 10'000, kMostNs = 1'000'000'000;
constexpr std::size_t kMostPayload = 9000;

Complaint read_text(const Json& value, std::string& text) {
  if (!value.is_string() || value.get<std::string>().empty() ||
      value.get<std::string>().size() > 32) {
    return json_value::shown(value) + " seen; expected a name of up to 32 letters";
  }
  text = value.get<std::string>();
  return {};
}

void read_nanoseconds(JsonReader& in, const char* key, Time& time) {
  auto ns = static_cast<std::uint64_t>(time.fs / Time::from_ns(1).fs);
  in.number(key, 0, kMostNs, ns);
  time = Time::from_ns(static_cast<std::int64_t>(ns));
}

EdgeRate read_rate(JsonReader& in, const char* rate, const char* delay) {
  EdgeRate edge;
  std::uint64_t gbps = 100;
  in.number(rate, 1, kMostRate, gbps);
  edge.gbps = static_cast<double>(gbps);
  read_nanoseconds(in, delay, edge.delay);
  return edge;
}

// ["h0", "s0"] each.
Complaint read_edges(const Json& value, EdgeRate rate, NetworkPlan& plan) {
  if (!value.is_array() || value.size() > kMostScriptEdges) {
    return fmt::format("{} seen; expected up to {} pairs of names", json_value::shown(value),
                       kMostScriptEdges);
  }
  std::vector<NamedEdge> edges;
  for (const Json& pair : value) {
    NamedEdge edge{"", "", rate};
    if (!pair.is_array() || pair.size() != 2 || !read_text(pair[0], edge.from).empty() ||
        !read_text(pair[1], edge.to).empty()) {
      return json_value::shown(pair) + " seen; expected an edge such as [\"h0\", \"s0\"]";
    }
    edges.push_back(std::move(edge));
  }
  std::string problem;
  std::tie(plan, problem) = plan_of_edges(edges);
  return problem;
}

enum class TopologyWord : std::uint8_t { kDirect, kDumbbell, kLeafSpine, kFatTree, kEdges };

// Keys that the topology does not use are unknown.
void read_plan(JsonReader& in, NetworkPlan& plan) {
  std::optional<TopologyWord> given;
  in.word("topology", {"direct", "dumbbell", "leaf_spine", "fat_tree", "edges"}, given);
  const TopologyWord topology =
      given.value_or(in.has("edges") ? TopologyWord::kEdges : TopologyWord::kLeafSpine);
  const EdgeRate rate = read_rate(in, "gbps", "delay_ns");
  std::uint32_t hosts = 2, leaves = 2, spines = 4, k = 4;
  switch (topology) {
    case TopologyWord::kDirect: plan = direct_plan(rate); break;
    case TopologyWord::kDumbbell:
      in.number("hosts", 1, kMostSide, hosts);
      plan = dumbbell_plan(hosts, rate, rate);
      break;
    case TopologyWord::kLeafSpine:
      in.number("hosts", 1, kMostSide, hosts);
      in.number("leaves", 1, kMostSide, leaves);
      in.number("spines", 1, kMostSide, spines);
      plan = leaf_spine_plan(leaves, hosts, spines, rate, rate);
      break;
    case TopologyWord::kFatTree:
      in.number("k", 2, 10, k);
      if (k % 2 != 0) {
        in.complain("k", fmt::format("{} seen; expected an even number", k));
        return;
      }
      plan = fat_tree_plan(k, rate);
      break;
    case TopologyWord::kEdges:
      in.field("edges", [&](const Json& value) { return read_edges(value, rate, plan); });
      break;
  }
  if (plan.hosts > kMostScriptHosts) {
    in.complain("topology", fmt::format("{} hosts seen; expected {} at most in a script",
                                        plan.hosts, kMostScriptHosts));
  } else if (const std::string flaw = plan.complaint(); !flaw.empty()) {
    in.complain("topology", flaw);
  }
}

void read_adaptive(JsonReader& in, std::uint64_t queue, PathRules& rules) {
  auto& adaptive = rules.adaptive;
  in.flag("ar", adaptive.is_on);
  in.number("ar_mask", 0, 0xff, adaptive.mask);
  in.number("ar_value", 0, 0xff, adaptive.value);
  std::uint64_t levels = 0;
  in.number("ar_levels", 0, 1U << 20, levels);
  adaptive.level = levels == 0 ? 1 : queue / levels + 1;
  adaptive.tie = static_cast<AdaptiveTie>(in.word("ar_tie", {"random", "lowest"}));
  adaptive.is_by_flowlet = in.has("flowlet_ns");
  read_nanoseconds(in, "flowlet_ns", adaptive.flowlet_gap);
}

void read_red(JsonReader& in, RedRules& red) {
  in.flag("ecn", red.is_on);
  in.number("ecn_low", 0, std::numeric_limits<std::uint32_t>::max(), red.low);
  in.number("ecn_high", 0, std::numeric_limits<std::uint32_t>::max(), red.high);
  std::uint64_t percent = 1;
  in.number("ecn_percent", 1, 100, percent);
  red.most = static_cast<double>(percent) / 100;
}

void read_network_setup(JsonReader& in, NetworkScriptSetup& setup) {
  read_plan(in, setup.plan);
  setup.view.hash = static_cast<FlowHash>(in.word("hash", {"crc32c", "toeplitz", "xor_fold"}));
  in.flag("symmetric", setup.view.is_symmetric);
  in.flag("hash_polarization", setup.is_polarised);
  bool has_bth_ar = false;
  in.flag("bth_ar", has_bth_ar);
  setup.view.bth_mask = has_bth_ar ? 0x20 : 0;
  in.number("seed", 0, std::numeric_limits<std::uint32_t>::max(), setup.seed);
  in.number("queue", 1, std::numeric_limits<std::uint32_t>::max(), setup.queue);
  read_adaptive(in, setup.queue, setup.paths);
  read_red(in, setup.red);
  in.flag("pfc", setup.has_pfc);
  in.flag("allow_cycles", setup.allows_cycles);
  read_nanoseconds(in, "detect_ns", setup.detect_delay);
  for (const std::string& flaw : {complaint_about(setup.paths), complaint_about(setup.red)}) {
    if (!flaw.empty()) {
      in.complain("", flaw);
    }
  }
}

void read_network_packet(JsonReader& in, NetworkPacket& packet) {
  in.field("from", [&](const Json& value) { return read_text(value, packet.from); });
  in.field("to", [&](const Json& value) { return read_text(value, packet.to); });
  in.number("sport", 0, 0xffff, packet.source_port);
  in.number("dport", 0, 0xffff, packet.destination_port);
  in.number("tos", 0, 0xff, packet.tos);
  in.number("ttl", 0, 0xff, packet.ttl);
  in.hex("payload", packet.payload);
  if (packet.payload.size() > kMostPayload) {
    in.complain("payload", fmt::format("{} bytes seen; expected {} at most", packet.payload.size(),
                                       kMostPayload));
  }
}

Complaint read_port(const Json& value, NetworkLine& line) {
  std::string text;
  Complaint complaint = read_text(value, text);
  const std::size_t dash = text.find('-');
  if (complaint.empty() &&
      (dash == std::string::npos || text.find('-', dash + 1) != std::string::npos)) {
    complaint = json_value::shown(value) + " seen; expected a port such as \"leaf0-spine1\"";
  }
  if (complaint.empty()) {
    line.from = text.substr(0, dash);
    line.to = text.substr(dash + 1);
  }
  return complaint;
}

Complaint read_network_argument(NetworkArgument argument, const Json& value, NetworkLine& line) {
  switch (argument) {
    case NetworkArgument::kSetup:
      return complaint_within(value, [&](JsonReader& in) { read_network_setup(in, line.setup); });
    case NetworkArgument::kPort: return read_port(value, line);
    case NetworkArgument::kPacket:
      return complaint_within(value, [&](JsonReader& in) { read_network_packet(in, line.packet); });
    case NetworkArgument::kNumber:
      return json_value::read_number(value, 0, std::numeric_limits<std::uint32_t>::max(),
                                     line.numbers.emplace_back());
  }
  return {};
}

}  // namespace

bool begins_network(const Json& array) {
  return !array.empty() && array.front() == "network";
}

NetworkLine parse_network_line(const Json& array, int number) {
  NetworkLine line;
  line.verb = &verb_of_array(array, network_verbs(), number);
  read_arguments(
      array, *line.verb, number,
      [](NetworkArgument argument) {
        return kNetworkArgumentNames[static_cast<std::size_t>(argument)];
      },
      [&](NetworkArgument argument, const Json& value) {
        return read_network_argument(argument, value, line);
      });
  return line;
}

}  // namespace flitwise
