// SPDX-License-Identifier: Apache-2.0
// Points of a study: their order, their ids, the manifest, and what becomes of bad values.
#include "sweep/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/atomic_file.h"
#include "common/ranges.h"
#include "config/load.h"
#include "flitwise/error.h"
#include "results/result_json.h"
#include "support/temporary_folder.h"
#include "sweep/merge.h"
#include "unit/results/sample_result.h"

namespace flitwise::plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class SweepPlan : public ::testing::Test {
 protected:
  SweepPlan() { std::ofstream(folder_.file("base.yaml")) << "workload:\n  requests: 10\n"; }

  Plan plan(const std::string& yaml, const std::vector<std::string>& sets = {}) {
    return make_plan(study_from_text("base: base.yaml\n" + yaml, folder_.file("study.yaml")), sets);
  }

  TemporaryFolder folder_;
};

TEST_F(SweepPlan, LastAxisVariesFastestAndSeedsAreInnermost) {
  const Plan points = plan(
      "seeds: [1, 2]\n"
      "axes: {link.identity: [bdf_pasid, dhi], workload.payload: [8B, 16B]}\n");
  ASSERT_EQ(points.size(), 8U);
  std::vector<std::string> order;
  for (const Point& point : points) {
    order.push_back(point.axes[0].second + " " + point.axes[1].second + " " +
                    std::to_string(point.seed));
  }
  EXPECT_EQ(order[0], "bdf_pasid 8B 1");
  EXPECT_EQ(order[1], "bdf_pasid 8B 2");
  EXPECT_EQ(order[2], "bdf_pasid 16B 1");
  EXPECT_EQ(order[4], "dhi 8B 1");
  EXPECT_EQ(points[5].index, 5U);
}

// Its rows would name values that did not run.
TEST_F(SweepPlan, AnOverrideOfAnAxisOrOfSeedsIsRefusedWithWhatTakesTheirPlace) {
  const auto refused = [this](const std::string& yaml, const std::string& set) -> std::string {
    try {
      plan(yaml, {set});
    } catch (const ConfigError& error) {
      return error.problems().front().text();
    }
    return "";
  };
  EXPECT_EQ(refused("axes: {workload.payload: [64B, 128B]}\n", "workload.payload=8B"),
            "--set workload.payload=8B: block main varies workload.payload; expected --axis "
            "workload.payload=8B, which takes the place of that axis");
  EXPECT_THAT(
      refused("blocks: [{name: a}, {name: b, zip: [{link.mps: [128B]}]}]\n", "link.mps=1KiB"),
      HasSubstr("block b varies link.mps"));
  EXPECT_THAT(refused("seeds: [1, 2]\n", "run.seed=7"), HasSubstr("expected --seeds 7, which"));
  EXPECT_EQ(refused("axes: {workload.payload: [64B]}\n", "run.seed=7"), "");
}

// A run that is counted twice would make its figures certain. Labels tell equal runs apart.
TEST_F(SweepPlan, APointThatIsThereAlreadyIsLeftOutAndCounted) {
  const std::string yaml =
      "base: base.yaml\nseeds: [1, 2]\naxes: {workload.payload: [64B, 64B, 128B]}\n";
  PlanNotes notes;
  const Plan points = make_plan(study_from_text(yaml, folder_.file("study.yaml")), {}, &notes);
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[3].index, 3U);
  EXPECT_EQ(notes.repeats, 2U);
  EXPECT_EQ(notes.first_repeat, "block main, workload.payload=64B, seed 1");
  EXPECT_EQ(plan("zip: [{label.way: [one, two], workload.payload: [64B, 64B]}]\n").size(), 2U);
}

