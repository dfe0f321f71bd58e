// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/range/algorithm_ext/push_back.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "common/ranges.h"
#include "compare/matched_points.h"
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

/// "1, 2, 3" of the seeds of a point.
std::string seeds_text(const ComparedPoint& point) {
  std::vector<std::string> seeds =
      mapped(point.runs, [](const Json* run) { return run->value("seed", Json()).dump(); });
  return fmt::format("{}", fmt::join(seeds, ", "));
}

/// Half width of what a run that ended at a tolerance knows of a figure; of no other confidence.
std::optional<double> converged_half_width(const ComparedPoint& point, const std::string& figure) {
  const auto confidence = figure_of(point.config, "run.converged.confidence");
  return confidence && *confidence == "95%"
             ? number_at(*point.figures, "converged_" + figure + "_half_width")
             : std::nullopt;
}

/// Only those that occurred are in a result: a kind that is not there counts 0.
bool is_error_count(const std::string& figure) {
  return figure.rfind("errors_", 0) == 0;
}

/// The half width of the change of a figure: of several seeds of both, or of runs that have ended
/// once they knew it.
std::optional<double> doubt_of_change(const ComparedPoint& a, const ComparedPoint& b,
                                      const std::string& figure) {
  using BySeed = std::map<std::int64_t, double>;
  const auto by_seed = [&figure](const ComparedPoint& point) {
    BySeed all;
    for (const Json* run : point.runs) {
      const auto value = number_at(*run, figure);
      if (value || is_error_count(figure)) {
        all.emplace(run->value("seed", std::int64_t{0}), value.value_or(0));
      }
    }
    return all;
  };
  const BySeed of_a = by_seed(a), of_b = by_seed(b);
  if (of_a.size() <= 1 && of_b.size() <= 1) {
    const auto half_a = converged_half_width(a, figure), half_b = converged_half_width(b, figure);
    return half_a && half_b ? std::optional(std::hypot(*half_a, *half_b)) : std::nullopt;
  }
  if (of_a.empty() || of_b.empty()) {
    return std::nullopt;
  }
  const auto values = [](const BySeed& all) {
    return mapped<double>(all, [](const auto& each) { return each.second; });
  };
  const bool are_pairs =
      std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                 [](const auto& one, const auto& other) { return one.first == other.first; });
  return are_pairs ? interval_of_paired(values(of_a), values(of_b)).half_width
                   : interval_of_difference(values(of_a), values(of_b)).half_width;
}

