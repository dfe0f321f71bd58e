// SPDX-License-Identifier: Apache-2.0
// Merged sweeps: columns, units, missing points, the two files and the summary.
#include "sweep/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/atomic_file.h"
#include "flitwise/error.h"
#include "results/result_json.h"
#include "results/sqlite_database.h"
#include "support/temporary_folder.h"
#include "unit/results/sample_result.h"

namespace flitwise::merge_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Merge : public ::testing::Test {
 protected:
  /// A point with its result unless told otherwise.
  void add(const std::string& block, const Json& config,
           const std::vector<std::pair<std::string, std::string>>& axes, bool has_result = true,
           std::uint64_t seed = 7, double simulated_ns = 0) {
    Point point;
    point.index = plan_.size();
    point.id = "id" + std::to_string(plan_.size());
    point.block = block;
    point.seed = seed;
    point.axes = axes;
    point.config = config;
    if (has_result) {
      Json result = result_json(sample_result());
      result["point"] = {{"id", point.id}};
      if (simulated_ns > 0) {
        result["flitwise"]["simulated_ns"] = simulated_ns;
      }
      write_file_atomically(result_path(folder_.path(), point), result.dump());
    }
    plan_.push_back(point);
  }
  static Json config(const std::string& payload, int bits, const std::string& identity) {
    return {{"link", {{"identity", identity}}},
            {"workload", {{"payload", payload}}},
            {"device", {{"dhi", {{"bits", bits}}}}}};
  }

  TemporaryFolder folder_;
  Plan plan_;
};

TEST_F(Merge, OneRowAPointWithAxesAndFigures) {
  add("a", config("64B", 8, "dhi"), {{"workload.payload", "64B"}});
  add("a", config("4KiB", 8, "dhi"), {{"workload.payload", "4KiB"}});
  const MergedSweep merged = merge_results(plan_, folder_.path());
  ASSERT_EQ(merged.rows.size(), 2U);
  EXPECT_EQ(merged.rows[1]["workload.payload"], 4096) << "sizes are numbers of bytes";
  EXPECT_THAT(merged.axis_units, ElementsAre("B"));
  EXPECT_DOUBLE_EQ(merged.rows[0]["up_goodput_gbps"], 51.2);
  EXPECT_THAT(merged.columns, Contains("dma_write_p99_ns"));
}

TEST_F(Merge, ABlockThatDoesNotVaryAKeyShowsTheValueOfItsConfig) {
  add("a", config("64B", 8, "dhi"), {{"workload.payload", "64B"}});
  add("b", config("128B", 4, "bdf"), {{"link.identity", "bdf"}});
  const MergedSweep merged = merge_results(plan_, folder_.path());
  EXPECT_EQ(merged.rows[0]["link.identity"], "dhi");
  EXPECT_EQ(merged.rows[1]["workload.payload"], 128);
}

TEST_F(Merge, AnAxisOfListsIsAColumnOfTexts) {
  Json own = config("64B", 8, "dhi");
  own["workload"]["functions"] = {1, 2};
  add("a", own, {{"workload.functions", "[1,2]"}});
  const MergedSweep merged = merge_results(plan_, folder_.path());
  EXPECT_EQ(merged.rows[0]["workload.functions"], "[1,2]");
  EXPECT_THAT(merged_csv(merged), HasSubstr("\"[1,2]\""));
  EXPECT_FALSE(merged_sqlite(merged).empty());
}

TEST_F(Merge, NothingTakesThePlaceOfAColumnOfResults) {
  add("a", config("64B", 8, "dhi"), {});
  BlockPresentation block;
  block.name = "a";
  block.figures.push_back({"up_tlps", "", "", "7", 2});
  write_file_atomically(folder_.file("study.json"), to_json_text({"", "", {}, {block}, {}}).dump());
  EXPECT_THAT(
      [&] { merge_results(plan_, folder_.path()); },
      testing::ThrowsMessage<ConfigError>(HasSubstr(
          "study.json: figures.up_tlps: results have a column 'up_tlps' already; expected")));
  add("a", config("64B", 8, "dhi"), {{"dhi_hits", "few"}});
  EXPECT_THAT([&] { merge_results(plan_, folder_.path()); },
              testing::ThrowsMessage<ConfigError>(HasSubstr("manifest.jsonl: axes.dhi_hits: ")));
}