TEST_F(SweepPlan, KeysThatNoPointReadsAreToldOnceAtTheirPlaceInTheStudy) {
  const auto idle = [this](const std::string& yaml, const std::vector<std::string>& sets) {
    PlanNotes notes;
    make_plan(study_from_text("base: base.yaml\n" + yaml, folder_.file("study.yaml")), sets,
              &notes);
    return mapped(notes.without_effect, &Problem::text);
  };
  std::ofstream(folder_.file("base.yaml")) << "workload: {requests: 10, burst: 4}\n";  // a base
  EXPECT_THAT(idle("axes:\n  device.dhi.bits: [2, 4]\n  workload.payload: [8B, 16B]\n", {}),
              ElementsAre(HasSubstr("study.yaml:3:3: device.dhi.bits: because link.identity is "
                                    "bdf_pasid")));
  // One point reads it.
  EXPECT_THAT(idle("axes: {device.dhi.bits: [2, 4], link.identity: [bdf_pasid, dhi]}\n", {}),
              IsEmpty());
  EXPECT_THAT(idle("set: {workload.rate: 2Mreq/s}\nblocks:\n- {name: a, axes: {workload.payload: "
                   "[8B]}}\n- {name: b, axes: {workload.arrival: [poisson]}}\n",
                   {}),
              IsEmpty());
  EXPECT_THAT(idle("axes: {workload.payload: [8B, 16B]}\n", {"workload.churn=0.5"}),
              ElementsAre(HasSubstr("--set workload.churn=0.5: workload.churn: because")));
}

TEST_F(SweepPlan, ZippedAxesMoveTogether) {
  const Plan points = plan("zip: [{device.dhi.bits: [2, 4], workload.domains: [3, 9]}]\n");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].config["device"]["dhi"]["bits"], 4);
  EXPECT_EQ(points[1].config["workload"]["domains"], 9);
}

TEST_F(SweepPlan, IdsAreSixteenDigitsAndDependOnConfigAndSeedAlone) {
  const Plan first = plan("seeds: [1, 2]\naxes: {workload.payload: [8B, 16B]}\n");
  const Plan second = plan("seeds: [2]\nblocks: [{name: other, set: {workload.payload: 8B}}]\n");
  std::set<std::string> ids;
  for (const Point& point : first) {
    EXPECT_THAT(point.id, MatchesRegex("[0-9a-f]{16}"));
    ids.insert(point.id);
  }
  EXPECT_EQ(ids.size(), 4U);
  EXPECT_EQ(second.at(0).id, first.at(1).id) << "the same run, however it is written";
}

TEST_F(SweepPlan, OverridesFromTheCommandLineWinInEveryPoint) {
  const Plan points = plan("set: {workload.requests: 5}\naxes: {link.mps: [128B, 256B]}\n",
                           {"workload.requests=7"});
  EXPECT_EQ(points.size(), 2U);
  for (const Point& point : points) {
    EXPECT_EQ(point.config["workload"]["requests"], 7);
  }
}

TEST_F(SweepPlan, MoreThanAHundredThousandPointsAreRefusedBeforeAnyIsMade) {
  const auto problem = [this](const std::string& yaml) -> std::string {
    try {
      plan(yaml);
    } catch (const ConfigError& error) {
      return error.problems().size() == 1 ? error.what() : "several problems";
    }
    return "";
  };
  std::string axes = "axes:\n";
  for (unsigned i = 0; i < 12; ++i) {
    axes += "  label.k" + std::to_string(i) + ": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  }
  EXPECT_THAT(problem(axes), HasSubstr("study.yaml:8:3: label.k5: makes 100000 x 10 points of "
                                       "block main; expected at most 100000 in a study"));
  const std::string range = "axes: {label.k: {range: 1..60000:+1}}\n";
  EXPECT_THAT(problem("seeds: [1, 2]\n" + range), HasSubstr("makes 2 x 60000 points"));
  EXPECT_THAT(problem("blocks: [{name: a, " + range.substr(0, range.size() - 1) + "}, {name: b, " +
                      range.substr(0, range.size() - 1) + "}]\n"),
              HasSubstr("of block b; expected at most 100000 in a study, of which 40000 are left"));
}

TEST_F(SweepPlan, BadValuesAreReportedOnceWhereTheStudyWritesThem) {
  try {
    plan("axes: {link.mps: [128B, 256B], device.dhi.bits: [2, 13]}\n");
    FAIL() << "13 handle bits were accepted";
  } catch (const ConfigError& error) {
    ASSERT_EQ(error.problems().size(), 1U) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("study.yaml:2:32: device.dhi.bits: "));
  }
}