class Comparer {
 public:
  void add(const std::string& name, const ComparedPoint& a, const ComparedPoint& b) {
    ++result.points;
    add_config(a, b);
    for (const auto& [figure, value] : a.figures->items()) {
      if (value.is_number() && is_figure(figure)) {
        add_figure(name, figure, a, b);
      }
    }
    for (const auto& [figure, value] : b.figures->items()) {
      if (value.is_number() && is_figure(figure) && !number_at(*a.figures, figure)) {
        add_figure(name, figure, a, b);
      }
    }
  }
  /// Figures that no point of the other side has.
  void tell_figures_of_one() {
    for (const auto& [figure, seen] : seen_) {
      if (!seen.in_a || !seen.in_b) {
        (seen.in_a ? result.figures_of_a : result.figures_of_b).push_back(figure);
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
  void add_figure(const std::string& point, const std::string& figure, const ComparedPoint& a,
                  const ComparedPoint& b) {
    const bool is_count = is_error_count(figure);
    const auto value_of = [&](const ComparedPoint& one) {
      const auto value = number_at(*one.figures, figure);
      return value || !is_count ? value : std::optional(0.0);
    };
    const auto of_a = value_of(a), of_b = value_of(b);
    if (of_a && of_b) {
      result.figures.push_back({point, figure, *of_a, *of_b, doubt_of_change(a, b, figure)});
    }
    seen_[figure].in_a |= of_a.has_value();
    seen_[figure].in_b |= of_b.has_value();
  }
  void add_config(const ComparedPoint& a, const ComparedPoint& b) {
    if (a.config.is_null() || b.config.is_null()) {
      result.has_configs = false;
      return;
    }
    std::map<std::string, Json> of_a, of_b;
    flatten_config(a.config, "", of_a);
    flatten_config(b.config, "", of_b);
    if (a.runs.size() > 1 || b.runs.size() > 1) {
      of_a["run.seed"] = seeds_text(a);
      of_b["run.seed"] = seeds_text(b);
    }
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

  struct Seen {
    bool in_a = false, in_b = false;
  };
  std::map<std::string, Seen> seen_;  ///< figures
  std::set<std::string> others_ = {"host_seconds"};
};

/// Those that the study shows in its table, or all that it reckons.
std::vector<std::string> figures_of_study(const Presentation& presentation) {
  std::vector<std::string> figures = presentation.summary_columns;
  if (figures.empty()) {
    for (const BlockPresentation& block : presentation.blocks) {
      boost::range::push_back(figures, mapped(block.figures, &FigureSpec::name));
    }
  }
  return figures;
}

/// A run as a point of its own; its figures go into `row`.
ComparedPoint point_of_run(const ResultSource& source, Json& row) {
  with_results_of(source.file, [&] { row = figures_row(*source.run); });
  return {&row, {}, source.run->value("config", Json())};
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw ConfigError({{path, 0, 0, "", problem}});
}

using ByName = std::map<std::string, ComparedPoint>;

/// Older versions have a row a seed in a results.sqlite.
ByName by_name(const NamedPoints& points, const std::string& file) {
  ByName all;
  for (const auto& [name, point] : points) {
    if (!all.emplace(name, point).second) {
      refuse(file, fmt::format("several points are '{}'; expected the folder of the sweep, or a "
                               "file that this version merged ('flitwise sweep merge DIR')",
                               name));
    }
  }
  return all;
}

Comparison compare_runs(const ResultSource& a, const ResultSource& b) {
  Comparer comparer;
  Json row_a, row_b;
  const ComparedPoint of_a = point_of_run(a, row_a), of_b = point_of_run(b, row_b);
  comparer.add("", of_a, of_b);
  comparer.tell_figures_of_one();
  return comparer.result;
}

Comparison compare_sweeps(const ResultSource& a, const ResultSource& b) {
  Comparer comparer;
  Comparison& result = comparer.result;
  result.of_sweeps = true;
  for (const ResultSource* const one : {&a, &b}) {
    comparer.not_figures(one->sweep->axes);
    if (result.of_study.empty()) {
      result.of_study = figures_of_study(one->sweep->presentation);
    }
  }
  comparer.not_figures({kPointColumns.begin(), kPointColumns.end()});
  const auto [points_a, points_b] = named_points(a, b);
  const ByName of_a = by_name(points_a, a.file), of_b = by_name(points_b, b.file);
  for (const auto& [name, point] : points_a) {
    const auto other = of_b.find(name);
    if (other == of_b.end()) {
      result.only_in_a.push_back(name);
    } else {
      comparer.add(name, point, other->second);
    }
  }
  for (const auto& point : points_b) {
    if (of_a.count(point.first) == 0) {
      result.only_in_b.push_back(point.first);
    }
  }
  result.of_study = those(result.of_study, [&result](const std::string& name) {
    return any_of(result.figures, [&](const FigureDifference& one) { return one.name == name; });
  });
  result.missing_in_a = names_of_missing(*a.sweep);
  result.missing_in_b = names_of_missing(*b.sweep);
  comparer.tell_figures_of_one();
  if (points_a.empty() || points_b.empty()) {
    refuse(points_a.empty() ? a.file : b.file,
           "no point has a result; expected a sweep that ran ('flitwise sweep run')");
  }
  if (result.points == 0) {
    refuse(b.file,
           fmt::format("no point has the axes of one of {}: the first ones are '{}' and '{}'; "
                       "expected two sweeps with points in common",
                       a.file, points_b.front().first, points_a.front().first));
  }
  return result;
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

FigureDifferences Comparison::changed() const {
  FigureDifferences all;
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
  return a.sweep ? compare_sweeps(a, b) : compare_runs(a, b);
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
    json["missing_in_a"] = comparison.missing_in_a;
    json["missing_in_b"] = comparison.missing_in_b;
  }
  return json;
}

}  // namespace flitwise
