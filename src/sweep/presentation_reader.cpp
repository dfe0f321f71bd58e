// SPDX-License-Identifier: Apache-2.0
// YAML to Presentation.
#include "sweep/presentation_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/quantity.h"
#include "sweep/expression.h"

namespace flitwise {

using config::Value;

const std::vector<std::string>& PresentationReader::root_keys() {
  static const std::vector<std::string> kKeys = {"title", "figures", "columns"};
  return kKeys;
}

const std::vector<std::string>& PresentationReader::block_keys() {
  static const std::vector<std::string> kKeys = {"title",   "about",    "figures", "baseline",
                                                 "verdict", "crossing", "plots",   "summary"};
  return kKeys;
}

void PresentationReader::complain(const Value& value, const Path& path,
                                  const std::string& message) {
  problems_.add(value.place, path, message);
}

bool PresentationReader::is_map(const Value& value, const Path& path,
                                const std::vector<std::string>& known_keys) {
  if (value.kind != Value::Kind::kMap) {
    complain(value, path,
             fmt::format("{}; expected {}", value.seen(), config::alternatives(known_keys)));
    return false;
  }
  for (const Value::Entry& entry : value.entries) {
    if (std::find(known_keys.begin(), known_keys.end(), entry.key) == known_keys.end()) {
      problems_.add(entry.place, path,
                    fmt::format("unknown key '{}'; expected {}{}", entry.key,
                                config::alternatives(known_keys),
                                config::nearest_hint(entry.key, known_keys, "key")));
    }
  }
  return true;
}

std::string PresentationReader::text(const Value& value, const Path& path) {
  if (value.kind != Value::Kind::kScalar) {
    complain(value, path, fmt::format("{}; expected one value", value.seen()));
    return "";
  }
  return value.text;
}

std::vector<std::string> PresentationReader::texts(const Value& value, const Path& path) {
  if (value.kind == Value::Kind::kScalar) {
    return {value.text};
  }
  std::vector<std::string> list;
  if (value.kind != Value::Kind::kSequence || value.items.empty()) {
    complain(value, path,
             fmt::format("{}; expected a word or a list of words",
                         value.kind == Value::Kind::kSequence ? "an empty list" : value.seen()));
    return list;
  }
  for (const Value& item : value.items) {
    list.push_back(text(item, path));
  }
  return list;
}

std::vector<Value> PresentationReader::items(const Value& value, const Path& path) {
  if (value.kind != Value::Kind::kSequence) {
    complain(value, path, fmt::format("{}; expected a list", value.seen()));
  }
  return value.items;
}

Selection PresentationReader::selection(const Value& value, const Path& path) {
  Selection selected;
  if (value.kind != Value::Kind::kMap) {
    complain(value, path, fmt::format("{}; expected column: value or [values]", value.seen()));
    return selected;
  }
  for (const Value::Entry& entry : value.entries) {
    selected[entry.key] = texts(entry.value, path + "." + entry.key);
  }
  return selected;
}

void PresentationReader::read_field(const Value& value, const Path& path, const Field& field) {
  const auto* const entry = value.find(field.key);
  if (entry == nullptr) {
    return;
  }
  const Path where = path.empty() ? field.key : path + "." + field.key;
  if (auto* const* word = std::get_if<std::string*>(&field.target)) {
    **word = text(entry->value, where);
  } else if (auto* const* words = std::get_if<std::vector<std::string>*>(&field.target)) {
    **words = texts(entry->value, where);
  } else {
    *std::get<Selection*>(field.target) = selection(entry->value, where);
  }
}

void PresentationReader::read_fields(const Value& value, const Path& path,
                                     std::initializer_list<Field> fields) {
  for (const Field& field : fields) {
    read_field(value, path, field);
  }
}

void PresentationReader::read_root(const Value& value, Presentation& presentation) {
  read_fields(value, "",
              {{"title", &presentation.title}, {"columns", &presentation.summary_columns}});
}

void PresentationReader::read_block(const Value& value, const Path& path,
                                    BlockPresentation& block) {
  const Path front = path.empty() ? "" : path + ".";
  for (const Value::Entry& entry : value.entries) {
    const Path where = front + entry.key;
    if (entry.key == "title") {
      block.title = text(entry.value, where);
    } else if (entry.key == "about") {
      block.about = text(entry.value, where);
    } else if (entry.key == "figures") {
      read_figures(entry.value, where, block);
    } else if (entry.key == "baseline") {
      read_baseline(entry.value, where, block.baseline);
    } else if (entry.key == "verdict") {
      read_verdict(entry.value, where, block.verdict);
    } else if (entry.key == "crossing") {
      read_crossing(entry.value, where, block.crossing);
    } else if (entry.key == "summary") {
      for (const Value& item : items(entry.value, where)) {
        block.summary.push_back(selection(item, where));
      }
    } else if (entry.key == "plots") {
      for (const Value& item : items(entry.value, where)) {
        block.plots.push_back(read_plot(item, where));
      }
    }
  }
}

// A figure of a block takes the place of the common one of that name.
void PresentationReader::read_figures(const Value& value, const Path& path,
                                      BlockPresentation& block) {
  if (value.kind != Value::Kind::kMap) {
    complain(value, path, fmt::format("{}; expected name: {{is: FORMULA}}", value.seen()));
    return;
  }
  for (const Value::Entry& entry : value.entries) {
    FigureSpec figure = read_figure(entry.value, path + "." + entry.key, entry.key);
    const auto known = std::find_if(block.figures.begin(), block.figures.end(),
                                    [&](const FigureSpec& each) { return each.name == entry.key; });
    if (known == block.figures.end()) {
      block.figures.push_back(std::move(figure));
    } else {
      *known = std::move(figure);
    }
  }
}

FigureSpec PresentationReader::read_figure(const Value& value, const Path& path,
                                           const std::string& name) {
  FigureSpec figure;
  figure.name = name;
  if (!is_map(value, path, {"is", "title", "unit", "decimals"})) {
    return figure;
  }
  const auto* formula = value.find("is");
  if (formula == nullptr) {
    complain(value, path, "a figure without a formula; expected is: FORMULA");
    return figure;
  }
  figure.formula = text(formula->value, path + ".is");
  if (const Expression expression(figure.formula); !expression.is_valid()) {
    complain(formula->value, path + ".is", expression.problem());
  }
  read_fields(value, path, {{"title", &figure.title}, {"unit", &figure.unit}});
  if (const auto* decimals = value.find("decimals")) {
    const auto number = config::read_whole(text(decimals->value, path + ".decimals"));
    constexpr std::uint64_t kMost = 9;
    if (number.value && *number.value <= kMost) {
      figure.decimals = static_cast<int>(*number.value);
    } else {
      complain(decimals->value, path + ".decimals",
               fmt::format("{}; expected 0 to {}", decimals->value.seen(), kMost));
    }
  }
  return figure;
}

void PresentationReader::read_baseline(const Value& value, const Path& path,
                                       BaselineSpec& baseline) {
  if (!is_map(value, path, {"block", "where", "match"})) {
    return;
  }
  baseline = BaselineSpec{};
  read_fields(value, path, {{"block", &baseline.block}, {"where", &baseline.where}});
  const auto* match = value.find("match");
  if (match == nullptr) {
    complain(value, path, "no match; expected match: [columns that both rows have in common]");
  } else if (match->value.kind != Value::Kind::kSequence || !match->value.items.empty()) {
    baseline.match = texts(match->value, path + ".match");
  }
}

void PresentationReader::read_verdict(const Value& value, const Path& path, VerdictSpec& verdict) {
  if (!is_map(value, path, {"figure", "within", "per"})) {
    return;
  }
  read_fields(value, path, {{"figure", &verdict.figure}, {"per", &verdict.per}});
  if (const auto* within = value.find("within")) {
    const auto number = config::read_real(text(within->value, path + ".within"));
    if (number.value && *number.value >= 0) {
      verdict.within = *number.value;
    } else {
      complain(within->value, path + ".within",
               fmt::format("{}; expected a number from 0 up", within->value.seen()));
    }
  }
}

void PresentationReader::read_crossing(const Value& value, const Path& path,
                                       CrossingSpec& crossing) {
  if (!is_map(value, path, {"figures", "along", "predicted", "per"})) {
    return;
  }
  read_fields(value, path,
              {{"along", &crossing.along},
               {"predicted", &crossing.predicted},
               {"per", &crossing.per},
               {"figures", &crossing.figures}});
  if (crossing.figures.empty() || crossing.along.empty()) {
    complain(value, path, "expected figures: [FIGURE, ...] and along: COLUMN");
  }
}

PlotSpec PresentationReader::read_plot(const Value& value, const Path& path) {
  PlotSpec plot;
  if (!is_map(value, path,
              {"title", "kind", "x", "series", "facets", "figure", "thin", "mark", "where"})) {
    return plot;
  }
  read_fields(value, path,
              {{"title", &plot.title},
               {"kind", &plot.kind},
               {"x", &plot.x},
               {"series", &plot.series},
               {"figure", &plot.figure},
               {"mark", &plot.mark},
               {"facets", &plot.facets},
               {"thin", &plot.thin},
               {"where", &plot.where}});
  const std::vector<std::string> kinds = {"lines", "steps", "bars"};
  if (std::find(kinds.begin(), kinds.end(), plot.kind) == kinds.end()) {
    complain(value, path + ".kind",
             fmt::format("'{}'; expected {}", plot.kind, config::alternatives(kinds)));
  }
  if (plot.x.empty() || plot.figure.empty()) {
    complain(value, path, "a plot without axes; expected x: COLUMN and figure: FIGURE");
  }
  return plot;
}

void PresentationReader::check(const config::Place& place, const Presentation& presentation) {
  for (const BlockPresentation& block : presentation.blocks) {
    check_block(place, presentation, block);
  }
}

void PresentationReader::check_block(const config::Place& place, const Presentation& presentation,
                                     const BlockPresentation& block) {
  std::vector<std::string> figures;
  for (const FigureSpec& figure : block.figures) {
    figures.push_back(figure.name);
  }
  std::vector<std::string> wanted = {block.verdict.figure, block.crossing.predicted};
  wanted.insert(wanted.end(), block.crossing.figures.begin(), block.crossing.figures.end());
  for (const PlotSpec& plot : block.plots) {
    wanted.insert(wanted.end(), {plot.figure, plot.mark});
    wanted.insert(wanted.end(), plot.thin.begin(), plot.thin.end());
  }
  if (!block.summary.empty()) {
    wanted.insert(wanted.end(), presentation.summary_columns.begin(),
                  presentation.summary_columns.end());
  }
  for (const std::string& name : wanted) {
    if (!name.empty() && block.figure(name) == nullptr) {
      problems_.add(
          place, "block " + block.name,
          fmt::format("no figure '{}'; expected {}{}", name,
                      figures.empty() ? "one under figures" : config::alternatives(figures),
                      config::nearest_hint(name, figures, "figure")));
    }
  }
  if (!block.baseline.block.empty() && presentation.block(block.baseline.block) == nullptr) {
    problems_.add(place, "block " + block.name + ".baseline.block",
                  fmt::format("no block '{}'; expected the name of one", block.baseline.block));
  }
}

}  // namespace flitwise