TEST_F(SweepPlan, UnknownKeysOfAxesAreReported) {
  EXPECT_THROW(plan("axes: {device.dhi.bitts: [2]}\n"), ConfigError);
}

TEST_F(SweepPlan, TheManifestGivesBackEveryPoint) {
  const Plan points = plan("seeds: [3]\naxes: {workload.payload: [8B, 16B]}\n");
  const std::string out = folder_.file("out");
  write_plan(points, {}, out, "/usr/bin/flitwise");
  const Plan back = read_manifest(out + "/manifest.jsonl");
  ASSERT_EQ(back.size(), points.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].id, points[i].id);
    EXPECT_EQ(back[i].axes, points[i].axes);
    EXPECT_EQ(back[i].config, points[i].config);
    EXPECT_EQ(read_manifest_line(out + "/manifest.jsonl", i).id, points[i].id);
    EXPECT_EQ(effective_config(config_of(back[i])), points[i].config)
        << "a point's config comes back from its manifest line";
  }
  EXPECT_THROW(read_manifest_line(out + "/manifest.jsonl", 2), ConfigError);
}

TEST_F(SweepPlan, APartOfALongManifestIsFound) {
  const std::string file = folder_.file("manifest.jsonl");
  constexpr std::size_t kPoints = 3000;
  std::ofstream out(file);
  for (std::size_t i = 0; i < kPoints; ++i) {  // of unequal length
    out << "{\"index\":" << i << ",\"id\":\"0123456789abcdef\",\"block\":\""
        << std::string(i * 37 % 500, 'x') << "\",\"seed\":" << i << ",\"axes\":{},\"config\":{}}\n";
  }
  out.close();
  for (const std::size_t first : {0, 1, 77, 1499, 2047, 2990, 2999}) {
    const Plan part = read_manifest_part(file, first, 10);
    ASSERT_EQ(part.size(), std::min<std::size_t>(10, kPoints - first)) << first;
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(part[i].index, first + i);
      EXPECT_EQ(part[i].seed, first + i);
    }
  }
  EXPECT_THROW(read_manifest_part(file, kPoints, 10), ConfigError);
}

TEST_F(SweepPlan, ThePlanIsTheSameEachTime) {
  const std::string study = "axes: {workload.payload: {range: 8B..4KiB:*2}}\n";
  write_plan(plan(study), {}, folder_.file("a"), "flitwise");
  write_plan(plan(study), {}, folder_.file("b"), "flitwise");
  EXPECT_EQ(read_file(folder_.file("a/manifest.jsonl")),
            read_file(folder_.file("b/manifest.jsonl")));
}

TEST_F(SweepPlan, EnginesGetACommandALineAndAnArrayScript) {
  const std::string out = folder_.file("out dir");
  write_plan(plan("axes: {workload.payload: [8B, 16B, 32B]}\n"), {}, out, "flitwise");
  const std::string commands = read_file(out + "/points.txt");
  EXPECT_EQ(std::count(commands.begin(), commands.end(), '\n'), 3);
  EXPECT_THAT(commands, HasSubstr("--index 2 --out '" + out + "'"));
  EXPECT_THAT(read_file(out + "/array.sbatch"), HasSubstr("--array=0-2"));
  EXPECT_THAT(read_file(out + "/Snakefile"), HasSubstr("program=\"flitwise\""));
  EXPECT_THAT(read_file(out + "/merge.sbatch"), HasSubstr("flitwise sweep merge ."));
  EXPECT_TRUE(std::filesystem::is_directory(out + "/logs")) << "Slurm fails tasks without it";
}

