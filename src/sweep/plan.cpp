// SPDX-License-Identifier: Apache-2.0
// From axes to points.
#include "sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "common/sha256.h"
#include "config/load.h"

namespace flitwise {
namespace {

/// Makes the points of one block, counting through its groups like an odometer.
class BlockPlanner {
 public:
  BlockPlanner(const Study& study, const Block& block, const std::vector<std::string>& sets)
      : study_(study), block_(block), sets_(sets) {
    for (const Axis& set : block.sets) {
      axes_.emplace(set.key, &set);
    }
    for (const AxisGroup& group : block.groups) {
      for (const Axis& axis : group) {
        axes_.emplace(axis.key, &axis);
      }
    }
  }

  void append_points(Plan& plan, std::vector<Problem>& problems) {
    std::vector<std::optional<std::uint64_t>> seeds(block_.seeds.begin(), block_.seeds.end());
    seeds.resize(std::max<std::size_t>(1, seeds.size()));
    std::vector<std::size_t> digits(block_.groups.size(), 0);
    do {
      for (const auto& seed : seeds) {
        append_point(digits, seed, plan, problems);
      }
    } while (advance(digits));
  }

 private:
  bool advance(std::vector<std::size_t>& digits) const {
    for (std::size_t i = digits.size(); i-- > 0;) {
      if (++digits[i] < block_.groups[i].front().values.size()) {
        return true;
      }
      digits[i] = 0;
    }
    return false;
  }

  void append_point(const std::vector<std::size_t>& digits, std::optional<std::uint64_t> seed,
                    Plan& plan, std::vector<Problem>& problems) const {
    Point point;
    point.index = plan.size();
    point.block = block_.name;
    LoadOptions options;
    options.seed = seed;
    for (const Axis& set : block_.sets) {
      options.sets.push_back(set.key + "=" + set.values.front());
    }
    for (std::size_t i = 0; i < digits.size(); ++i) {
      for (const Axis& axis : block_.groups[i]) {
        const std::string label = label_name(axis.key);
        point.axes.emplace_back(label.empty() ? axis.key : label, axis.values[digits[i]]);
        if (label.empty()) {
          options.sets.push_back(axis.key + "=" + axis.values[digits[i]]);
        }
      }
    }
    options.sets.insert(options.sets.end(), sets_.begin(), sets_.end());
    try {
      const Config config = load_config(block_.base, options);
      point.seed = config.run.seed;
      point.config = effective_config(config);
      point.id =
          sha256_hex(fmt::format("{}\n{}\n{}", point.config.dump(), FLITWISE_VERSION, point.seed))
              .substr(0, 16);
      plan.push_back(std::move(point));
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        problems.push_back(placed(problem));
      }
    }
  }

  /// A problem with an override of the study is reported where the study writes it.
  Problem placed(Problem problem) const {
    const std::string front = "--set ";
    if (problem.file.rfind(front, 0) != 0) {
      return problem;
    }
    const std::size_t end = problem.file.find('=');
    const auto axis = axes_.find(problem.file.substr(front.size(), end - front.size()));
    if (axis != axes_.end()) {
      problem.file = study_.file;
      problem.line = axis->second->line;
      problem.column = axis->second->column;
      problem.path = axis->first;
    }
    return problem;
  }

  const Study& study_;
  const Block& block_;
  const std::vector<std::string>& sets_;
  std::unordered_map<std::string, const Axis*> axes_;  // what the block sets, by key
};

std::vector<Problem> without_repeats(const std::vector<Problem>& problems) {
  std::set<std::string> seen;
  std::vector<Problem> rest;
  for (const Problem& problem : problems) {
    if (seen.insert(problem.text()).second) {
      rest.push_back(problem);
    }
  }
  return rest;
}

}  // namespace

Plan make_plan(const Study& study, const std::vector<std::string>& sets) {
  Plan plan;
  std::vector<Problem> problems;
  for (const Block& block : study.blocks) {
    BlockPlanner(study, block, sets).append_points(plan, problems);
  }
  if (!problems.empty()) {
    throw ConfigError(without_repeats(problems));
  }
  return plan;
}

Config config_of(const Point& point) {
  return config_from_text(point.config.dump(), fmt::format("point {}", point.id), "");
}

}  // namespace flitwise
