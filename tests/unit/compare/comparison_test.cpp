// SPDX-License-Identifier: Apache-2.0
// Comparisons: points that match, changes and their intervals, and what people read first.
#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flitwise/error.h"
#include "results/result_json.h"
#include "unit/results/sample_result.h"

namespace flitwise::comparison_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A sweep over payloads, of which each seed has a goodput.
class SweepOf {
 public:
  explicit SweepOf(std::vector<std::string> axes = {"workload.payload"}) {
    sweep_.axes = std::move(axes);
    sweep_.axis_units.assign(sweep_.axes.size(), "");
    sweep_.axis_units.front() = "B";
    sweep_.run_columns = {"block", "id", "seed"};
    for (const std::string& axis : sweep_.axes) {
      sweep_.run_columns.push_back(axis);
    }
    sweep_.run_columns.insert(sweep_.run_columns.end(),
                              {"up_goodput_gbps", "up_tlps", "errors_timeout"});
  }
  SweepOf& add(const Json& axes, const std::vector<std::pair<int, double>>& goodputs,
               const std::string& block = "main", double tlps = 7) {
    for (const auto& [seed, goodput] : goodputs) {
      Json run = {{"block", block}, {"id", "x"}, {"seed", seed}};
      run.update(axes);
      run["up_goodput_gbps"] = goodput;
      run["up_tlps"] = tlps;
      run["host_seconds"] = goodput;
      sweep_.runs.push_back(run);
    }
    return *this;
  }
  SweepOf& add(int payload, const std::vector<std::pair<int, double>>& goodputs) {
    return add({{"workload.payload", payload}}, goodputs);
  }
  MergedSweep& sweep() { return sweep_; }
  ResultSource source(const std::string& name) {
    merge_seeds(sweep_);
    return {name, std::nullopt, sweep_};
  }

 private:
  MergedSweep sweep_;
};

std::string problem(const ResultSource& a, const ResultSource& b) {
  try {
    compare(a, b);
  } catch (const ConfigError& error) {
    return error.problems().front().text();
  }
  return "";
}

const FigureDifference& figure_at(const Comparison& comparison, const std::string& point,
                                  const std::string& name) {
  for (const FigureDifference& one : comparison.figures) {
    if (one.point == point && one.name == name) {
      return one;
    }
  }
  throw std::out_of_range(point + " " + name);
}

ResultSource run_with(const std::string& file, double simulated_ns, const Json& config) {
  Json result = result_json(sample_result());
  result["flitwise"]["simulated_ns"] = simulated_ns;
  result["config"] = config;
  return {file, result, std::nullopt};
}

TEST(Comparison, PercentIsOfTheFirstAndASignOfTheChange) {
  EXPECT_DOUBLE_EQ((FigureDifference{"", "x", 50, 40, {}}.percent()), -20);
  EXPECT_DOUBLE_EQ((FigureDifference{"", "x", -50, -40, {}}.percent()), 20) << "it rose";
  EXPECT_EQ((FigureDifference{"", "x", 0, 0, {}}.percent()), 0);
  EXPECT_TRUE(std::isinf(FigureDifference{"", "x", 0, -1, {}}.percent()));
  EXPECT_LT((FigureDifference{"", "x", 0, -1, {}}.percent()), 0);
}

TEST(Comparison, AChangeIsSureBeyondItsInterval) {
  EXPECT_TRUE((FigureDifference{"", "x", 1, 2, {}}.is_sure())) << "nothing speaks against it";
  EXPECT_TRUE((FigureDifference{"", "x", 1, 2, 0.9}.is_sure()));
  EXPECT_FALSE((FigureDifference{"", "x", 2, 1, 1.0}.is_sure()));
  EXPECT_EQ(change_text({"", "x", 2, 1, 1.5}), "-1 ± 1.5 ?");
  EXPECT_EQ(change_text({"", "x", 1, 2, 0.25}), "+1 ± 0.25");
  EXPECT_EQ(change_text({"", "x", 0, 1234567, {}}), "+1234567") << "a count";
  EXPECT_EQ(change_text({"", "x", 3.0625, 2, {}}), "-1.062");
  EXPECT_EQ(relative_text({"", "x", 0, 2, {}}), "from 0");
  EXPECT_EQ(relative_text({"", "x", 3, 3.03, {}}), "+1.00 %");
  EXPECT_EQ(relative_text({"", "x", 1e6, 1e6 - 3, {}}), "-0.0003 %");
}

