// SPDX-License-Identifier: Apache-2.0
// What people look for first in a comparison.
#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <unordered_map>

#include "common/ranges.h"
#include "compare/comparison.h"

namespace flitwise {
namespace {

using boost::algorithm::ends_with;
using boost::algorithm::starts_with;

/// What summaries show of every machine, and what went wrong.
bool is_of_every_summary(const std::string& figure) {
  static const char* const kEnds[] = {"goodput_gbps", "goodput",       "link_efficiency",
                                      "_p50_ns",      "_p99_ns",       "latency_p50",
                                      "latency_p99",  "mean_slowdown", "p99_slowdown"};
  const bool is_repeated = figure.find("dma_write_tlp_") != std::string::npos;  // of requests
  return starts_with(figure, "errors_") || figure == "checks_failed" ||
         (!is_repeated && any_of(kEnds, [&](const char* end) { return ends_with(figure, end); }));
}

}  // namespace

OrderedChanges ordered_changes(const Comparison& comparison) {
  const auto is_main = [&](const std::string& figure) {
    return comparison.of_study.empty() ? is_of_every_summary(figure)
                                       : contains(comparison.of_study, figure);
  };
  std::vector<FigureChanges> all;  // in the order of their largest change
  std::unordered_map<std::string, std::size_t> places;
  for (const FigureDifference* const one : comparison.changed()) {
    const auto [place, is_new] = places.emplace(one->name, all.size());
    if (is_new) {
      all.push_back({one->name, {}});
    }
    all[place->second].points.push_back(one);
  }
  OrderedChanges changes;
  for (FigureChanges& figure : all) {
    if (is_main(figure.figure)) {
      changes.main.push_back(std::move(figure));
      continue;
    }
    figure.points = those(figure.points, [](const auto* one) { return one->is_sure(); });
    if (figure.points.empty()) {
      ++changes.unsure;
    } else {
      changes.others.push_back(std::move(figure));
    }
  }
  std::stable_sort(changes.others.begin(), changes.others.end(),
                   [](const FigureChanges& one, const FigureChanges& other) {
                     return std::abs(one.points.front()->percent()) >
                            std::abs(other.points.front()->percent());
                   });
  return changes;
}

}  // namespace flitwise
