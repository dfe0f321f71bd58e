// SPDX-License-Identifier: Apache-2.0
// YAML to Presentation.
#include "sweep/presentation_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/quantity.h"
#include "common/ranges.h"
#include "results/expression.h"

namespace flitwise {

using Of = Mention::Of;

void PresentationReader::complain(const config::Place& place, const Path& path,
                                  const std::string& message) {
  config::Place there = place;
  there.line = std::max(there.line, 1);
  there.column = std::max(there.column, 1);
  problems.add(there, path, message);
}

void PresentationReader::check_keys(
    const Value& map, const Path& path, const std::vector<std::string>& known,
    const std::function<std::string(const std::string& key)>& hint) {
  for (const Value::Entry& entry : map.entries) {
    if (!contains(known, entry.key)) {
      complain(
          entry.place, path,
          fmt::format("unknown key '{}'; expected {}{}{}", entry.key, config::alternatives(known),
                      config::nearest_hint(entry.key, known, "key"), hint ? hint(entry.key) : ""));
    }
  }
}

bool PresentationReader::expect(const Value& value, Value::Kind kind, const Path& path,
                                const std::string& form) {
  if (value.kind != kind) {
    complain(value.place, path, fmt::format("{}; expected {}", value.seen(), form));
  }
  return value.kind == kind;
}

std::string PresentationReader::text(const Value& value, const Path& path) {
  return expect(value, Value::Kind::kScalar, path, "one value") ? value.text : "";
}

std::vector<std::string> PresentationReader::texts(const Value& value, const Path& path) {
  if (value.kind == Value::Kind::kScalar) {
    return {value.text};
  }
  if (value.kind != Value::Kind::kSequence || value.items.empty()) {
    complain(value.place, path,
             fmt::format("{}; expected a word or a list of words",
                         value.kind == Value::Kind::kSequence ? "an empty list" : value.seen()));
    return {};
  }
  return mapped(value.items, [&](const Value& item) { return text(item, path); });
}

void PresentationReader::read_items(const Value& value, const Path& path,
                                    const std::function<void(const Value&)>& read) {
  expect(value, Value::Kind::kSequence, path, "a list");
  std::for_each(value.items.begin(), value.items.end(), read);
}

Selection PresentationReader::selection(const Value& value, const Path& path) {
  Selection selected;
  expect(value, Value::Kind::kMap, path, "column: value or [values]");
  for (const Value::Entry& entry : value.entries) {
    selected[entry.key] = texts(entry.value, path + "." + entry.key);
  }
  return selected;
}

void PresentationReader::mention(Mention::Of of, const Value& value, const Path& path) {
  if (value.kind == Value::Kind::kScalar) {
    mentions_->push_back({of, value.text, "", path, value.place.line, value.place.column});
  }
  for (const Value& item : value.items) {
    mention(of, item, path);
  }
  for (const Value::Entry& entry : value.entries) {
    mentions_->push_back({of, entry.key, "", path, entry.place.line, entry.place.column});
    const std::size_t first = mentions_->size();
    mention(Mention::Of::kValue, entry.value, path + "." + entry.key);
    for (std::size_t i = first; i < mentions_->size(); ++i) {
      (*mentions_)[i].column_name = entry.key;
    }
  }
}

void PresentationReader::read_fields(const Value& value, const Path& path, const Fields& fields) {
  for (const Value::Entry& entry : value.entries) {
    const auto field = find_if(fields, [&](const Field& each) { return each.key == entry.key; });
    if (field == fields.end()) {
      continue;
    }
    const Path where = path.empty() ? entry.key : path + "." + entry.key;
    if (field->names && mentions_ != nullptr) {
      mention(*field->names, entry.value, where);
    }
    if (auto* const* word = std::get_if<std::string*>(&field->target)) {
      **word = text(entry.value, where);
    } else if (auto* const* words = std::get_if<std::vector<std::string>*>(&field->target)) {
      **words = texts(entry.value, where);
    } else if (auto* const* rows = std::get_if<Selection*>(&field->target)) {
      **rows = selection(entry.value, where);
    } else {
      std::get<3>(field->target)(entry.value, where);
    }
  }
}

bool PresentationReader::read_map(const Value& value, const Path& path, const Fields& fields,
                                  const std::string& needed,
                                  const std::function<std::string(const std::string& key)>& hint) {
  const auto known = mapped(fields, &Field::key);
  if (!expect(value, Value::Kind::kMap, path, config::alternatives(known))) {
    return false;
  }
  check_keys(value, path, known, hint);
  if (!needed.empty() && value.find(needed) == nullptr) {
    return false;
  }
  read_fields(value, path, fields);
  return true;
}

PresentationReader::Fields PresentationReader::fields_of(BlockPresentation& block) {
  mentions_ = &block.mentions;
  return {
      {"title", &block.title},
      {"about", &block.about},
      {"figures", [&](const Value& value, const Path& path) { read_figures(value, path, block); }},
      {"baseline",
       [&](const Value& value, const Path& path) { read_baseline(value, path, block.baseline); }},
      {"verdict",
       [&](const Value& value, const Path& path) { read_verdict(value, path, block.verdict); }},
      {"crossing",
       [&](const Value& value, const Path& path) { read_crossing(value, path, block.crossing); }},
      {"summary",
       [&](const Value& value, const Path& path) {
         read_items(value, path, [&](const Value& item) {
           block.summary.push_back(selection(item, path));
           mention(Of::kColumn, item, path);
         });
       }},
      {"plots", [&](const Value& value, const Path& path) {
         read_items(value, path,
                    [&](const Value& item) { block.plots.push_back(read_plot(item, path)); });
       }}};
}

namespace {

/// Within braces YAML ends a formula at its first comma; what follows is no word.
std::string hint_of_quotes(const std::string& key) {
  const bool is_word = all_of(key, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return is_word ? "" : "; a formula with a comma takes quotes here, as in is: 'max(a, b)'";
}

}  // namespace

// A figure of a block takes the place of the common one of that name.
void PresentationReader::read_figures(const Value& value, const Path& path,
                                      BlockPresentation& block) {
  expect(value, Value::Kind::kMap, path, "name: {is: FORMULA}");
  for (const Value::Entry& entry : value.entries) {
    FigureSpec figure = read_figure(entry.value, path + "." + entry.key, entry.key);
    figure.line = entry.place.line;
    figure.column = entry.place.column;
    const auto known =
        find_if(block.figures, [&](const FigureSpec& each) { return each.name == entry.key; });
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
  const auto read_formula = [&](const Value& formula, const Path& where) {
    figure.formula = text(formula, where);
    const Expression expression(figure.formula);
    if (!expression.is_valid()) {
      complain(formula.place, where, expression.problem());
      return;
    }
    const std::size_t first = static_cast<std::size_t>(formula.place.column) + formula.is_quoted;
    const auto mention_at = [&](Of of, const std::string& word, std::size_t at) {
      figure.mentions.push_back(
          {of, word, "", where, formula.place.line, static_cast<int>(first + at)});
    };
    for (const Expression::Operand& operand : expression.operands()) {
      if (!operand.column.empty()) {
        mention_at(Of::kColumn, operand.column, operand.at);
      }
    }
    for (const std::size_t at : expression.baselines()) {
      mention_at(Of::kBaseline, "baseline", at);
    }
  };
  const auto read_decimals = [&](const Value& decimals, const Path& where) {
    const auto number = config::read_whole(text(decimals, where));
    constexpr std::uint64_t kMost = 9;
    if (number.value && *number.value <= kMost) {
      figure.decimals = static_cast<int>(*number.value);
    } else {
      complain(decimals.place, where, fmt::format("{}; expected 0 to {}", decimals.seen(), kMost));
    }
  };
  const bool is_read = read_map(value, path,
                                {{"is", read_formula},
                                 {"title", &figure.title},
                                 {"unit", &figure.unit},
                                 {"decimals", read_decimals}},
                                "is", hint_of_quotes);
  if (!is_read && value.kind == Value::Kind::kMap) {
    complain(value.place, path, "a figure without a formula; expected is: FORMULA");
  }
  return figure;
}

void PresentationReader::read_baseline(const Value& value, const Path& path,
                                       BaselineSpec& baseline) {
  baseline = BaselineSpec{};
  mentions_->erase(std::remove_if(mentions_->begin(), mentions_->end(),
                                  [](const Mention& one) {
                                    return one.path.find("baseline.") != std::string::npos;
                                  }),
                   mentions_->end());
  const auto read_match = [&](const Value& match, const Path& where) {
    baseline.line = match.place.line;
    baseline.column = match.place.column;
    if (match.kind != Value::Kind::kSequence || !match.items.empty()) {
      baseline.match = texts(match, where);
      mention(Of::kColumn, match, where);
    }
  };
  const bool is_map = read_map(
      value, path,
      {{"block", &baseline.block}, {"where", &baseline.where, Of::kColumn}, {"match", read_match}});
  if (is_map && value.find("match") == nullptr) {
    complain(value.place, path,
             "no match; expected match: [columns that both rows have in common]");
  }
}

void PresentationReader::read_verdict(const Value& value, const Path& path, VerdictSpec& verdict) {
  const auto read_within = [&](const Value& within, const Path& where) {
    const auto number = config::read_real(text(within, where));
    if (number.value && *number.value >= 0) {
      verdict.within = *number.value;
    } else {
      complain(within.place, where, fmt::format("{}; expected a number from 0 up", within.seen()));
    }
  };
  read_map(value, path,
           {{"figure", &verdict.figure, Of::kFigure},
            {"within", read_within},
            {"per", &verdict.per, Of::kColumn}});
}

void PresentationReader::read_crossing(const Value& value, const Path& path,
                                       CrossingSpec& crossing) {
  const bool is_map = read_map(value, path,
                               {{"figures", &crossing.figures, Of::kFigure},
                                {"along", &crossing.along, Of::kColumn},
                                {"predicted", &crossing.predicted, Of::kFigure},
                                {"per", &crossing.per, Of::kColumn}});
  if (is_map && (crossing.figures.empty() || crossing.along.empty())) {
    complain(value.place, path, "expected figures: [FIGURE, ...] and along: COLUMN");
  }
}

PlotSpec PresentationReader::read_plot(const Value& value, const Path& path) {
  PlotSpec plot;
  if (!read_map(value, path,
                {{"title", &plot.title},
                 {"kind", &plot.kind},
                 {"x", &plot.x, Of::kColumn},
                 {"series", &plot.series, Of::kColumn},
                 {"facets", &plot.facets, Of::kColumn},
                 {"figure", &plot.figure, Of::kFigure},
                 {"thin", &plot.thin, Of::kFigure},
                 {"mark", &plot.mark, Of::kFigure},
                 {"where", &plot.where, Of::kColumn}})) {
    return plot;
  }
  const std::vector<std::string> kinds = {"lines", "steps", "bars"};
  if (!contains(kinds, plot.kind)) {
    complain(value.place, path + ".kind",
             fmt::format("'{}'; expected {}", plot.kind, config::alternatives(kinds)));
  }
  if (plot.x.empty() || plot.figure.empty()) {
    complain(value.place, path, "a plot without axes; expected x: COLUMN and figure: FIGURE");
  }
  return plot;
}

// Those of results: make_plan, which knows the machines.
void PresentationReader::check_name(const config::Place& place, const Presentation& presentation,
                                    const FigureSpec& figure) {
  const auto refuse = [&](const std::string& owner) {
    complain({place.file, figure.line, figure.column, 0}, "figures." + figure.name,
             fmt::format("{} a column '{}' already; expected another name of this figure", owner,
                         figure.name));
  };
  if (contains(kPointColumns, figure.name)) {
    refuse("each point has");
  }
  for (const BlockPresentation& block : presentation.blocks) {
    if (contains(block.varied, figure.name)) {
      refuse(fmt::format("the axes of block {} make", block.name));
      return;
    }
  }
}

void PresentationReader::check(const config::Place& place, const Presentation& presentation) {
  for (const BlockPresentation& block : presentation.blocks) {
    for (const FigureSpec& figure : block.figures) {
      check_name(place, presentation, figure);
    }
    if (const auto cycle = order_of_figures(block).cycle; !cycle.empty()) {
      const FigureSpec& first = *block.figure(cycle.front());
      complain({place.file, first.line, first.column, 0}, "figures." + first.name,
               fmt::format("figures in a circle: {}, {}; expected formulas of columns, or of "
                           "figures that do without this one",
                           fmt::join(cycle, ", "), first.name));
    }
    if (!block.baseline.block.empty() && presentation.block(block.baseline.block) == nullptr) {
      complain(place, "block " + block.name + ".baseline.block",
               fmt::format("no block '{}'; expected the name of one", block.baseline.block));
    }
  }
}

}  // namespace flitwise
