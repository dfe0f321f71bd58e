// SPDX-License-Identifier: Apache-2.0
// Layers (base, file, --set, seed) into one validated Config.
#include "config/load.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/input_file.h"
#include "common/printable.h"
#include "common/problems.h"
#include "common/ranges.h"
#include "config/document.h"
#include "config/effect.h"
#include "config/instances.h"
#include "config/reader.h"
#include "config/relation_reports.h"
#include "config/relations.h"

namespace flitwise {

namespace config {
namespace {

// Sources in the order in which problems are shown.
constexpr int kFileSource = 0;
constexpr int kBaseSource = 1;
constexpr int kFirstSetSource = 2;

std::string directory_of(const std::string& file) {
  return std::filesystem::path(file).parent_path().string();
}

/// Takes the entry `base` out of the tree; null when there is none.
std::optional<Value::Entry> take_base(Value& tree) {
  const auto at =
      find_if(tree.entries, [](const Value::Entry& entry) { return entry.key == "base"; });
  if (tree.kind != Value::Kind::kMap || at == tree.entries.end()) {
    return std::nullopt;
  }
  Value::Entry base = *at;
  tree.entries.erase(at);
  return base;
}

/// The path of the base; empty where none was read.
std::string apply_base(const Value::Entry& entry, const std::string& directory, Reader& reader,
                       ProblemList& problems) {
  if (entry.value.kind != Value::Kind::kScalar) {
    const bool is_empty = entry.value.kind == Value::Kind::kNull;
    problems.add(is_empty ? entry.place : entry.value.place, "base",
                 entry.value.seen() + "; expected the path of one config file");
    return "";
  }
  const std::string file =
      (std::filesystem::path(directory) / entry.value.text).lexically_normal().string();
  const InputText input = read_input(file);
  if (!input.problem.empty()) {
    problems.add(entry.place, "base",
                 fmt::format("{}; expected a config file, as seen from '{}'",
                             flaw_of_file(entry.value.text, input.problem),
                             directory.empty() ? "." : directory));
    return "";
  }
  Value tree = parse_yaml(input.text, {file, 0, 0, kBaseSource}, problems);
  if (const auto second = take_base(tree)) {
    problems.add(second->place, "base", "a base of a base; expected one level of base at most");
  }
  reader.apply(tree, {directory_of(file)});
  return file;
}

/// a.b=c as {a: {b: c}}, every part at the place of the whole.
std::optional<Value> tree_of_set(const std::string& text, const Place& place,
                                 ProblemList& problems) {
  const std::size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  if (equals == std::string::npos || path.empty()) {
    problems.add(place, "", "no assignment; expected KEY=VALUE such as link.mps=256B");
    return std::nullopt;
  }
  if (path == "base") {
    problems.add(place, "", "base cannot be set here; expected it in the file");
    return std::nullopt;
  }
  ProblemList inside;
  Value value = parse_yaml(text.substr(equals + 1), place, inside, true);
  if (!inside.empty()) {
    problems.add(place, "", inside.sorted().front().message);
    return std::nullopt;
  }
  for (std::string rest = path;;) {
    const std::size_t dot = rest.rfind('.');
    Value parent;
    parent.kind = Value::Kind::kMap;
    parent.place = place;
    parent.entries.push_back(
        {rest.substr(dot == std::string::npos ? 0 : dot + 1), place, std::move(value)});
    value = std::move(parent);
    if (dot == std::string::npos) {
      return value;
    }
    rest.resize(dot);
  }
}

void apply_sets(const LoadOptions& options, const std::string& directory, Reader& reader,
                ProblemList& problems) {
  int source = kFirstSetSource;
  for (const std::string& text : options.sets) {
    const Place place{"--set " + text, 0, 0, source++};
    if (const auto tree = tree_of_set(text, place, problems)) {
      reader.apply(*tree, {directory, ""});
    }
  }
}

bool lies_in(const std::string& path, const std::vector<std::string>& sections) {
  return any_of(sections, [&](const std::string& section) {
    return path == section || path.rfind(section + ".", 0) == 0;
  });
}

/// One instance: which it is, and what it overrides.
struct Overriding {
  const InstanceName& known;
  const Instance& instance;
  const Graph& graph;
  ProblemList& problems;

