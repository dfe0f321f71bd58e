// SPDX-License-Identifier: Apache-2.0
// From axes, with their ranges over numbers and over quantities with a unit, to points.
#include "sweep/plan.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <unordered_map>

#include "common/quantity.h"
#include "common/ranges.h"
#include "common/sha256.h"
#include "config/instances.h"
#include "config/load.h"
#include "results/result_json.h"
#include "sweep/study_names.h"
#include "topology/graph.h"

namespace flitwise {
namespace {

constexpr const char* kSetPlace = "--set ";  // of a key that an override of a config gives

/// Keys that points are given: each once, with why the first point does not read it; those that a
/// point reads are not among them.
class KeysWithoutEffect {
 public:
  void add(Problem key) {
    const bool is_read = key.message.empty();
    const auto [at, is_new] = places_.emplace(key.path, keys_.size());
    if (is_new) {
      keys_.push_back(std::move(key));
    } else if (is_read) {
      keys_[at->second].message.clear();
    }
  }
  std::vector<Problem> list() const {
    return those(keys_, [](const Problem& key) { return !key.message.empty(); });
  }

 private:
  std::vector<Problem> keys_;
  std::unordered_map<std::string, std::size_t> places_;  // by path
};

/// Makes the points of one block, counting through its groups like an odometer.
class BlockPlanner {
 public:
  /// `given` and `notes` may be null, both together.
  BlockPlanner(const Study& study, const Block& block, const std::vector<std::string>& sets,
               KeysWithoutEffect* given, PlanNotes* notes)
      : study_(study), block_(block), sets_(sets), given_(given), notes_(notes) {
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
                    Plan& plan, std::vector<Problem>& problems) {
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
      LoadNotes notes;
      const Config config = load_config(block_.base, options, given_ != nullptr ? &notes : nullptr);
      for (const Problem& key : notes.given) {
        if (key.file.rfind(kSetPlace, 0) == 0) {  // the block's base is a base
          given_->add(placed(key));
        }
      }
      if (notes_ != nullptr) {
        count_warnings(config);
      }
      point.seed = config.run.seed;
      point.config = effective_config(config);
      point.id =
          sha256_hex(fmt::format("{}\n{}\n{}", point.config.dump(), FLITWISE_VERSION, point.seed))
              .substr(0, 16);
      if (is_new(point)) {
        plan.push_back(std::move(point));
      }
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        problems.push_back(placed(problem));
      }
    }
  }

  /// Values that are written twice, or in two units. Labels tell points apart.
  bool is_new(const Point& point) {
    std::string place = point.id;
    for (const auto& [axis, value] : point.axes) {
      place += axis.find('.') == std::string::npos ? "\n" + value : "";
    }
    const bool is_new = seen_.insert(place).second;
    if (!is_new && notes_ != nullptr && notes_->repeats++ == 0) {
      notes_->first_repeat = fmt::format("block {}, ", block_.name);
      for (const auto& [axis, value] : point.axes) {
        notes_->first_repeat += fmt::format("{}={}, ", axis, value);
      }
      notes_->first_repeat += fmt::format("seed {}", point.seed);
    }
    return is_new;
  }

  void count_warnings(const Config& config) const {
    for (const std::string& warning : config_warnings(config)) {
      auto& found = notes_->warnings;
      auto* const same = find_where(found, [&](const auto& one) { return one.first == warning; });
      ++(same != nullptr ? *same : found.emplace_back(warning, 0)).second;
    }
  }

  /// A problem with an override of the study is reported where the study writes it.
  Problem placed(Problem problem) const {
    const std::string front = kSetPlace;
    if (problem.file.rfind(front, 0) != 0) {
      return problem;
    }
    const std::size_t end = problem.file.find('=');  // no key of the study has one
    const auto axis = axes_.find(problem.file.substr(front.size(), end - front.size()));
    if (axis != axes_.end()) {
      problem.file = axis->second->line != 0 ? study_.file : kCommandLine;
      problem.line = axis->second->line;
      problem.column = axis->second->column;
      problem.path = axis->first;
    }
    return problem;
  }

  const Study& study_;
  const Block& block_;
  const std::vector<std::string>& sets_;
  KeysWithoutEffect* given_;
  PlanNotes* notes_;
  std::unordered_map<std::string, const Axis*> axes_;  // what the block sets, by key
  std::set<std::string> seen_;                         // points: ids with labels
};

constexpr std::size_t kMostValues = 100'000;
constexpr std::size_t kMostPoints = 100'000;  // of a study; the plan keeps a whole config of each