TEST(Comparison, OfTwoRunsSaysKeysAndFigures) {
  const Comparison comparison =
      compare(run_with("a", 1000, {{"link", {{"mps", "128B"}, {"lanes", 4}}}, {"only", 1}}),
              run_with("b", 1100, {{"link", {{"mps", "256B"}, {"lanes", 4}}}}));
  ASSERT_EQ(comparison.config.size(), 2U);
  EXPECT_EQ(comparison.config[0].key, "link.mps");
  EXPECT_EQ(comparison.config[0].b, "256B");
  EXPECT_EQ(comparison.config[1].key, "only");
  EXPECT_TRUE(comparison.config[1].b.is_null());
  const FigureDifferences changed = comparison.changed();
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0]->name, "simulated_ns");
  EXPECT_DOUBLE_EQ(changed[0]->percent(), 10);
  EXPECT_FALSE(changed[0]->ci95);
  const Json json = comparison_json(comparison, {"f"});
  EXPECT_EQ(json["config"][0], (Json{{"key", "link.mps"}, {"a", "128B"}, {"b", "256B"}}));
  EXPECT_EQ(json["figures"][0], (Json{{"point", ""},
                                      {"name", "simulated_ns"},
                                      {"a", 1000.0},
                                      {"b", 1100.0},
                                      {"delta", 100.0},
                                      {"percent", 10.0},
                                      {"ci95", nullptr}}));
  EXPECT_EQ(json["failed"], Json({"f"}));
  EXPECT_FALSE(json.contains("only_in_a"));
}

TEST(Comparison, AnIntervalOfAConvergedRunCounts) {
  const Json at_95 = {{"run", {{"converged", {{"confidence", "95%"}}}}}};
  ResultSource a = run_with("a", 1000, at_95), b = run_with("b", 1100, at_95);
  const auto known = [](double half_width) {
    return Json{{{"figure", "simulated_ns"},
                 {"mean", 1.0},
                 {"half_width", half_width},
                 {"batches", 30},
                 {"reached", true}}};
  };
  const auto interval = [&] { return figure_at(compare(a, b), "", "simulated_ns").ci95; };
  (*a.run)["converged"] = known(30);
  EXPECT_FALSE(interval()) << "of one of both";
  (*b.run)["converged"] = known(40);
  ASSERT_TRUE(interval());
  EXPECT_DOUBLE_EQ(*interval(), 50);
  (*b.run)["config"]["run"]["converged"]["confidence"] = "99%";
  EXPECT_FALSE(interval()) << "another confidence";
}

TEST(Comparison, AnErrorThatIsNotThereCountsZero) {
  ResultSource a = run_with("a", 1000, {}), b = run_with("b", 1000, {});
  (*a.run)["errors"] = Json::array();
  (*b.run)["errors"] = {{{"kind", "timeout"}, {"count", 3}}};
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(figure_at(comparison, "", "errors_timeout").delta(), 3);
  const OrderedChanges changes = ordered_changes(comparison);
  ASSERT_EQ(changes.main.size(), 1U);
  EXPECT_EQ(changes.main[0].figure, "errors_timeout");
}

TEST(Comparison, SeedsOfBothArePaired) {
  SweepOf a, b;
  a.add(64, {{1, 10}, {2, 20}, {3, 30}});
  b.add(64, {{3, 30.5}, {1, 11}, {2, 21.5}});
  const Comparison comparison = compare(a.source("a"), b.source("b"));
  const FigureDifference& goodput = figure_at(comparison, "the only point", "up_goodput_gbps");
  EXPECT_DOUBLE_EQ(goodput.delta(), 1);
  // 1, 1.5 and 0.5: t of two degrees, 4.3027, times the root of 0.25 / 3
  EXPECT_NEAR(*goodput.ci95, 4.302653 * std::sqrt(0.25 / 3), 1e-5);
}

