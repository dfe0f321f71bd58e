// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "common/input_file.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "results/result_json.h"
#include "stats/confidence.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// "link.identity": "dhi" of a configuration; lists stay whole.
void flatten_config(const Json& config, const std::string& prefix,
                    std::map<std::string, Json>& all) {
  for (const auto& [key, value] : config.items()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      flatten_config(value, path, all);
    } else {
      all[path] = value;
    }
  }
}

/// One point of a source.
struct Side {
  const Json* figures = nullptr;  ///< means, of a sweep
  std::vector<const Json*> runs;  ///< of a sweep: a seed each
  Json config;                    ///< null: not known
};

/// A source by its points, in order.
struct Points {
  std::vector<std::string> names;
  std::map<std::string, Side> sides;
};

std::string point_name(const MergedSweep& sweep, const Json& row) {
  std::string name = row.at("block").get<std::string>();
  std::string separator = ": ";
  for (const std::string& axis : sweep.axes) {
    const Json value = row.value(axis, Json());
    if (!value.is_null()) {
      name += separator + axis + "=" + cell_text(value);
      separator = ", ";
    }
  }
  return name;
}

Points points_of_sweep(const ResultSource& source) {
  const MergedSweep& sweep = *source.sweep;
  std::unordered_map<std::string, Json> configs;
  if (what_stands_at(source.file) == Standing::kFolder) {
    for (const Point& point : read_manifest(source.file + "/manifest.jsonl")) {
      configs.emplace(point.id, point.config);
    }
  }
  Points points;
  for (const Json& row : sweep.rows) {
    const std::string name = point_name(sweep, row);
    const auto config = configs.find(row.value("id", ""));
    points.names.push_back(name);
    points.sides[name] = {&row, {}, config == configs.end() ? Json() : config->second};
  }
  for (const Json& run : sweep.runs) {
    const auto side = points.sides.find(point_name(sweep, run));
    if (side != points.sides.end()) {
      side->second.runs.push_back(&run);
    }
  }
  return points;
}

/// Of both sides, where seeds say more than one value: the half width of the change of a figure.
std::optional<double> doubt_of_change(const Side& a, const Side& b, const std::string& figure) {
  std::map<std::int64_t, double> of_a, of_b;  // by seed
  const auto gather = [&figure](const Side& side, std::map<std::int64_t, double>& by_seed) {
    for (const Json* run : side.runs) {
      if (const auto value = number_at(*run, figure)) {
        by_seed.emplace(run->value("seed", std::int64_t{0}), *value);
      }
    }
  };
  gather(a, of_a);
  gather(b, of_b);
  const auto values = [](const std::map<std::int64_t, double>& by_seed) {
    return mapped<double>(by_seed, [](const auto& each) { return each.second; });
  };
  if (of_a.empty() || of_b.empty()) {
    return std::nullopt;
  }
  const bool are_pairs =
      std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                 [](const auto& one, const auto& other) { return one.first == other.first; });
  return are_pairs ? interval_of_paired(values(of_a), values(of_b)).half_width
                   : interval_of_difference(values(of_a), values(of_b)).half_width;
}

class Comparer {
 public:
  void add(const std::string& point, const Side& a, const Side& b) {
    ++result.points;
    add_config(a.config, b.config);
    for (const auto& [name, value] : a.figures->items()) {
      const auto of_b = number_at(*b.figures, name);
      if (is_figure(name) && value.is_number() && of_b) {
        result.figures.push_back(
            {point, name, value.get<double>(), *of_b, doubt_of_change(a, b, name)});
      }
    }
  }
  void not_figures(const std::vector<std::string>& names) {
    others_.insert(names.begin(), names.end());
  }

  Comparison result;