/// Refuses, before anything is expanded, what makes more points than that: at the axis that does.
void check_size(const Study& study) {
  std::size_t left = kMostPoints;
  for (const Block& block : study.blocks) {
    std::size_t points = std::max<std::size_t>(1, block.seeds.size());
    const auto refuse = [&](const Problem& place, std::size_t times) {
      throw ConfigError(
          {{study.file, place.line, place.column, place.path,
            fmt::format("makes {} x {} points of block {}; expected at most {} in a study{}",
                        points, times, block.name, kMostPoints,
                        left == kMostPoints ? "" : fmt::format(", of which {} are left", left))}});
    };
    if (points > left) {
      refuse({"", 0, 0, "seeds", ""}, 1);
    }
    for (const AxisGroup& group : block.groups) {
      const Axis& axis = group.front();
      if (axis.values.size() > left / points) {
        refuse({"", axis.line, axis.column, axis.key, ""}, axis.values.size());
      }
      points *= axis.values.size();
    }
    left -= points;
  }
}
constexpr const char* kExpected = "expected A..B:*K or A..B:+K, such as 8B..4KiB:*2";

struct Parts {
  std::string first, last, step;
  bool multiplies = false;
};

std::optional<Parts> split(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t colon = text.find(':', dots);
  Parts parts{text.substr(0, dots), text.substr(dots + 2, colon - dots - 2), "1", false};
  if (colon != std::string::npos) {
    if (colon + 2 >= text.size() || (text[colon + 1] != '*' && text[colon + 1] != '+')) {
      return std::nullopt;
    }
    parts.multiplies = text[colon + 1] == '*';
    parts.step = text.substr(colon + 2);
  }
  return parts;
}

/// The dimension that both ends belong to, if they carry units.
const config::Dimension* dimension_of(const Parts& parts) {
  for (const config::Dimension* dimension :
       {&config::size_dimension(), &config::time_dimension(), &config::bit_rate_dimension(),
        &config::request_rate_dimension()}) {
    if (config::read_quantity(parts.first, *dimension).value &&
        config::read_quantity(parts.last, *dimension).value) {
      return dimension;
    }
  }
  return nullptr;
}

std::string number_text(double value) {
  return fmt::format("{:.12g}", value);
}

/// Counts from first to last in whole or fractional steps.
template <class Number, class Write>
ExpandedValues count_up(Number first, Number last, double step, bool multiplies, Write write) {
  if (!(last >= first)) {
    return {{}, "the range runs backwards; expected A <= B"};
  }
  if (multiplies ? !(step > 1) || !(first > 0) : !(step > 0)) {
    return {{},
            "the range never ends; expected a factor above 1 from above 0, or an addend above 0"};
  }
  ExpandedValues expanded;
  double value = static_cast<double>(first);
  // A hair of tolerance keeps the last value of fractional steps in the range.
  const double end = static_cast<double>(last) * (1 + 1e-12);
  for (std::size_t i = 1; value <= end; ++i) {
    if (expanded.values.size() == kMostValues) {
      return {{}, fmt::format("the range has more than {} values", kMostValues)};
    }
    expanded.values.push_back(write(value));
    value = multiplies ? value * step : static_cast<double>(first) + static_cast<double>(i) * step;
  }
  return expanded;
}

ExpandedValues expand_quantities(const Parts& parts, const config::Dimension& dimension) {
  const auto first = *config::read_quantity(parts.first, dimension).value;
  const auto last = *config::read_quantity(parts.last, dimension).value;
  double step = 0;
  if (parts.multiplies) {
    const auto factor = config::read_real(parts.step);
    if (!factor.value) {
      return {{}, fmt::format("'{}' is no factor; expected a number above 1", parts.step)};
    }
    step = *factor.value;
  } else {
    const auto addend = config::read_quantity(parts.step, dimension);
    if (!addend.value) {
      return {{}, fmt::format("step {}", addend.problem)};
    }
    step = static_cast<double>(*addend.value);
  }
  return count_up(first, last, step, parts.multiplies, [&dimension](double value) {
    return config::write_quantity(static_cast<std::int64_t>(value + 0.5), dimension);
  });
}

/// What an override takes from an axis is lost, though rows still name its values.
void check_overrides(const Study& study, const std::vector<std::string>& sets,
                     std::vector<Problem>& problems) {
  for (const std::string& set : sets) {
    const std::string key = set.substr(0, set.find('='));
    const auto* const block =
        find_where(study.blocks, [&key](const Block& one) { return one.varies(key); });
    if (block != nullptr) {
      const bool is_seed = key == kSeedKey;
      problems.push_back(
          {kSetPlace + set, 0, 0, "",
           fmt::format("block {} varies {}; expected {}{}, which takes the place of {}",
                       block->name, key, is_seed ? "--seeds " : "--axis ",
                       is_seed ? set.substr(std::min(set.size(), key.size() + 1)) : set,
                       is_seed ? "its seeds" : "that axis")});
    }
  }
}