TEST(Comparison, OtherSeedsAreIndependent) {
  SweepOf a, b;
  a.add(64, {{1, 1}, {2, 2}, {3, 3}});
  b.add(64, {{4, 2}, {5, 4}, {6, 6}});
  const Comparison comparison = compare(a.source("a"), b.source("b"));
  const FigureDifference& goodput = comparison.figures.front();
  EXPECT_DOUBLE_EQ(goodput.delta(), 2);
  EXPECT_NEAR(*goodput.ci95, 3.218759 * std::sqrt(5.0 / 3), 1e-5) << "as in confidence_test";
  SweepOf single;
  single.add(64, {{9, 5}});
  EXPECT_FALSE(compare(a.source("a"), single.source("s")).figures.front().ci95);
}

TEST(Comparison, PointsAreMatchedByTheAxesThatVary) {
  SweepOf a({"workload.payload", "link.identity"}), b({"link.identity", "workload.payload"});
  for (const int payload : {64, 256}) {
    a.add({{"workload.payload", payload}, {"link.identity", "dhi"}}, {{1, payload}});
    b.add({{"link.identity", "bdf"}, {"workload.payload", payload}}, {{1, 2.0 * payload}});
  }
  b.add({{"link.identity", "bdf"}, {"workload.payload", 512}}, {{1, 1}});
  const Comparison comparison = compare(a.source("a"), b.source("b"));
  EXPECT_EQ(comparison.points, 2U) << "the identity is what is compared";
  EXPECT_EQ(figure_at(comparison, "workload.payload=256 B", "up_goodput_gbps").b, 512);
  EXPECT_THAT(comparison.only_in_a, IsEmpty());
  EXPECT_THAT(comparison.only_in_b, ElementsAre("workload.payload=512 B"));
  for (const FigureDifference& one : comparison.figures) {
    EXPECT_THAT(one.name, Not(testing::AnyOf("workload.payload", "seeds", "seed", "host_seconds")));
  }
  const Json json = comparison_json(comparison, {});
  EXPECT_EQ(json["only_in_b"], Json({"workload.payload=512 B"}));
}

TEST(Comparison, BlocksAreNamedWhereThereAreSeveral) {
  SweepOf a, b;
  a.add({{"workload.payload", 64}}, {{1, 5}}, "x").add({{"workload.payload", 64}}, {{1, 6}}, "y");
  b.add({{"workload.payload", 64}}, {{1, 7}}, "y");
  const Comparison comparison = compare(a.source("a"), b.source("b"));
  EXPECT_EQ(figure_at(comparison, "y", "up_goodput_gbps").a, 6);
  EXPECT_THAT(comparison.only_in_a, ElementsAre("x"));
}

TEST(Comparison, APointWithoutResultIsNamedAndHidesNoAxis) {
  SweepOf a, b;
  a.add(64, {{1, 5}});
  b.add(256, {{1, 7}});
  Point missing;
  missing.block = "main";
  missing.seed = 3;
  missing.axes = {{"workload.payload", "256B"}};
  a.sweep().missing.push_back(missing);
  EXPECT_THAT(problem(a.source("a"), b.source("b")),
              HasSubstr("b: no point has the axes of one of a: the first ones are "
                        "'workload.payload=256 B' and 'workload.payload=64 B'"));
  b.add(64, {{1, 6}});
  const Comparison comparison = compare(a.source("a"), b.source("b"));
  EXPECT_THAT(comparison.missing_in_a, ElementsAre("main: workload.payload=256B, seed 3"));
  EXPECT_THAT(comparison_text(comparison, 20, 0),
              AllOf(HasSubstr("1 run of A has no result: main: workload.payload=256B, seed 3\n"),
                    HasSubstr("1 point is in B alone: workload.payload=256 B\n")));
}

TEST(Comparison, WhatCannotBeComparedIsRefused) {
  SweepOf a;
  a.add(64, {{1, 5}});
  EXPECT_THAT(problem(run_with("x", 1, {}), a.source("a")),
              HasSubstr("a: a sweep beside x, which is a run; expected two runs or two sweeps"));
  EXPECT_THAT(problem(a.source("a"), SweepOf().source("empty")),
              HasSubstr("empty: no point has a result"));
  ResultSource old = a.source("old.sqlite");
  old.sweep->rows.push_back(old.sweep->rows.front());
  EXPECT_THAT(problem(old, a.source("a")), HasSubstr("old.sqlite: several points are 'the only "));
  ResultSource broken = run_with("broken.json", 1, {});
  broken.run->erase("errors");
  EXPECT_THAT(problem(run_with("x", 1, {}), broken), HasSubstr("broken.json: "));
}

