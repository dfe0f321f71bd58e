// SPDX-License-Identifier: Apache-2.0
// Names of columns, figures and values in a study file, and whether those of a baseline choose one
// row.
#include "sweep/study_names.h"

#include <fmt/format.h>

#include "common/quantity.h"
#include "common/ranges.h"
#include "results/expression.h"
#include "results/result_json.h"
#include "results/tables.h"
#include "scenario/event_words.h"

namespace flitwise {
namespace {

/// The same value, however its unit is written: 64B and 64, 1KiB and 1024B.
bool is_same(const std::string& one, const std::string& other) {
  const auto number = [](const std::string& text) {
    const auto quantity = plain_quantity(text);
    return quantity ? std::optional<double>(quantity->value) : config::read_real(text).value;
  };
  const auto left = number(one), right = number(other);
  return one == other || (left && right && *left == *right);
}

/// A row of the table of latencies: of an engine, or of the driver of any host.
bool is_latency(const std::string& name) {
  const std::size_t point = name.find('.');
  const bool has_host = point != std::string::npos && name.front() == 'h' &&
                        config::read_whole(name.substr(1, point - 1)).value;
  return contains(kEngineLatencies, name) ||
         contains(kDriverLatencies, has_host ? name.substr(point + 1) : name);
}

constexpr const char* kErrors = "errors_";

/// Whether a result of some machine may have this column.
bool is_of_results(const std::string& column) {
  if (column.rfind(kErrors, 0) == 0) {
    return scenario::is_counted_error(column.substr(std::string(kErrors).size()));
  }
  const auto owners = owners_of_column(column);
  const auto latencies = owners_of_column(column, &latency_table());
  return owners.size() > latencies.size() || any_of(latencies, is_latency);
}

/// Columns to take for a word that is none: those that need no name, latencies and errors.
std::vector<std::string> columns_like(const std::string& word) {
  std::vector<std::string> columns = plain_columns();
  const std::size_t figure = word.rfind('_', word.rfind('_') - 1);
  if (figure != std::string::npos && !owners_of_column(word, &latency_table()).empty()) {
    for (const char* const latency : kEngineLatencies) {
      columns.push_back(latency + word.substr(figure));
    }
    for (const char* const latency : kDriverLatencies) {
      columns.push_back(latency + word.substr(figure));
    }
  }
  for (const std::string& kind : scenario::error_kinds()) {
    columns.push_back(kErrors + kind);
  }
  return columns;
}

class NameCheck {
 public:
  NameCheck(const Study& study, config::ProblemList& problems)
      : study_(study), problems_(problems) {
    columns_.assign(kPointColumns.begin(), kPointColumns.end());
    for (const BlockPresentation& block : study.presentation.blocks) {
      columns_.insert(columns_.end(), block.varied.begin(), block.varied.end());
    }
  }

  void check() {
    for (const BlockPresentation& block : study_.presentation.blocks) {
      for (const FigureSpec& figure : block.figures) {
        check_all(block, figure.mentions);
      }
      check_all(block, block.mentions);
      check_baseline(block);
      if (!block.summary.empty()) {
        check_all(block, study_.presentation.mentions);
      }
    }
  }

 private:
  void check_all(const BlockPresentation& block, const std::vector<Mention>& mentions) {
    for (const Mention& one : mentions) {
      if (one.of == Mention::Of::kFigure) {
        check_figure(block, one);
      } else if (one.of == Mention::Of::kColumn) {
        check_column(block, one);
      } else if (one.of == Mention::Of::kBaseline) {
        check_compared(one);
      } else {
        check_value(block, one);
      }
    }
  }

  void complain(const Mention& at, const std::string& message) {
    problems_.add({study_.file, at.line, at.column, 0}, at.path, message);
  }

