// SPDX-License-Identifier: Apache-2.0
// Table of the section `system`.
#include <fmt/format.h>

#include "common/ranges.h"
#include "config/sections/item_list.h"
#include "config/sections/sections.h"
#include "topology/graph.h"

namespace flitwise::config {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOfNode = "a node such as {name: sw0, kind: switch}";
constexpr const char* kOfEdge = "an edge such as {from: rp0, to: sw0}";
const std::vector<std::string> kKinds = words_of<NodeKind>();

bool read_kind(const std::string& word, const Place& place, const ReadContext& context,
               NodeKind& kind) {
  if (const auto known = named<NodeKind>(word)) {
    kind = *known;
    return true;
  }
  const bool is_future = word == "nic_switch" || word == "host";
  context.report(place, fmt::format("{} '{}'{}; expected {}{}", is_future ? "kind" : "unknown kind",
                                    word, is_future ? " is not modelled yet" : "",
                                    alternatives(kKinds), nearest_hint(word, kKinds, "kind")));
  return false;
}

bool read_host(const Value& item, const std::string& path, const ReadContext& context,
               unsigned& host) {
  const Value::Entry* const entry = item.find("host");
  if (entry == nullptr) {
    return true;
  }
  const auto number = read_whole(entry->value.text);
  if (entry->value.kind != Value::Kind::kScalar || !number.value || *number.value > 15) {
    context.report(entry->value.place, entry->value.seen() + "; expected the number of a host");
    return false;
  }
  host = static_cast<unsigned>(*number.value);
  if (context.note) {
    context.note(path + ".host", entry->value.place);
  }
  return true;
}

void read_nodes(Config& config, const Value& value, const ReadContext& context) {
  std::vector<NodeConfig> nodes;
  const ItemReader reader(context, kOfNode);
  const auto read = [&](const Value& item, const std::string& path) {
    if (!reader.has_only(item, {"name", "kind", "host"})) {
      return false;
    }
    NodeConfig& node = nodes.emplace_back();
    const std::string* const name = reader.word(item, "name", path, "_-");
    const std::string* const kind = reader.word(item, "kind", path, "_");
    if (name == nullptr || kind == nullptr ||
        !read_kind(*kind, item.find("kind")->value.place, context, node.kind) ||
        !read_host(item, path, context, node.host)) {
      return false;
    }
    node.name = *name;
    return true;
  };
  if (read_list("system.nodes", kOfNode, value, context, read)) {
    config.system.nodes = std::move(nodes);
  }
}

void read_edges(Config& config, const Value& value, const ReadContext& context) {
  std::vector<EdgeConfig> edges;
  const ItemReader reader(context, kOfEdge);
  const auto read = [&](const Value& item, const std::string& path) {
    if (!reader.has_only(item, {"from", "to"})) {
      return false;
    }
    const std::string* const from = reader.word(item, "from", path, "_-.");
    const std::string* const to = reader.word(item, "to", path, "_-.");
    if (from != nullptr && to != nullptr) {
      edges.push_back({*from, *to});
    }
    return from != nullptr && to != nullptr;
  };
  if (read_list("system.edges", kOfEdge, value, context, read)) {
    config.system.edges = std::move(edges);
  }
}

Key nodes_key() {
  Key key = list_key("system.nodes", "a list of {name, kind}, of root ports also host",
                     "Nodes of topology graph; root ports rp0, rp1, h1.rp0 and so on are there "
                     "without being named.",
                     {{"properties",
                       {{"name", {{"type", {"string", "integer"}}}},
                        {"kind", {{"enum", kKinds}}},
                        {"host", {{"type", "integer"}, {"minimum", 0}, {"maximum", 15}}}}},
                      {"required", {"name", "kind"}}});
  key.read = read_nodes;
  key.write = [](const Config& config) {
    auto list = ordered_json::array();
    for (const NodeConfig& node : config.system.nodes) {
      ordered_json item = {{"name", node.name}, {"kind", spelling(node.kind)}};
      if (node.host > 0) {
        item["host"] = node.host;
      }
      list.push_back(std::move(item));
    }
    return list;
  };
  return key;
}

void read_egress(Config& config, const Value& value, const ReadContext& context) {
  std::vector<std::string> names;
  const auto read = [&](const Value& item, const std::string&) {
    names.push_back(item.text);
    if (item.kind != Value::Kind::kScalar) {
      context.report(item.place, item.seen() + "; expected the name of a node");
    }
    return item.kind == Value::Kind::kScalar;
  };
  if (read_list("system.acs.egress", "names of nodes", value, context, read)) {
    config.system.acs.egress = std::move(names);
  }
}

Key egress_key() {
  return {"system.acs.egress",
          "",
          "a list of names of nodes",
          "Nodes that no peer may send requests to, nor to what is behind the same port of a "
          "switch: they are redirected where p2p_request is redirect, else an ACS violation; "
          "requests to all other ports go across.",
          {},
          {{"type", "array"}, {"items", {{"type", {"string", "integer"}}}}},
          read_egress,
          [](const Config& config) -> ordered_json { return config.system.acs.egress; }};
}

Key edges_key() {
  Key key = list_key(
      "system.edges", "a list of {from, to}",
      "Links of topology graph: 'to' is below 'from', and ports of a switch are in the order of "
      "its edges.",
      {{"properties",
        {{"from", {{"type", {"string", "integer"}}}}, {"to", {{"type", {"string", "integer"}}}}}},
       {"required", {"from", "to"}}});
  key.read = read_edges;
  key.write = [](const Config& config) {
    return mapped<ordered_json>(config.system.edges, [](const EdgeConfig& edge) -> ordered_json {
      return {{"from", edge.from}, {"to", edge.to}};
    });
  };
  return key;
}

}  // namespace

Keys system_keys() {
  return {
      choice(KEY(system.topology),
             "One root port for each device, all devices of a host below one switch, or nodes and "
             "edges."),
      count(KEY(system.hosts), between(1, kMostHosts),
            "Hosts, each with memory, a translation agent and root ports of its own; names of what "
            "belongs to the second one start with h1., and so on."),
      count(KEY(system.devices), between(1, kMostDevices),
            "Number of devices of each host, named ep0, ep1 and so on; of topology direct and "
            "switch."),
      nodes_key(),
      edges_key(),
      choice(KEY(system.switch_mode), "Whether switches know handles in the Requester ID field."),
      flag("system.source_validation", AT(system.acs.source_validation),
           "Downstream ports of switches check the bus number of Requester IDs."),
      flag(KEY(system.acs.source_validation), "The same as system.source_validation."),
      choice(KEY(system.acs.p2p_request),
             "Requests to a peer below the same switch go there, or up to the root complex."),
      choice(KEY(system.acs.p2p_completion),
             "Completions to a peer below the same switch go there, or up to the root complex."),
      egress_key(),
      flag(KEY(system.acs.direct_translated),
           "Requests to a peer with a translated address go there whatever the other keys say."),
      time("system.timing.switch_forward", AT(system.switch_timing.forward), any_latency(),
           "Switch: from ingress to egress."),
  };
}

}  // namespace flitwise::config