TEST(Comparison, TheLargestChangeComesFirst) {
  Comparison comparison;
  comparison.figures = {{"", "small", 100, 101, {}},
                        {"", "none", 5, 5, {}},
                        {"", "new", 0, 1, {}},
                        {"", "large", 100, 20, {}}};
  std::vector<std::string> names;
  for (const FigureDifference* const one : comparison.changed()) {
    names.push_back(one->name);
  }
  EXPECT_THAT(names, ElementsAre("new", "large", "small"));
  EXPECT_TRUE(comparison_json(comparison, {})["figures"][0]["percent"].is_null());
}

TEST(Comparison, PeopleSeeFirstWhatSummariesShow) {
  Comparison comparison;
  comparison.figures = {{"", "up_skps", 1, 9, {}},
                        {"", "up_goodput_gbps", 100, 99, 5.0},
                        {"", "up_tlps", 100, 101, 7.0},
                        {"", "dma_write_tlp_p50_ns", 4, 5, {}},
                        {"", "dma_write_p50_ns", 4, 5, {}}};
  const OrderedChanges changes = ordered_changes(comparison);
  ASSERT_EQ(changes.main.size(), 2U);
  EXPECT_EQ(changes.main[0].figure, "dma_write_p50_ns");
  EXPECT_EQ(changes.main[1].figure, "up_goodput_gbps") << "sure or not";
  ASSERT_EQ(changes.others.size(), 2U);
  EXPECT_EQ(changes.others[0].figure, "up_skps");
  EXPECT_EQ(changes.unsure, 1U);
  EXPECT_THAT(comparison_text(comparison, 20, 0),
              AllOf(HasSubstr("1 other figures changed by no more than chance explains"),
                    HasSubstr("-1 ± 5 ?"), HasSubstr("\n?: 0 lies in the 95 % interval")));
  comparison.of_study = {"up_skps"};
  EXPECT_EQ(ordered_changes(comparison).main[0].figure, "up_skps");
}

TEST(Comparison, SweepsHaveATableAFigureAndRangesOfTheOthers) {
  Comparison comparison;
  comparison.of_sweeps = true;
  comparison.points = 30;
  for (int i = 1; i <= 30; ++i) {
    const std::string point = "p" + std::to_string(i);
    comparison.figures.push_back({point, "up_goodput_gbps", 100, 100.0 + i, {}});
    comparison.figures.push_back({point, "up_skps", 100, 100.0 - i, {}});
    comparison.figures.push_back({point, "up_acks", 0, 3.0 * i, {}});
  }
  const std::string text = comparison_text(comparison, 20, 80);
  EXPECT_THAT(text, HasSubstr("up_goodput_gbps    A    B  change  relative\np30"));
  EXPECT_THAT(text, HasSubstr("and 10 more of 30 points, which changed less\n"));
  EXPECT_THAT(text, HasSubstr("-30.00 .. -1.00 %  p30\n"));
  EXPECT_THAT(text, HasSubstr("  0 to 3  p1\n"));
  EXPECT_THAT(comparison_text(comparison, std::nullopt, 80), Not(HasSubstr("more of 30")));
  comparison.figures.clear();
  EXPECT_THAT(comparison_text(comparison, 20, 80),
              HasSubstr("All figures are the same at 30 points.\n"));
}

TEST(Comparison, FiguresOfAStudyComeFirstWhereBothHaveThem) {
  SweepOf a, b;
  a.add(64, {{1, 100}}).sweep().presentation.summary_columns = {"gain"};
  b.add(64, {{1, 90}});
  EXPECT_THAT(compare(a.source("a"), b.source("b")).of_study, IsEmpty())
      << "goodput and the like come first";
  a.sweep().presentation.summary_columns = {"gain", "up_goodput_gbps"};
  EXPECT_THAT(compare(a.source("a"), b.source("b")).of_study, ElementsAre("up_goodput_gbps"));
}

}  // namespace
}  // namespace flitwise::comparison_test
