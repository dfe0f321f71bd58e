// SPDX-License-Identifier: Apache-2.0
// A key without effect: its condition holds nowhere in the part of the machine that it is for.
#include "config/effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/sections/sections.h"

namespace flitwise::config {
namespace {

/// Configurations that parts of the machine have. The first one says why a key has no effect.
using Views = std::vector<Config>;
using Paths = std::vector<std::string>;

void add_views_of_node(const Config& whole, const Graph& graph, NodeIndex node, Views& views) {
  views.push_back(config_of_node(whole, graph, node));
  // The host's cores and handle tables at a root port count with the device below.
  views.push_back(for_instance(views.back(), graph[graph.root_of(node)].name));
}

Views views_of_whole(const Config& whole, const Graph& graph) {
  Views views = {whole};
  if (!whole.instances.empty()) {
    for (const NodeIndex node : graph.all()) {
      add_views_of_node(whole, graph, node, views);
    }
  }
  return views;
}

/// What an instance sets counts for itself and for what is below.
Views views_of_instance(const Config& whole, const Graph& graph, const InstanceName& instance) {
  Views views;
  if (instance.kind == InstanceKind::kHost) {
    views.push_back(for_instance(whole, instance.name));
  } else {
    add_views_of_node(whole, graph, instance.node, views);
  }
  for (const NodeIndex node : graph.all()) {
    const bool is_below = instance.kind == InstanceKind::kHost
                              ? host_name(graph[node].host) == instance.name
                              : graph.is_at_or_below(node, instance.node);
    if (is_below) {
      add_views_of_node(whole, graph, node, views);
    }
  }
  return views;
}

/// Which keys a machine reads. What a key that it does not read is set to says nothing of another.
class ReadKeys {
 public:
  explicit ReadKeys(Views whole) : whole_(std::move(whole)) {}

  const Views& whole() const { return whole_; }

  /// `asked`: keys that might have another value, which is why somebody asks.
  bool in_any(const Views& views, const Condition& when, const Paths& asked) const {
    return any_of(views, [&](const Config& view) { return when.holds(view, read_beside(asked)); });
  }
  std::string obstacle(const Config& view, const Condition& when, const Paths& asked) const {
    return when.obstacle(view, read_beside(asked));
  }

 private:
  IsRead read_beside(const Paths& asked) const {
    return [this, &asked](const std::string& path) {
      Paths all = asked;
      all.push_back(path);
      Condition when = read_when(path);
      for (const std::string& other : asked) {
        when = when.without(other);
      }
      return in_any(whole_, when, all);
    };
  }

  Views whole_;
};

std::string why_without_effect(const Key& key, const Views& views, const ReadKeys& read) {
  const Condition when = read_when(key.path);
  if (read.in_any(is_read_for_others(key.path) ? read.whole() : views, when, {key.path})) {
    return "";
  }
  const std::string beside = changes_beside(key.path);
  return fmt::format("{}because {} (it is read where {})",
                     beside.empty() ? "" : fmt::format("but for {} ", beside),
                     read.obstacle(views.front(), when, {key.path}), when.text());
}

/// What a key of send memory is set to for the whole is for devices without a value of their own.
/// Keys beside device.pio are not judged: other parts may look at the whole.
bool is_overridden(const std::string& path, const Graph& graph,
                   const std::map<std::string, Instance>& instances) {
  return path.rfind("device.pio.", 0) == 0 && all_of(graph.devices(), [&](NodeIndex device) {
           const auto own = instances.find(graph[device].name);
           return own != instances.end() && own->second.origins.latest({path}) != nullptr;
         });
}

struct Given {
  Place place;
  Problem problem;
};

void add_given(const Origins& origins, const Views& views, const ReadKeys& read,
               const std::string& prefix, int left_out, std::vector<Given>& all) {
  for (const std::string& path : origins.paths()) {
    const Key* const key = find_row(path);  // null: an item of a list
    const Place place = *origins.latest({path});
    if (key != nullptr && place.source != left_out) {
      all.push_back({place,
                     {place.file, place.line, place.column, prefix + path,
                      why_without_effect(*key, views, read)}});
    }
  }
}

}  // namespace

std::vector<Problem> given_keys(const Config& config, const Reader& reader, int left_out) {
  const Graph graph(config.system);
  std::vector<Given> all;
  const Views whole = views_of_whole(config, graph);
  const ReadKeys read(whole);
  add_given(reader.origins(), whole, read, "", left_out, all);
  for (Given& key : all) {
    if (is_overridden(key.problem.path, graph, reader.instances())) {
      key.problem.message = "because each device has its own in system.instances";
    }
  }
  for (const InstanceName& instance : instance_names(graph)) {
    if (const auto own = reader.instances().find(instance.name); own != reader.instances().end()) {
      add_given(own->second.origins, views_of_instance(config, graph, instance), read,
                "system.instances." + instance.name + ".", left_out, all);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Given& a, const Given& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  return mapped<Problem>(all, &Given::problem);
}

}  // namespace flitwise::config
