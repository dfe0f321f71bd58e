// SPDX-License-Identifier: Apache-2.0
// Layers (base, file, --set, seed) into one validated Config.
#include "config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/input_file.h"
#include "common/printable.h"
#include "config/document.h"
#include "config/instances.h"
#include "config/problems.h"
#include "config/reader.h"
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
  const auto at = std::find_if(tree.entries.begin(), tree.entries.end(),
                               [](const Value::Entry& entry) { return entry.key == "base"; });
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
  std::size_t end = path.size();
  while (true) {
    const std::size_t dot = end == 0 ? std::string::npos : path.rfind('.', end - 1);
    const std::size_t start = dot == std::string::npos ? 0 : dot + 1;
    Value parent;
    parent.kind = Value::Kind::kMap;
    parent.place = place;
    parent.entries.push_back({path.substr(start, end - start), place, std::move(value)});
    value = std::move(parent);
    if (dot == std::string::npos) {
      return value;
    }
    end = dot;
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

/// The place to blame for a broken relation: in an instance first, then in the config itself.
/// Null when a key concerned is wrong by itself already.
const Place* blamed(const BrokenRelation& relation, const Origins& whole,
                    const Origins* of_instance) {
  for (const std::string& path : relation.paths) {
    if (whole.is_bad(path) || (of_instance != nullptr && of_instance->is_bad(path))) {
      return nullptr;
    }
  }
  const Place* place = of_instance == nullptr ? nullptr : of_instance->latest(relation.paths);
  return place != nullptr ? place : whole.latest(relation.paths);
}

std::string most_telling_path(const BrokenRelation& relation, const Place& place,
                              const Origins& origins) {
  for (const std::string& path : relation.paths) {
    const Place* at = origins.latest({path});
    if (at != nullptr && at->file == place.file && at->line == place.line &&
        at->column == place.column) {
      return path;
    }
  }
  return relation.paths.front();
}

/// `known` are the relations broken already without the instance.
void check_relations(const Config& config, const Origins& whole, const Origins* of_instance,
                     std::vector<std::string>& known, ProblemList& problems) {
  for (const BrokenRelation& relation : broken_relations(config)) {
    const Place* place = blamed(relation, whole, of_instance);
    const bool is_known = std::find(known.begin(), known.end(), relation.message) != known.end();
    if (place == nullptr || is_known) {
      continue;
    }
    const Origins& origins = of_instance != nullptr ? *of_instance : whole;
    problems.add(*place, most_telling_path(relation, *place, origins), relation.message);
    if (of_instance == nullptr) {
      known.push_back(relation.message);
    }
  }
}

bool lies_in(const std::string& path, const std::vector<std::string>& sections) {
  return std::any_of(sections.begin(), sections.end(), [&](const std::string& section) {
    return path == section || path.rfind(section + ".", 0) == 0;
  });
}

/// Identities go from device to host: what is between them cannot speak of them otherwise.
void check_one_identity(const std::string& name, const Instance& instance,
                        const SystemConfig& system, ProblemList& problems) {
  if (system.topology != Topology::kSwitch) {
    return;
  }
  for (const std::string path : {"link.identity", "link.dhi_form"}) {
    if (const Place* place = instance.origins.latest({path})) {
      problems.add(*place, "system.instances." + name + "." + path,
                   "one link of a switch differs; expected one " + path + " for all of them");
    }
  }
}

const std::string kRootPort = "rp";

bool is_root_port(const std::string& name) {
  return name.find('-') == std::string::npos && name.rfind(kRootPort, 0) == 0;
}

/// A root port has a workload where the host's cores have one of their own. [CXL-8.2]
void check_host_workload(const std::string& name, const Instance& instance,
                         const WorkloadConfig& workload, ProblemList& problems) {
  if (!is_root_port(name)) {
    return;
  }
  for (const std::string& path : instance.origins.paths()) {
    if (path == "workload.via" ||
        (lies_in(path, {"workload"}) && workload.via != WorkloadVia::kCxlBoth)) {
      problems.add(*instance.origins.latest({path}), "system.instances." + name + "." + path,
                   "the host's cores have no workload of their own here; expected workload.via "
                   "cxl_both of the device below");
    }
  }
}

void check_sections(const InstanceName& known, const Instance& instance, ProblemList& problems) {
  for (const std::string& path : instance.origins.paths()) {
    if (!lies_in(path, known.sections)) {
      problems.add(*instance.origins.latest({path}), "system.instances." + known.name + "." + path,
                   fmt::format("'{}' has no part in {}; expected keys of {}", path, known.name,
                               alternatives(known.sections)));
    }
  }
}

void report_unknown_instance(const std::string& name, const Place& place,
                             const std::vector<InstanceName>& all, ProblemList& problems) {
  std::vector<std::string> names;
  for (const InstanceName& known : all) {
    names.push_back(known.name);
  }
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
Config base_of(const std::string& name, const std::map<std::string, Instance>& instances,
               Config config) {
  if (config.system.topology == Topology::kDirect && is_root_port(name)) {
    const std::string device = "ep" + name.substr(kRootPort.size());
    for (const std::string& other : {device, name + "-" + device}) {
      if (const auto found = instances.find(other); found != instances.end()) {
        config = with_overrides(config, found->second.values);
      }
    }
  }
  return config;
}

Config finished(Reader& reader, const LoadOptions& options, ProblemList& problems) {
  Config config = reader.config();
  std::vector<std::string> known;
  check_relations(config, reader.origins(), nullptr, known, problems);
  const std::vector<InstanceName> all = instance_names(config.system);
  for (const auto& [name, instance] : reader.instances()) {
    const auto own = std::find_if(all.begin(), all.end(), [&, &called = name](const auto& each) {
      return each.name == called;
    });
    if (own == all.end()) {
      report_unknown_instance(name, instance.place, all, problems);
      continue;
    }
    check_sections(*own, instance, problems);
    check_one_identity(name, instance, config.system, problems);
    const Config base = base_of(name, reader.instances(), config);
    check_host_workload(name, instance, base.workload, problems);
    check_relations(with_overrides(base, instance.values), reader.origins(), &instance.origins,
                    known, problems);
    if (!instance.values.empty()) {
      config.instances[name] = instance.values;
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  if (options.seed) {
    config.run.seed = *options.seed;
  }
  return config;
}

/// A text and where it comes from.
struct Source {
  std::string yaml;
  std::string name;
  std::string directory;
};

Config config_from(const Source& source, const LoadOptions& options, std::string& base_file) {
  ProblemList problems;
  Reader reader(problems);
  Value tree = parse_yaml(source.yaml, {source.name, 0, 0, kFileSource}, problems);
  if (const auto base = take_base(tree)) {
    base_file = apply_base(*base, source.directory, reader, problems);
  }
  reader.apply(tree, {source.directory});
  apply_sets(options, source.directory, reader, problems);
  return finished(reader, options, problems);
}

}  // namespace
}  // namespace config

Config config_from_text(const std::string& yaml, const std::string& name,
                        const std::string& directory, const LoadOptions& options) {
  std::string base_file;
  return config::config_from({yaml, name, directory}, options, base_file);
}

Config load_config(const std::string& file, const LoadOptions& options) {
  std::string base_file;
  return load_config(file, options, base_file);
}

Config load_config(const std::string& file, const LoadOptions& options, std::string& base_file) {
  return config::config_from(
      {input_text(file, "a config in YAML"), file, config::directory_of(file)}, options, base_file);
}

}  // namespace flitwise