  std::string prefix() const { return "system.instances." + known.name + "."; }
  /// At the place of a key that it overrides.
  void blame(const std::string& path, const std::string& message) const {
    problems.add(*instance.origins.latest({path}), prefix() + path, message);
  }
};

/// Identities go from device to host: what is between them cannot speak of them otherwise.
void check_one_identity(const Overriding& one) {
  if (one.known.kind == InstanceKind::kHost || !one.graph.has_switch_in_tree(one.known.node)) {
    return;
  }
  for (const std::string path : {"link.identity", "link.dhi_form"}) {
    if (one.instance.origins.latest({path}) != nullptr) {
      one.blame(path, "one link of a switch differs; expected one " + path + " for all of them");
    }
  }
}

/// Some rules are broken at the device below a link, or at the host above it.
void check_broken_rules(const Overriding& one, const FaultsConfig& faults) {
  if (one.known.kind != InstanceKind::kLink ||
      one.instance.origins.latest({"faults.break"}) == nullptr) {
    return;
  }
  const auto refuse = [&](bool has_end, const char* end, std::initializer_list<BrokenRule> rules) {
    for (const BrokenRule rule : rules) {
      if (!has_end && faults.breaks(rule)) {
        one.blame("faults.break", fmt::format("'{}' has no part in {}; expected a link with {}",
                                              spelling(rule), one.known.name, end));
      }
    }
  };
  refuse(one.graph.is(one.known.node, NodeKind::kDevice), "a device below it",
         {BrokenRule::kTags, BrokenRule::kBoundary4k, BrokenRule::kByteEnables, BrokenRule::kAt,
          BrokenRule::kHandles, BrokenRule::kSingleWriter, BrokenRule::kRecall,
          BrokenRule::kInvalidation});
  refuse(one.graph.is(one.graph.upper_of(one.known.node), NodeKind::kRootPort), "a host above it",
         {BrokenRule::kCompletion});
}

/// A root port has a workload where the host's cores have one of their own. [CXL-8.2]
void check_host_workload(const Overriding& one, const WorkloadConfig& workload) {
  if (one.known.kind != InstanceKind::kNode || !one.graph.is(one.known.node, NodeKind::kRootPort)) {
    return;
  }
  for (const std::string& path : one.instance.origins.paths()) {
    if (path == "workload.via" ||
        (lies_in(path, {"workload"}) && workload.via != WorkloadVia::kCxlBoth)) {
      one.blame(path,
                "the host's cores have no workload of their own here; expected workload.via "
                "cxl_both of the device below");
    }
  }
}

void check_sections(const Overriding& one) {
  for (const std::string& path : one.instance.origins.paths()) {
    if (!lies_in(path, one.known.sections)) {
      one.blame(path, fmt::format("'{}' has no part in {}; expected keys of {}", path,
                                  one.known.name, alternatives(one.known.sections)));
    }
  }
}

void report_unknown_instance(const std::string& name, const Place& place,
                             const std::vector<InstanceName>& all, ProblemList& problems) {
  const auto names = mapped(all, &InstanceName::name);
  constexpr std::size_t kShown = 9;
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  if (names.size() > kShown) {
    shown.emplace_back("so on");
  }
  problems.add(place, "system.instances." + name,
               fmt::format("no instance '{}' in this topology; expected {}{}", shortened(name),
                           alternatives(shown), nearest_hint(name, names, "name")));
}

/// What an instance is built on. The host's cores at a root port use the memory of the device
/// below: its overrides count for them, then those of its link. [CXL-8.2]
Config base_of(const InstanceName& known, const Graph& graph,
               const std::map<std::string, Instance>& instances, Config config) {
  if (known.kind == InstanceKind::kNode && graph.is(known.node, NodeKind::kRootPort) &&
      !graph.has_switch_in_tree(known.node)) {
    const Node& device = graph[graph[known.node].lower.front()];
    for (const std::string& other : {device.name, device.link}) {
      if (const auto found = instances.find(other); found != instances.end()) {
        config = with_overrides(config, found->second.values);
      }
    }
  }
  return config;
}

TopologyFacts facts_of(const Graph& graph) {
  TopologyFacts facts;
  facts.has_switch = !graph.switches().empty();
  std::vector<unsigned> devices(graph.hosts(), 0);
  for (const NodeIndex device : graph.devices()) {
    facts.devices = std::max(facts.devices, ++devices[graph[device].host]);
  }
  return facts;
}

/// Names in system.acs.egress, of the whole or of one switch.
void check_egress(const AcsConfig& acs, const Graph& graph, const Origins& origins,
                  const std::string& prefix, ProblemList& problems) {
  const std::string path = "system.acs.egress";
  const Place* const place = origins.latest({path});
  for (const std::string& name : acs.egress) {
    const std::optional<NodeIndex> named = graph.find(name);
    if (place != nullptr && (!named || graph.is(*named, NodeKind::kRootPort))) {
      const auto peers =
          those(graph.all(), [&](NodeIndex node) { return !graph.is(node, NodeKind::kRootPort); });
      const auto names = mapped(peers, [&](NodeIndex node) { return graph[node].name; });
      problems.add(*place, prefix + path,
                   fmt::format("{} '{}'; expected the name of a switch or device{}",
                               named ? "a root port, which is no peer:" : "unknown node",
                               shortened(name), nearest_hint(name, names, "name")));
    }
  }
}

/// What one instance overrides.
void check_instance(const InstanceName& known, const Graph& graph, Reader& reader, Config& config,
                    RelationReports& reports, ProblemList& problems) {
  const Instance& instance = reader.instances().at(known.name);
  const Overriding one{known, instance, graph, problems};
  check_sections(one);
  check_one_identity(one);
  const Config base = base_of(known, graph, reader.instances(), config);
  check_host_workload(one, base.workload);
  TopologyFacts facts = facts_of(graph);
  if (known.kind != InstanceKind::kHost) {
    facts.has_switch = graph.has_switch_in_tree(known.node);
  }
  const Config own = with_overrides(base, instance.values);
  check_broken_rules(one, own.faults);
  reports.add(broken_relations(own, facts), &instance.origins);
  check_egress(own.system.acs, graph, instance.origins, one.prefix(), problems);
  if (!instance.values.empty()) {
    config.instances[known.name] = instance.values;
  }
}

void check_instances(const Graph& graph, Reader& reader, Config& config, RelationReports& reports,
                     ProblemList& problems) {
  const std::vector<InstanceName> all = instance_names(graph);
  for (const auto& [name, instance] : reader.instances()) {
    const auto own =
        find_if(all, [&, &called = name](const auto& each) { return each.name == called; });
    if (own == all.end()) {
      report_unknown_instance(name, instance.place, all, problems);
    } else {
      check_instance(*own, graph, reader, config, reports, problems);
    }
  }
}

/// Are there nodes and edges that a machine can be made of?
bool has_graph(const Config& config, const Origins& origins, ProblemList& problems) {
  const std::vector<std::string> keys = {"system.topology", "system.hosts", "system.devices",
                                         "system.nodes", "system.edges"};
  if (any_of(keys, [&](const std::string& key) { return origins.is_bad(key); })) {
    return false;
  }
  const std::vector<TopologyFlaw> flaws = topology_flaws(config.system);
  for (const TopologyFlaw& flaw : flaws) {
    const Place* const place = origins.latest({flaw.path});
    problems.add(place != nullptr ? *place : *origins.latest(keys), flaw.path, flaw.message);
  }
  return flaws.empty();
}

Config finished(Reader& reader, const LoadOptions& options, ProblemList& problems) {
  Config config = reader.config();
  RelationReports reports(reader.origins(), problems);
  if (has_graph(config, reader.origins(), problems)) {
    const Graph graph(config.system);
    reports.add(broken_relations(config, facts_of(graph)));
    check_egress(config.system.acs, graph, reader.origins(), "", problems);
    check_instances(graph, reader, config, reports, problems);
    if (problems.empty() && config.network.mode == NetworkMode::kFull) {
      std::vector<BrokenRelationOf> of_devices = broken_wires(config, graph);
      if (auto one = too_many_domains(config, graph)) {
        of_devices.push_back(std::move(*one));
      }
      for (const BrokenRelationOf& one : of_devices) {
        const auto own = reader.instances().find(graph[one.device].name);
        BrokenRelations relations;
        relations.push_back(one.relation);
        reports.add(relations, own == reader.instances().end() ? nullptr : &own->second.origins);
      }
    }
  } else {
    reports.add(broken_relations(config, {}));
  }
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  if (options.seed) {
    config.run.seed = *options.seed;
  }
  return config;
}

/// Two keys of one setting, in one file.
void check_source_validation(const Value& tree, ProblemList& problems) {
  const Value::Entry* const system = tree.find("system");
  const Value::Entry* const acs = system == nullptr ? nullptr : system->value.find("acs");
  const Value::Entry* const own = acs == nullptr ? nullptr : acs->value.find("source_validation");
  const Value::Entry* const other =
      system == nullptr ? nullptr : system->value.find("source_validation");
  if (own != nullptr && other != nullptr && own->value.text != other->value.text) {
    problems.add(own->place, "system.acs.source_validation",
                 fmt::format("{} beside {} of system.source_validation, which is the same setting; "
                             "expected one of them",
                             own->value.seen(), other->value.seen()));
  }
}

/// `directory`: where relative paths in the text start.
Config config_from(const std::string& yaml, const std::string& name, const std::string& directory,
                   const LoadOptions& options, LoadNotes* notes) {
  ProblemList problems;
  Reader reader(problems);
  Value tree = parse_yaml(yaml, {name, 0, 0, kFileSource}, problems);
  if (const auto base = take_base(tree)) {
    const std::string read = apply_base(*base, directory, reader, problems);
    if (notes != nullptr) {
      notes->base_file = read;
    }
  }
  check_source_validation(tree, problems);
  reader.apply(tree, {directory});
  apply_sets(options, directory, reader, problems);
  Config config = finished(reader, options, problems);
  if (notes != nullptr) {
    notes->given = given_keys(config, reader, kBaseSource);
  }
  return config;
}

}  // namespace
}  // namespace config

Config config_from_text(const std::string& yaml, const std::string& name,
                        const std::string& directory, const LoadOptions& options,
                        LoadNotes* notes) {
  return config::config_from(yaml, name, directory, options, notes);
}

Config load_config(const std::string& file, const LoadOptions& options, LoadNotes* notes) {
  return config::config_from(input_text(file, "a config in YAML"), file, config::directory_of(file),
                             options, notes);
}

}  // namespace flitwise