  void check_figure(const BlockPresentation& block, const Mention& one) {
    const auto figures = mapped(block.figures, &FigureSpec::name);
    if (contains(figures, one.word)) {
      return;
    }
    if (is_of_results(one.word)) {
      complain(one, fmt::format("'{}' is a column of results, no figure of block {}; expected one "
                                "of it, as in figures: {{mine: {{is: {}}}}}",
                                one.word, block.name, in_formula(one.word)));
      return;
    }
    complain(one, fmt::format("block {} has no figure '{}'; expected {}{}", block.name, one.word,
                              figures.empty() ? "one under figures" : config::alternatives(figures),
                              config::nearest_hint(one.word, figures, "figure")));
  }

  /// A column as formulas write it.
  static std::string in_formula(const std::string& column) {
    const bool is_plain = Expression(column).columns() == std::vector<std::string>{column};
    return is_plain ? column : fmt::format("'\"{}\"'", column);
  }

  void check_column(const BlockPresentation& block, const Mention& one) {
    const BlockPresentation* const baseline = study_.presentation.block(block.baseline.block);
    if (contains(columns_, one.word) || block.figure(one.word) != nullptr ||
        (baseline != nullptr && baseline->figure(one.word) != nullptr) || is_of_results(one.word)) {
      return;
    }
    const Block* const plan = block_named(block.name);
    if (plan != nullptr && is_set(*plan, one.word)) {
      complain(one, fmt::format("'{}' is set, and no axis varies it: it makes no column; expected "
                                "an axis, or nothing here, since all points of the block have it",
                                one.word));
      return;
    }
    std::vector<std::string> known = columns_;
    for (const FigureSpec& figure : block.figures) {
      known.push_back(figure.name);
    }
    for (const std::string& name : columns_like(one.word)) {
      known.push_back(name);
    }
    complain(one, fmt::format("no result, axis, label or figure has a column '{}'; expected a "
                              "column of results ('flitwise list statistics'), an axis or a "
                              "figure{}",
                              one.word, config::nearest_hint(one.word, known, "column")));
  }

  // A common figure is one of all blocks: those without a baseline leave it empty.
  void check_compared(const Mention& one) {
    const auto is_it = [&](const Mention& other) {
      return other.line == one.line && other.column == one.column;
    };
    const auto compares = [&](const BlockPresentation& block) {
      return !block.baseline.block.empty() && any_of(block.figures, [&](const FigureSpec& figure) {
        return any_of(figure.mentions, is_it);
      });
    };
    if (!any_of(study_.presentation.blocks, compares)) {
      complain(one,
               "no block with this figure has a baseline, so that it has no value in any row; "
               "expected baseline: {match: [columns that both rows have in common]}");
    }
  }

  void check_value(const BlockPresentation& block, const Mention& one) {
    const bool is_of_baseline = one.path.find("baseline.where") != std::string::npos;
    const std::string& name = is_of_baseline ? block.baseline.block : block.name;
    const Block* const plan = block_named(name);
    if (plan == nullptr) {
      return;  // told already
    }
    std::vector<std::string> values;
    for (const AxisGroup& group : plan->groups) {
      for (const Axis& axis : group) {
        if (column_of(axis) == one.column_name) {
          values = axis.values;
        }
      }
    }
    if (!values.empty() &&
        !any_of(values, [&](const std::string& value) { return is_same(value, one.word); })) {
      constexpr std::size_t kMostNamed = 10;
      const std::string hint = config::nearest_hint(one.word, values, "value");
      const bool is_long = values.size() > kMostNamed;
      values.resize(std::min(values.size(), kMostNamed));
      complain(one, fmt::format("no point of block {} has {} '{}'; expected {}{}{}", name,
                                one.column_name, one.word, config::alternatives(values),
                                is_long ? " and so on" : "", hint));
    }
  }