/// Names that columns of results may have in front; some have none.
std::set<std::string> names_in_columns(const Plan& plan) {
  std::set<std::string> machines, names;
  for (const Point& point : plan) {
    if (!machines.insert(point.config.at("system").dump()).second) {
      continue;
    }
    const Graph graph(config_of(point).system);
    for (const config::InstanceName& instance : config::instance_names(graph)) {
      names.insert(instance.name);
    }
    for (unsigned host = 0; host < graph.hosts(); ++host) {
      names.insert(host_prefix(host) + host_part::kAgent);
      for (const char* const latency : kDriverLatencies) {
        names.insert(host_prefix(host) + latency);
      }
    }
  }
  names.insert("");
  names.insert(kEngineLatencies.begin(), kEngineLatencies.end());
  return names;
}

/// A figure or label with the name of a column that results have would stand for both.
void check_columns(const Study& study, const Plan& plan, std::vector<Problem>& problems) {
  std::set<std::string> names;
  const auto check = [&](const std::string& name, const std::string& path, const auto& place) {
    const std::vector<std::string> owners = owners_of_column(name);
    if (!owners.empty() && names.empty()) {
      names = names_in_columns(plan);
    }
    if (any_of(owners, [&](const std::string& owner) { return names.count(owner) != 0; })) {
      problems.push_back(
          {study.file, place.line, place.column, path,
           fmt::format("results have a column '{}' already; expected another name", name)});
    }
  };
  for (const BlockPresentation& block : study.presentation.blocks) {
    for (const FigureSpec& figure : block.figures) {
      check(figure.name, "figures." + figure.name, figure);
    }
  }
  for (const Block& block : study.blocks) {
    for (const AxisGroup& group : block.groups) {
      for (const Axis& axis : group) {
        check(label_name(axis.key), axis.key, axis);
      }
    }
  }
}

}  // namespace

bool Block::varies(const std::string& key) const {
  const auto has_key = [&key](const AxisGroup& group) {
    return any_of(group, [&key](const Axis& axis) { return axis.key == key; });
  };
  return any_of(groups, has_key) || (key == kSeedKey && !seeds.empty());
}

Plan make_plan(const Study& study, const std::vector<std::string>& sets, PlanNotes* notes) {
  check_size(study);
  Plan plan;
  std::vector<Problem> problems;
  KeysWithoutEffect given;
  for (const Block& block : study.blocks) {
    BlockPlanner(study, block, sets, notes != nullptr ? &given : nullptr, notes)
        .append_points(plan, problems);
  }
  if (notes != nullptr) {
    notes->without_effect = given.list();
  }
  check_overrides(study, sets, problems);
  check_columns(study, plan, problems);
  if (!problems.empty()) {
    std::set<std::string> seen;
    const auto is_repeat = [&](const Problem& one) { return !seen.insert(one.text()).second; };
    problems.erase(std::remove_if(problems.begin(), problems.end(), is_repeat), problems.end());
    throw ConfigError(problems);
  }
  return plan;
}

Config config_of(const Point& point) {
  return config_from_text(point.config.dump(), fmt::format("point {}", point.id), "");
}

ExpandedValues expand_range(const std::string& text) {
  const std::optional<Parts> parts = split(text);
  if (!parts) {
    return {{}, fmt::format("'{}' is no range; {}", text, kExpected)};
  }
  if (const config::Dimension* dimension = dimension_of(*parts)) {
    return expand_quantities(*parts, *dimension);
  }
  const auto first = config::read_real(parts->first);
  const auto last = config::read_real(parts->last);
  const auto step = config::read_real(parts->step);
  if (!first.value || !last.value || !step.value) {
    return {
        {},
        fmt::format("'{}' is no range of numbers or of one kind of quantity; {}", text, kExpected)};
  }
  return count_up(*first.value, *last.value, *step.value, parts->multiplies, number_text);
}

ExpandedValues expand_linspace(const std::vector<std::string>& first_last_n) {
  constexpr const char* kForm = "expected [first, last, count], count 2 to 100000";
  if (first_last_n.size() != 3) {
    return {{}, fmt::format("linspace has {} values; {}", first_last_n.size(), kForm)};
  }
  const auto first = config::read_real(first_last_n[0]);
  const auto last = config::read_real(first_last_n[1]);
  const auto count = config::read_whole(first_last_n[2]);
  if (!first.value || !last.value || !count.value || *count.value < 2 ||
      *count.value > kMostValues) {
    return {{}, fmt::format("linspace is not made of numbers; {}", kForm)};
  }
  ExpandedValues expanded;
  const double step = (*last.value - *first.value) / static_cast<double>(*count.value - 1);
  for (std::uint64_t i = 0; i < *count.value; ++i) {
    expanded.values.push_back(number_text(*first.value + static_cast<double>(i) * step));
  }
  return expanded;
}

}  // namespace flitwise