 private:
  bool is_figure(const std::string& name) const {
    const std::string interval = interval_column("");
    const bool is_interval =
        name.size() > interval.size() &&
        name.compare(name.size() - interval.size(), interval.size(), interval) == 0;
    return !is_interval && others_.count(name) == 0;
  }
  void add_config(const Json& a, const Json& b) {
    if (a.is_null() || b.is_null()) {
      result.has_configs = false;
      return;
    }
    std::map<std::string, Json> of_a, of_b;
    flatten_config(a, "", of_a);
    flatten_config(b, "", of_b);
    std::set<std::string> keys;
    for (const auto* one : {&of_a, &of_b}) {
      for (const auto& each : *one) {
        keys.insert(each.first);
      }
    }
    for (const std::string& key : keys) {
      const auto at = [&key](const std::map<std::string, Json>& config) {
        const auto found = config.find(key);
        return found == config.end() ? Json() : found->second;
      };
      const Json in_a = at(of_a), in_b = at(of_b);
      if (in_a != in_b) {
        note(key, in_a, in_b);
      }
    }
  }
  void note(const std::string& key, const Json& a, const Json& b) {
    auto* const known = find_where(result.config, [&](const ConfigDifference& one) {
      return one.key == key && one.a == a && one.b == b;
    });
    if (known != nullptr) {
      ++known->points;
    } else {
      result.config.push_back({key, a, b, 1});
    }
  }

  std::set<std::string> others_ = {"host_seconds"};
};

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw ConfigError({{path, 0, 0, "", problem}});
}

}  // namespace

double FigureDifference::percent() const {
  if (a == b) {
    return 0;
  }
  return a == 0 ? std::copysign(std::numeric_limits<double>::infinity(), delta())
                : 100 * delta() / std::abs(a);
}

bool FigureDifference::is_sure() const {
  return !ci95 || std::abs(delta()) > *ci95;
}

std::vector<const FigureDifference*> Comparison::changed() const {
  std::vector<const FigureDifference*> all;
  for (const FigureDifference& figure : figures) {
    if (figure.a != figure.b) {
      all.push_back(&figure);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto* one, const auto* other) {
    return std::abs(one->percent()) > std::abs(other->percent());
  });
  return all;
}

Comparison compare(const ResultSource& a, const ResultSource& b) {
  if (a.sweep.has_value() != b.sweep.has_value()) {
    refuse(b.file,
           fmt::format("{} beside {}, which is {}; expected two runs or two sweeps",
                       b.sweep ? "a sweep" : "a run", a.file, a.sweep ? "a sweep" : "a run"));
  }
  Comparer comparer;
  Comparison& result = comparer.result;
  result.of_sweeps = a.sweep.has_value();
  if (a.run) {
    const Json figures_a = figures_row(*a.run), figures_b = figures_row(*b.run);
    comparer.add("", {&figures_a, {}, a.run->value("config", Json())},
                 {&figures_b, {}, b.run->value("config", Json())});
    return result;
  }
  comparer.not_figures(a.sweep->axes);
  comparer.not_figures({kPointColumns.begin(), kPointColumns.end()});
  const Points of_a = points_of_sweep(a), of_b = points_of_sweep(b);
  for (const std::string& name : of_a.names) {
    const auto other = of_b.sides.find(name);
    if (other == of_b.sides.end()) {
      result.only_in_a.push_back(name);
    } else {
      comparer.add(name, of_a.sides.at(name), other->second);
    }
  }
  result.only_in_b =
      those(of_b.names, [&](const std::string& name) { return of_a.sides.count(name) == 0; });
  result.missing_in_a = a.sweep->missing.size();
  result.missing_in_b = b.sweep->missing.size();
  if (result.points == 0) {
    refuse(b.file, fmt::format("no point has the block and axes of one of {}{}", a.file,
                               of_a.names.empty() || of_b.names.empty()
                                   ? "; one of both has no results"
                                   : fmt::format("; the first are '{}' and '{}'",
                                                 of_b.names.front(), of_a.names.front())));
  }
  return result;
}

Json comparison_json(const Comparison& comparison, const std::vector<std::string>& failed) {
  Json json = {{"config", Json::array()}, {"figures", Json::array()}, {"failed", failed}};
  for (const ConfigDifference& one : comparison.config) {
    json["config"].push_back({{"key", one.key}, {"a", one.a}, {"b", one.b}});
  }
  for (const FigureDifference* const one : comparison.changed()) {
    const double percent = one->percent();
    json["figures"].push_back({{"point", one->point},
                               {"name", one->name},
                               {"a", one->a},
                               {"b", one->b},
                               {"delta", one->delta()},
                               {"percent", std::isfinite(percent) ? Json(percent) : Json()},
                               {"ci95", one->ci95 ? Json(*one->ci95) : Json()}});
  }
  if (comparison.of_sweeps) {
    json["only_in_a"] = comparison.only_in_a;
    json["only_in_b"] = comparison.only_in_b;
  }
  return json;
}

}  // namespace flitwise