TEST_F(Merge, PointsThatDifferInTheSeedAloneAreOneRow) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    add("a", config("64B", 8, "dhi"), {{"workload.payload", "64B"}}, true, seed,
        2000.0 * static_cast<double>(seed));
  }
  add("a", config("4KiB", 8, "dhi"), {{"workload.payload", "4KiB"}}, true, 9, 100);
  const MergedSweep merged = merge_results(plan_, folder_.path());
  ASSERT_EQ(merged.rows.size(), 2U);
  const Json& row = merged.rows[0];
  EXPECT_EQ(row["seeds"], 4);
  EXPECT_TRUE(row["seed"].is_null());
  EXPECT_EQ(row["id"], "id0");
  // 2,000, 4,000, 6,000 and 8,000: t of three degrees, 3.182, x the root of 20e6 / 3 / 4
  EXPECT_DOUBLE_EQ(row["simulated_ns"].get<double>(), 5000);
  EXPECT_NEAR(row["simulated_ns_ci95"].get<double>(), 3.182446 * 1290.994, 0.1);
  EXPECT_EQ(row["dhi_hits"], 8) << "what all agree in stays a count";
  EXPECT_EQ(row["dhi_hits_ci95"], 0);
  EXPECT_EQ(merged.rows[1]["seeds"], 1);
  EXPECT_EQ(merged.rows[1]["seed"], 9);
  EXPECT_FALSE(merged.rows[1].contains("simulated_ns_ci95"));
  EXPECT_THAT(merged.columns, Contains("simulated_ns_ci95"));
  EXPECT_EQ(merged.runs.size(), 5U);
  EXPECT_THAT(sweep_summary(merged, plan_), HasSubstr("seeds"));
  const std::string path = folder_.file("results.sqlite");
  write_file_atomically(path, merged_sqlite(merged));
  SqliteDatabase database(path, SqliteDatabase::Mode::kReadOnly);
  EXPECT_EQ(database.query("SELECT seed FROM run WHERE simulated_ns > 5000").size(), 2U);
  EXPECT_EQ(database.query("SELECT simulated_ns_ci95 AS c FROM point WHERE seeds = 1")[0]["c"],
            nullptr);
}

TEST_F(Merge, AnErrorThatASeedDidNotHaveCountsZeroInTheMean) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    add("a", config("64B", 8, "dhi"), {}, true, seed);
  }
  const std::string path = result_path(folder_.path(), plan_[1]);
  Json result = Json::parse(std::ifstream(path));
  result["errors"] = {{{"kind", "completion_timeout"}, {"count", 6}}};
  write_file_atomically(path, result.dump());
  const MergedSweep merged = merge_results(plan_, folder_.path());
  ASSERT_EQ(merged.rows.size(), 1U);
  EXPECT_EQ(merged.rows[0]["errors_completion_timeout"], 2);
  EXPECT_NEAR(merged.rows[0]["errors_completion_timeout_ci95"].get<double>(), 4.302653 * 2, 1e-5);
}

TEST_F(Merge, WithOneSeedAPointThereAreNoIntervals) {
  add("a", config("64B", 8, "dhi"), {{"workload.payload", "64B"}});
  EXPECT_THAT(merge_results(plan_, folder_.path()).columns,
              Not(Contains(testing::EndsWith("_ci95"))));
}

TEST_F(Merge, MissingPointsAreNamed) {
  add("a", config("64B", 8, "dhi"), {});
  add("a", config("128B", 8, "dhi"), {}, false);
  const MergedSweep merged = merge_results(plan_, folder_.path());
  EXPECT_EQ(merged.rows.size(), 1U);
  ASSERT_EQ(merged.missing.size(), 1U);
  EXPECT_EQ(merged.missing[0].id, "id1");
}

TEST_F(Merge, SqliteHasAColumnAFigureAndTheUnitsOfTheAxes) {
  add("a", config("64B", 8, "dhi"), {{"workload.payload", "64B"}});
  const std::string path = folder_.file("results.sqlite");
  write_file_atomically(path, merged_sqlite(merge_results(plan_, folder_.path())));
  SqliteDatabase database(path, SqliteDatabase::Mode::kReadOnly);
  const auto rows = database.query("SELECT block, \"workload.payload\" AS p, dhi_hits FROM point");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0], Json({{"block", "a"}, {"p", 64}, {"dhi_hits", 8}}));
  EXPECT_EQ(database.query("SELECT unit FROM axis").at(0)["unit"], "B");
}