  // Axes alone tell rows of a block and seed apart. What a column of results does is known later.
  void check_baseline(const BlockPresentation& block) {
    const BaselineSpec& baseline = block.baseline;
    const Block* const plan = block_named(baseline.block);
    const auto is_told_later = [&](const std::string& column) {
      return column == "id" || !(contains(columns_, column) || is_set(*plan, column));
    };
    if (plan != nullptr) {
      check_seeds(block, *plan);
    }
    if (plan == nullptr || any_of(baseline.match, is_told_later) ||
        any_of(baseline.where, [&](const auto& one) { return is_told_later(one.first); })) {
      return;
    }
    for (const std::string& column : baseline.match) {
      if (baseline.where.count(column) != 0) {
        complain_of(baseline,
                    fmt::format("'{}' stands under where too, so that rows with another "
                                "value of it have no baseline; expected it in one of them",
                                column));
      }
    }
    for (const AxisGroup& group : plan->groups) {
      if (const std::string open = axis_left_open(baseline, group); !open.empty()) {
        complain_of(baseline, fmt::format("several rows of block {} fit one of block {}: they "
                                          "differ in {}; expected that here, or one value of it "
                                          "under where",
                                          baseline.block, block.name, open));
      }
    }
  }

  // A run is compared with one of its own seed. Which one a config has is known later.
  void check_seeds(const BlockPresentation& block, const Block& other) {
    const Block* const own = block_named(block.name);
    const bool is_compared = any_of(block.figures, [](const FigureSpec& figure) {
      return any_of(figure.mentions,
                    [](const Mention& one) { return one.of == Mention::Of::kBaseline; });
    });
    if (own == nullptr || !is_compared || (other.seeds.empty() && own->seeds.size() <= 1)) {
      return;
    }
    const auto alone =
        those(own->seeds, [&](std::uint64_t seed) { return !contains(other.seeds, seed); });
    if (!alone.empty()) {
      complain_of(block.baseline,
                  fmt::format("block {} has seeds that block {} has not ({}), and a run is "
                              "compared with one of its own seed; expected the same seeds in both",
                              block.name, other.name, fmt::join(alone, ", ")));
    }
  }

  void complain_of(const BaselineSpec& baseline, const std::string& message) {
    problems_.add({study_.file, baseline.line, baseline.column, 0}, "baseline.match", message);
  }

  /// An axis in which rows of one group differ though `where` chooses them and `match` takes them
  /// for the same; empty: there is none.
  static std::string axis_left_open(const BaselineSpec& baseline, const AxisGroup& group) {
    const auto is_chosen = [&](std::size_t row) {
      return all_of(group, [&](const Axis& axis) {
        const auto one = baseline.where.find(column_of(axis));
        return one == baseline.where.end() || any_of(one->second, [&](const std::string& value) {
                 return is_same(value, axis.values[row]);
               });
      });
    };
    const std::size_t rows = group.front().values.size();
    if (any_of(group, [&](const Axis& axis) { return axis.values.size() != rows; })) {
      return "";  // told already
    }
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t other = 0; other < row; ++other) {
        const std::vector<Axis> differing = those(group, [&](const Axis& axis) {
          return !is_same(axis.values[row], axis.values[other]);
        });
        if (!differing.empty() && is_chosen(row) && is_chosen(other) &&
            !any_of(differing,
                    [&](const Axis& axis) { return contains(baseline.match, column_of(axis)); })) {
          return column_of(differing.front());
        }
      }
    }
    return "";
  }

  static std::string column_of(const Axis& axis) {
    const std::string label = label_name(axis.key);
    return label.empty() ? axis.key : label;
  }

  static bool is_set(const Block& plan, const std::string& column) {
    return any_of(plan.sets, [&](const Axis& set) { return set.key == column; });
  }

  const Block* block_named(const std::string& name) const {
    return find_where(study_.blocks, [&](const Block& block) { return block.name == name; });
  }

  const Study& study_;
  config::ProblemList& problems_;
  std::vector<std::string> columns_;  ///< that each point has, or that axes and labels make
};

}  // namespace

void check_names(const Study& study, config::ProblemList& problems) {
  NameCheck(study, problems).check();
}

}  // namespace flitwise
