// SPDX-License-Identifier: Apache-2.0
// What limited each direction and kind of request.
#include "results/explain.h"
#include "results/tables.h"

namespace flitwise {
namespace {

using Part = Limit ExplainResult::*;

template <class Value>
auto figure_of(Part part, Value Limit::*member) {
  return [part, member](const ExplainResult& row) {
    const Limit& limit = row.*part;
    return limit.is_empty() ? FigureValue() : FigureValue(limit.*member);
  };
}

auto time_of(Part part) {
  return [part](const ExplainResult& row) {
    const Limit& limit = row.*part;
    return limit.is_empty() ? FigureValue() : FigureValue(limit.total.ns());
  };
}

// The summary has a line of it, no table.
TextTable explain_view(const std::vector<ExplainResult>& /*rows*/, const RunResult& /*result*/) {
  return TextTable({""});
}

Table<ExplainResult> make_explain_table() {
  return Table<ExplainResult>(
             "explain", "explanation",
             "One row per link of a device, direction and kind of request: what limited them.")
      .name("link", &ExplainResult::link)
      .name("direction", &ExplainResult::direction)
      .name("kind", &ExplainResult::kind)
      .figure("limit.at", "", "Where the resource is that limits; null: nothing was waited for.",
              FigureType::kText, figure_of(&ExplainResult::limit, &Limit::at))
      .figure("limit.resource", "", "Its name, as in waits[].", FigureType::kText,
              figure_of(&ExplainResult::limit, &Limit::resource))
      .figure("limit.key", "", "Key of the configuration that sizes it; empty: none does.",
              FigureType::kText, figure_of(&ExplainResult::limit, &Limit::key))
      .figure("limit.share", "1",
              "Share of the window in which it was in use (the wire, memory, walkers), or in which "
              "requests waited for it.",
              FigureType::kRealOrNone, figure_of(&ExplainResult::limit, &Limit::share))
      .figure("limit.wait_ns", "ns", "Waits for it, added up.", FigureType::kRealOrNone,
              time_of(&ExplainResult::limit))
      .figure("limit.larger", "", "A larger value of the key; empty: there is none.",
              FigureType::kText, figure_of(&ExplainResult::limit, &Limit::larger))
      .figure("next.at", "", "The same of what limits next.", FigureType::kText,
              figure_of(&ExplainResult::next, &Limit::at))
      .figure("next.resource", "", "Its name.", FigureType::kText,
              figure_of(&ExplainResult::next, &Limit::resource))
      .figure("next.key", "", "Its key.", FigureType::kText,
              figure_of(&ExplainResult::next, &Limit::key))
      .figure("next.share", "1", "Its share.", FigureType::kRealOrNone,
              figure_of(&ExplainResult::next, &Limit::share))
      .figure("next.wait_ns", "ns", "Waits for it.", FigureType::kRealOrNone,
              time_of(&ExplainResult::next))
      .flat(FlatRows::kNone, "")
      .show(explain_view);
}

}  // namespace

const StatisticsTable& explain_table() {
  static const Table<ExplainResult> kTable = make_explain_table();
  return kTable;
}

}  // namespace flitwise