TEST_F(Merge, WhatATableOfSqliteCannotHoldIsInATableOfItsOwn) {
  MergedSweep merged;
  merged.columns = {"block", "id", "seed", "sw-ep_up_tlps", "sw-EP_up_tlps"};
  Json row = {{"block", "a"}, {"id", "x"}, {"seed", 1}, {"sw-ep_up_tlps", 5}, {"sw-EP_up_tlps", 6}};
  for (int i = 0; i < 2000; ++i) {
    merged.columns.push_back("c" + std::to_string(i));
    row[merged.columns.back()] = i;
  }
  merged.columns.push_back("gain");  // of the study: it stays
  row["gain"] = 2.5;
  merged.rows = {{{"block", "b"}}, row};
  merged.presentation.blocks.emplace_back().figures.push_back({"gain", "1", "", "", 2});
  EXPECT_EQ(columns_beside(merged).size(), 6U);
  const std::string path = folder_.file("results.sqlite");
  write_file_atomically(path, merged_sqlite(merged));
  SqliteDatabase database(path, SqliteDatabase::Mode::kReadOnly);
  const auto rows = database.query(
      "SELECT p.rowid AS rowid, \"sw-ep_up_tlps\" AS lower, gain, value FROM point AS p "
      "JOIN point_value ON point = p.rowid WHERE name = 'sw-EP_up_tlps'");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0], Json({{"rowid", 2}, {"lower", 5}, {"gain", 2.5}, {"value", 6}}));
  EXPECT_EQ(database.query("SELECT value FROM point_value WHERE name = 'c1999'").size(), 1U);
  EXPECT_THAT(merged_csv(merged), HasSubstr(",c1999,gain"));
}

TEST_F(Merge, CsvHasAHeaderAndEmptyCellsWhereAFigureDoesNotApply) {
  MergedSweep merged;
  merged.columns = {"block", "x", "y"};
  merged.rows = {{{"block", "a,\"b\""}, {"x", nullptr}, {"y", 1.5}}, {{"block", "c"}}};
  EXPECT_EQ(merged_csv(merged), "block,x,y\n\"a,\"\"b\"\"\",,1.5\nc,,\n");
}

// As goodput does: reads have their data on the way down.
TEST_F(Merge, SummaryHasTheEfficiencyOfTheDirectionThatCarriesData) {
  MergedSweep merged;
  merged.rows = {{{"block", "a"}, {"up_link_efficiency", 0.0}, {"down_link_efficiency", 0.81}},
                 {{"block", "b"}, {"up_link_efficiency", 0.72}, {"down_link_efficiency", 0.0}},
                 {{"block", "c"}, {"up_link_efficiency", 0.0}, {"down_link_efficiency", 0.0}}};
  EXPECT_THAT(sweep_summary(merged, plan_),
              AllOf(HasSubstr("81.00"), HasSubstr("72.00"), HasSubstr(" 0.00")));
}

TEST_F(Merge, SummaryHasLatenciesOfWritesAndReadsSideBySideWhereAPointHasBoth) {
  MergedSweep merged;
  merged.rows = {{{"block", "a"}, {"dma_write_p50_ns", 250.0}, {"dma_write_p99_ns", 300.0}},
                 {{"block", "b"}, {"dma_read_p50_ns", 400.5}, {"dma_read_p99_ns", 500.5}}};
  const std::string apart = sweep_summary(merged, plan_);
  EXPECT_THAT(apart, AllOf(HasSubstr(" p50, ns"), HasSubstr("250.0"), HasSubstr("500.5")));
  EXPECT_THAT(apart, Not(HasSubstr("read p50, ns")));
  merged.rows[0].update({{"dma_read_p50_ns", 450.5}, {"dma_read_p99_ns", 550.5}});
  const std::string both = sweep_summary(merged, plan_);
  EXPECT_THAT(both, HasSubstr("write p50, ns  read p50, ns  write p99, ns  read p99, ns"));
  for (const char* const figure : {"250.0", "450.5", "300.0", "550.5", "400.5"}) {
    EXPECT_THAT(both, HasSubstr(figure));
  }
}

TEST_F(Merge, SummaryHasARowAPointOrARowAGroup) {
  for (int i = 0; i < 3; ++i) {
    add("a", config("64B", 8 + i, "dhi"), {{"device.dhi.bits", std::to_string(8 + i)}});
  }
  EXPECT_THAT(sweep_summary(merge_results(plan_, folder_.path()), plan_), HasSubstr("51.20"));
  for (int i = 0; i < 100; ++i) {
    add("b", config("64B", i, "dhi"), {{"device.dhi.bits", std::to_string(i)}});
  }
  const std::string text = sweep_summary(merge_results(plan_, folder_.path()), plan_);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

}  // namespace
}  // namespace flitwise::merge_test
