// SPDX-License-Identifier: Apache-2.0
// Larger values of keys, for what limits a run.
#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "common/problems.h"
#include "common/ranges.h"
#include "config/document.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/relations.h"
#include "config/sections/sections.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

// A quantity ("64KiB") with so many times its number.
std::string times(double factor, const std::string& text) {
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    return "";
  }
  return number > 0 ? fmt::format("{}{}", factor * number, text.substr(end)) : "";
}

// The next of a list of valid values, which is in rising order.
std::string next_of(const Json& values, const Json& present) {
  const auto found = std::find(values.begin(), values.end(), present);
  return found == values.end() || found + 1 == values.end() ? "" : (found + 1)->dump();
}

std::string larger_number(const Json& schema, std::uint64_t present) {
  const std::uint64_t most = schema.value("maximum", UINT64_MAX);
  return present >= most || present == 0
             ? ""
             : std::to_string(std::min(present > most / 2 ? most : 2 * present, most));
}

std::string candidate(const Config& config, const config::Key& key) {
  if (key.path == "link.preset") {
    return config::faster_preset(config.link.preset);
  }
  if (key.path == "host.iommu_driver.step") {  // the shorter, the more of them
    const HostConfig& host = config.host;
    const Time step = host.iommu_driver.step;
    return fmt::format("{}ns", (step == Time{} ? host.timing.software_step : step).ns() / 2);
  }
  if (key.path == "host.cores.fence") {  // one kind of them less
    const StoreFence fence = config.host.cores.fence;
    return fence == StoreFence::kBlock ? "packet" : fence == StoreFence::kPacket ? "none" : "";
  }
  if (key.path == "device.srdma.congestion.kind") {  // that keeps queues shortest
    return "window_group";
  }
  const Json present = key.write(config);
  if (present.is_string()) {
    const bool is_shorter = boost::algorithm::ends_with(key.path, ".clock") ||
                            key.path.rfind("host.cores.timing.", 0) == 0 ||
                            key.path.rfind("host.verbs.timing.", 0) == 0;  // likewise
    return times(is_shorter ? 0.5 : 2, present.get<std::string>());
  }
  if (present.is_array()) {  // of shares
    Json larger = present;
    for (Json& one : larger) {
      one = one.is_number_unsigned() || one.is_number_integer() ? 2 * one.get<std::uint64_t>() : 0;
    }
    return larger.dump();
  }
  if (!present.is_number_unsigned() && !present.is_number_integer()) {
    return present.is_number() ? fmt::format("{}", 2 * present.get<double>()) : "";
  }
  return key.schema.contains("enum") ? next_of(key.schema.at("enum"), present)
                                     : larger_number(key.schema, present.get<std::uint64_t>());
}

std::size_t broken_by(const Config& config) {
  return config::broken_relations(config, {}).size();
}

// The configuration would be as valid as it is.
bool is_valid(Config config, const config::Key& key, const std::string& text) {
  const std::size_t before = broken_by(config);
  bool is_read = true;
  config::ProblemList problems;
  const config::Value value = config::parse_yaml(text, {}, problems, true);
  key.read(config, value,
           {[&is_read](const config::Place&, const std::string&) { is_read = false; }, {}});
  return is_read && broken_by(config) <= before;
}

// Whose overrides count at a place, later ones before earlier ones: as config_of_node() has them.
// Agents of a device have names of their own: those at its root port are sized by that.
std::vector<std::string> instances_at(const Graph& graph, const std::string& place) {
  for (const NodeIndex index : graph.all()) {
    const Node& node = graph[index];
    const std::string host = host_name(node.host), root = graph[graph.root_of(index)].name;
    const std::string prefix = host_prefix(node.host);
    if (place == prefix + host_part::kAgent || place == prefix + host_part::kMemory ||
        place == prefix + host_part::kDriver) {
      return {host};
    }
    if (place == "host_of_" + node.name || place == node.name + ".host" ||
        place.rfind(node.name + "_core", 0) == 0) {
      return {host, node.name, node.link, root};
    }
    if (place == node.name || place == node.link || place == kNetworkSwitch + ("." + node.name) ||
        place.rfind(node.name + "_", 0) == 0) {
      return {host, node.name, node.link};
    }
  }
  return {};
}

}  // namespace

std::string larger_value(const Config& config, const std::string& path) {
  const config::Key* const key = config::find_row(path);
  const std::string larger = key == nullptr ? "" : candidate(config, *key);
  return !larger.empty() && is_valid(config, *key, larger) ? larger : "";
}

void advise(const Config& whole, Limit& limit) {
  if (config::find_row(limit.key) == nullptr) {
    limit.key.clear();
    return;
  }
  Config config = whole;
  std::string prefix;
  for (const std::string& name : instances_at(Graph(whole.system), limit.at)) {
    const auto found = whole.instances.find(name);
    if (found == whole.instances.end()) {
      continue;
    }
    config = for_instance(config, name);
    if (any_of(found->second, [&limit](const auto& one) { return one.first == limit.key; })) {
      prefix = "system.instances." + name + ".";
    }
  }
  limit.larger = larger_value(config, limit.key);
  limit.key = prefix + limit.key;
}

}  // namespace flitwise
