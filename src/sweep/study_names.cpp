// SPDX-License-Identifier: Apache-2.0
// Names of columns, figures and values in a study file.
#include "sweep/study_names.h"

#include <fmt/format.h>

#include "common/quantity.h"
#include "common/ranges.h"
#include "results/result_json.h"
#include "results/tables.h"

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

/// A column of a table whose columns carry names of rows, as wait_walkers_ns does.
bool is_of_named_rows(const std::string& column) {
  return any_of(all_tables(), [&column](const StatisticsTable* table) {
    const TableInfo& info = table->info();
    return (info.flat == FlatRows::kNamed || info.flat == FlatRows::kSumByName) &&
           !info.flat_prefix.empty() && column.rfind(info.flat_prefix + "_", 0) == 0;
  });
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
    if (!contains(figures, one.word)) {
      complain(one,
               fmt::format("block {} has no figure '{}'; expected {}{}", block.name, one.word,
                           figures.empty() ? "one under figures" : config::alternatives(figures),
                           config::nearest_hint(one.word, figures, "figure")));
    }
  }

  void check_column(const BlockPresentation& block, const Mention& one) {
    const BlockPresentation* const baseline = study_.presentation.block(block.baseline.block);
    if (contains(columns_, one.word) || block.figure(one.word) != nullptr ||
        (baseline != nullptr && baseline->figure(one.word) != nullptr) ||
        !owners_of_column(one.word).empty() || is_of_named_rows(one.word)) {
      return;
    }
    const Block* const plan = block_named(block.name);
    if (plan != nullptr &&
        any_of(plan->sets, [&](const Axis& set) { return set.key == one.word; })) {
      complain(one, fmt::format("'{}' is set, and no axis varies it: it makes no column; expected "
                                "an axis, or nothing here, since all points of the block have it",
                                one.word));
      return;
    }
    std::vector<std::string> known = columns_;
    for (const FigureSpec& figure : block.figures) {
      known.push_back(figure.name);
    }
    for (const std::string& name : plain_columns()) {
      known.push_back(name);
    }
    complain(one, fmt::format("no result, axis, label or figure has a column '{}'; expected a "
                              "column of results ('flitwise list statistics'), an axis or a "
                              "figure{}",
                              one.word, config::nearest_hint(one.word, known, "column")));
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
        const std::string label = label_name(axis.key);
        if ((label.empty() ? axis.key : label) == one.column_name) {
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