TEST_F(SweepPlan, HowPointsAreRunIsKeptBesideThem) {
  const std::string out = folder_.file("out");
  EXPECT_EQ(read_engine_options(out).engine, "local") << "there is none";
  const EngineOptions engine{"slurm", 8, 3, 90.5, 2};
  write_plan(plan("axes: {workload.payload: [8B, 16B, 32B]}\n"), {}, out, "flitwise", engine);
  EXPECT_EQ(engine_options_text(read_engine_options(out)), engine_options_text(engine));
  const std::string script = read_file(out + "/array.sbatch");
  EXPECT_THAT(script, HasSubstr("--array=0-1"));
  EXPECT_THAT(script, HasSubstr("--points-per-task 2 --retries 3 --timeout 90.5s"));
  std::ofstream(out + "/engine.json") << "{";
  EXPECT_THROW(read_engine_options(out), ConfigError);
}

TEST_F(SweepPlan, ADamagedManifestIsRefusedWithItsLine) {
  std::ofstream(folder_.file("manifest.jsonl")) << "{\"index\": 0}\n";
  try {
    read_manifest(folder_.file("manifest.jsonl"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("manifest.jsonl:1:1"));
  }
}

TEST_F(SweepPlan, WhatIsWrongWithAFileOfAPlanIsSaidInWordsOfOurs) {
  const std::string file = folder_.file("out/manifest.jsonl");
  write_plan(plan("axes: {workload.payload: [8B]}\n"), {}, folder_.file("out"), "flitwise");
  const auto message = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::pair<std::string, std::string> damages[] = {
      {"", "has no point; expected a manifest of sweep plan"},
      {"{]\n", "no line of a manifest: is no JSON at byte 2"},
      {"{}\n", "no line of a manifest: a key is missing, or has a value of another kind"}};
  for (const auto& [text, said] : damages) {
    write_file_atomically(file, text);
    EXPECT_THAT(message([&] { read_manifest(file); }), HasSubstr(said));
  }
  write_file_atomically(folder_.file("out/study.json"), "[");
  EXPECT_THAT(message([&] { read_presentation(folder_.file("out")); }),
              HasSubstr("is no JSON at byte 2; expected the file that sweep plan wrote"));
}

TEST_F(SweepPlan, OnlyAResultOfThisVeryIdCounts) {
  const Plan points = plan("axes: {workload.payload: [8B, 16B]}\n");
  const std::string out = folder_.file("out");
  EXPECT_FALSE(read_point_file(out, points[0]).is_there);
  EXPECT_FALSE(has_result(out, points[0]));
  nlohmann::ordered_json result = result_json(sample_result());
  result["point"] = {{"id", points[0].id}};
  write_file_atomically(result_path(out, points[0]), result.dump());
  write_file_atomically(result_path(out, points[1]), result.dump());
  EXPECT_TRUE(has_result(out, points[0]));
  EXPECT_FALSE(has_result(out, points[1])) << "another id";
  write_file_atomically(result_path(out, points[0]), result.dump().substr(0, 2000));
  EXPECT_FALSE(has_result(out, points[0])) << "a truncated file is no result";
}

TEST_F(SweepPlan, ABrokenPointFileIsNoResultAndNoError) {
  const Plan points = plan("axes: {workload.payload: [8B]}\n");
  const std::string out = folder_.file("out");
  nlohmann::ordered_json bare = {{"point", {{"id", points[0].id}}}};
  nlohmann::ordered_json wrong = result_json(sample_result());
  wrong["point"] = {{"id", points[0].id}};
  wrong["links"] = 5;
  for (const std::string& text : {std::string(R"({"point": {"id": 5}})"), bare.dump(), wrong.dump(),
                                  std::string("[]"), std::string("null"), std::string()}) {
    write_file_atomically(result_path(out, points[0]), text);
    const PointFile file = read_point_file(out, points[0]);
    EXPECT_TRUE(file.is_there) << text;
    EXPECT_TRUE(file.result.is_null()) << text;
    EXPECT_FALSE(has_result(out, points[0])) << text;
    EXPECT_EQ(merge_results(points, out).missing.size(), 1U) << text;
  }
}

TEST_F(SweepPlan, AnIdOfTheManifestThatLeavesTheFolderIsRefused) {
  const Plan points = plan("axes: {workload.payload: [8B]}\n");
  for (const char* id : {"../../../etc/x00", "0123456789ABCDEF", "", "0123456789abcde"}) {
    Plan bad = points;
    bad[0].id = id;
    write_plan(bad, {}, folder_.file("out"), "flitwise");
    EXPECT_THROW(read_manifest(folder_.file("out/manifest.jsonl")), ConfigError) << id;
    EXPECT_THROW(read_manifest_line(folder_.file("out/manifest.jsonl"), 0), ConfigError) << id;
  }
}

TEST_F(SweepPlan, AFolderBelongsToTheStudyOfItsFileOrTitleOrPoints) {
  const std::string out = folder_.file("out");
  const auto title = [](const char* file, const char* name) {
    Presentation shown;
    shown.file = file;
    shown.title = name;
    return shown;
  };
  const Plan small = plan("axes: {workload.payload: [8B, 16B]}\n");
  const Plan other = plan("axes: {workload.payload: [32B]}\n");
  write_plan(small, title("/a.yaml", "a"), out, "flitwise");
  EXPECT_NO_THROW(write_plan(other, title("/a.yaml", "b"), out, "flitwise")) << "the same file";
  EXPECT_NO_THROW(write_plan(small, title("/moved.yaml", "b"), out, "flitwise")) << "a copy";
  EXPECT_THROW(write_plan(small, title("/c.yaml", "c"), out, "flitwise"), ConfigError);
  EXPECT_NO_THROW(write_plan(small, title("/c.yaml", ""), out, "flitwise")) << "the same points";
  EXPECT_THROW(write_plan(other, title("/d.yaml", "d"), out, "flitwise"), ConfigError);
  std::filesystem::remove(out + "/manifest.jsonl");
  EXPECT_NO_THROW(write_plan(other, title("/d.yaml", "d"), out, "flitwise")) << "nobody's";
}

TEST_F(SweepPlan, OfAFolderWithADamagedFileTheOtherOneSaysWhoseItIs) {
  const std::string out = folder_.file("out");
  Presentation mine, another;
  mine.title = "mine";
  another.title = "another";
  const Plan points = plan("axes: {workload.payload: [8B]}\n");
  const Plan other = plan("axes: {workload.payload: [32B]}\n");
  const std::string manifest = out + "/manifest.jsonl", shown = out + "/study.json";
  for (const std::string& damaged : {manifest, shown}) {
    for (const char* const left : {"{", "{}"}) {
      write_plan(points, mine, out, "flitwise");
      write_file_atomically(damaged, left);
      EXPECT_THROW(write_plan(other, another, out, "flitwise"), ConfigError) << damaged << left;
      EXPECT_NO_THROW(write_plan(points, mine, out, "flitwise")) << damaged << left;
    }
  }
  write_file_atomically(manifest, "{");
  write_file_atomically(shown, "{");
  EXPECT_NO_THROW(write_plan(other, another, out, "flitwise")) << "nobody's";
}

TEST_F(SweepPlan, MergedFilesOfAnotherManifestGo) {
  const std::string out = folder_.file("out");
  const std::string merged = out + "/results.sqlite";
  write_plan(plan("axes: {workload.payload: [8B, 16B]}\n"), {}, out, "flitwise");
  write_file_atomically(merged, "rows");
  write_file_atomically(out + "/points.csv", "rows");
  write_plan(plan("axes: {workload.payload: [8B, 16B]}\n"), {}, out, "flitwise");
  EXPECT_TRUE(std::filesystem::exists(merged)) << "of the same manifest";
  write_plan(plan("axes: {workload.payload: [8B, 16B, 32B]}\n"), {}, out, "flitwise");
  EXPECT_FALSE(std::filesystem::exists(merged));
  EXPECT_FALSE(std::filesystem::exists(out + "/points.csv"));
}

}  // namespace
}  // namespace flitwise::plan_test
