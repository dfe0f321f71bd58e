// SPDX-License-Identifier: Apache-2.0
// What limited each direction and kind of request.
#include <optional>

#include "results/explain.h"
#include "results/tables.h"

namespace flitwise {
namespace {

using Part = Limit ExplainResult::*;
constexpr Part kLimit = &ExplainResult::limit, kNext = &ExplainResult::next;

template <class Value>
auto of(Part part, Value Limit::*member) {
  return [part, member](const ExplainResult& row) {
    const Limit& limit = row.*part;
    return limit.is_empty() ? std::nullopt : std::optional(limit.*member);
  };
}

auto time_of(Part part) {
  return [part](const ExplainResult& row) {
    const Limit& limit = row.*part;
    return limit.is_empty() ? std::nullopt : std::optional(limit.total.ns());
  };
}

// The summary has a line of it, no table.
TextTable explain_view(const std::vector<ExplainResult>& /*rows*/, const RunResult& /*result*/) {
  return TextTable({""});
}

}  // namespace

const StatisticsTable& explain_table() {
  static const auto kTable =
      Table<ExplainResult>(
          "explain", "explanation",
          "One row per link of a device, direction and kind of request: what limited them.")
          .name("link", &ExplainResult::link)
          .name("direction", &ExplainResult::direction)
          .name("kind", &ExplainResult::kind)
          .text("limit.at", of(kLimit, &Limit::at),
                "Where the resource is that limits; null: nothing was waited for.")
          .text("limit.resource", of(kLimit, &Limit::resource), "Its name, as in waits[].")
          .text("limit.key", of(kLimit, &Limit::key),
                "Key of the configuration that sizes it; empty: none does.")
          .real_or_none(
              "limit.share", of(kLimit, &Limit::share), "1",
              "Share of the window in which it was in use (the wire, memory, walkers), or in which "
              "requests waited for it.")
          .real_or_none("limit.wait_ns", time_of(kLimit), "ns", "Waits for it, added up.")
          .text("limit.larger", of(kLimit, &Limit::larger),
                "A larger value of the key; empty: there is none.")
          .text("next.at", of(kNext, &Limit::at), "The same of what limits next.")
          .text("next.resource", of(kNext, &Limit::resource), "Its name.")
          .text("next.key", of(kNext, &Limit::key), "Its key.")
          .real_or_none("next.share", of(kNext, &Limit::share), "1", "Its share.")
          .real_or_none("next.wait_ns", time_of(kNext), "ns", "Waits for it.")
          .flat(FlatRows::kNone, "")
          .show(explain_view);
  return kTable;
}

}  // namespace flitwise
