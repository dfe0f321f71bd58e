// SPDX-License-Identifier: Apache-2.0
// Sweep files: what they mean, and where their mistakes are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "flitwise/error.h"
#include "support/temporary_folder.h"
#include "sweep/plan.h"

namespace flitwise::study_reader_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StudyReader : public ::testing::Test {
 protected:
  StudyReader() { std::ofstream(folder_.file("base.yaml")) << "workload:\n  payload: 64B\n"; }

  Study read(const std::string& yaml) { return study_from_text(yaml, folder_.file("study.yaml")); }

  std::vector<std::string> problems(const std::string& yaml) {
    try {
      read(yaml);
    } catch (const ConfigError& error) {
      std::vector<std::string> texts;
      for (const Problem& problem : error.problems()) {
        texts.push_back(problem.text());
      }
      return texts;
    }
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(StudyReader, AFileWithoutBlocksIsOneBlock) {
  const Study study = read(
      "base: base.yaml\n"
      "seeds: [1, 2]\n"
      "axes: {link.identity: [bdf_pasid, dhi], workload.payload: {range: 8B..32B:*2}}\n"
      "zip: [{device.dhi.bits: [2, 4], workload.domains: [4, 16]}]\n");
  ASSERT_EQ(study.blocks.size(), 1U);
  const Block& block = study.blocks[0];
  EXPECT_EQ(block.name, "main");
  EXPECT_EQ(block.base, folder_.file("base.yaml"));
  EXPECT_THAT(block.seeds, ElementsAre(1, 2));
  ASSERT_EQ(block.groups.size(), 3U);
  EXPECT_EQ(block.groups[0][0].key, "link.identity");
  EXPECT_THAT(block.groups[1][0].values, ElementsAre("8B", "16B", "32B"));
  EXPECT_EQ(block.groups[2].size(), 2U) << "zipped axes move together";
}

TEST_F(StudyReader, BlocksInheritWhatStandsBesideThem) {
  const Study study = read(
      "title: two questions\n"
      "base: base.yaml\n"
      "seeds: [5]\n"
      "set: {workload.requests: 100}\n"
      "blocks:\n"
      "- name: a\n"
      "  axes: {device.dhi.bits: [2, 3]}\n"
      "- name: b\n"
      "  seeds: [6, 7]\n"
      "  set: {workload.requests: 200}\n");
  EXPECT_EQ(study.presentation.title, "two questions");
  ASSERT_EQ(study.blocks.size(), 2U);
  EXPECT_THAT(study.blocks[0].seeds, ElementsAre(5));
  EXPECT_THAT(study.blocks[1].seeds, ElementsAre(6, 7));
  EXPECT_THAT(study.blocks[1].groups, IsEmpty());
  ASSERT_EQ(study.blocks[1].sets.size(), 2U);
  EXPECT_EQ(study.blocks[1].sets.back().values.front(), "200") << "the block's own comes last";
}

TEST_F(StudyReader, AKeyOfAListTakesOneAsAConfigDoes) {
  const Study study = read(
      "base: base.yaml\nset: {device.functions.count: 4, workload.functions: [1, 2]}\n"
      "blocks: [{name: a, axes: {workload.functions: [all, [1, 2], vfs]}}]\n");
  EXPECT_THAT(study.blocks[0].sets[1].values, ElementsAre("[1,2]"));
  EXPECT_THAT(study.blocks[0].groups[0][0].values, ElementsAre("all", "[1,2]", "vfs"));
  const Plan plan = make_plan(study);
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan[1].config["workload"]["functions"].dump(), "[1,2]");
  EXPECT_THAT(problems("base: base.yaml\nset: {link.mps: {a: 1}}\n").at(0),
              HasSubstr("study.yaml:2:17: set.link.mps: a map; expected one value"));
}

TEST_F(StudyReader, UnknownKeysArePointedAtWithTheNearestOne) {
  const auto found = problems("base: base.yaml\naxis: {a: [1]}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], HasSubstr("study.yaml:2:1"));
  EXPECT_THAT(found[0], HasSubstr("nearest key 'axes'"));
}

TEST_F(StudyReader, AllProblemsAreReportedInOneGo) {
  const auto found = problems(
      "base: nowhere.yaml\n"
      "seeds: [1, two]\n"
      "axes: {a: {range: 8..4}, b: 7, c: []}\n"
      "zip: [{d: [1, 2], e: [1]}]\n");
  ASSERT_EQ(found.size(), 6U) << ::testing::PrintToString(found);
  EXPECT_THAT(found[0], HasSubstr("study.yaml:1:7: base"));
  EXPECT_THAT(found[1], HasSubstr("study.yaml:2:"));
  EXPECT_THAT(found[2], HasSubstr("axes.a: the range runs backwards"));
  EXPECT_THAT(found[3], HasSubstr("axes.b"));
  EXPECT_THAT(found[4], HasSubstr("at least one value"));
  EXPECT_THAT(found[5], HasSubstr("study.yaml:4:19: zip.e: 1 values beside the 2 of d"));
}

// What would be set twice has one value, and a run that is counted twice would make figures
// certain.
TEST_F(StudyReader, EachKeyAndEachSeedIsVariedOnce) {
  const auto found = problems(
      "base: base.yaml\n"
      "seeds: [1, 2, 1]\n"
      "axes: {link.mps: [128B, 256B], run.seed: [1, 2]}\n"
      "zip: [{link.mps: [512B]}]\n");
  ASSERT_EQ(found.size(), 3U) << ::testing::PrintToString(found);
  EXPECT_THAT(found[0], HasSubstr("study.yaml:2:8: seeds: 1 twice; expected each seed once"));
  EXPECT_THAT(found[1], HasSubstr("study.yaml:3:32: run.seed: as an axis"));
  EXPECT_THAT(found[2],
              HasSubstr("study.yaml:4:8: link.mps: block main varies 'link.mps' already"));
}

TEST_F(StudyReader, WhatIsSetIsNotVariedButByABlockThatStartsWithIt) {
  const auto found = problems(
      "base: base.yaml\n"
      "set: {link.mps: 128B, workload.payload: 8B}\n"
      "axes: {link.mps: [128B, 256B]}\n"
      "blocks:\n"
      "- {name: a, axes: {workload.payload: [8B]}, set: {workload.requests: 9}}\n"
      "- {name: b, set: {link.mps: 512B, run.seed: 3}, seeds: [1]}\n");
  ASSERT_EQ(found.size(), 3U) << ::testing::PrintToString(found);
  EXPECT_THAT(found[0], HasSubstr("study.yaml:2:7: set.link.mps: an axis varies it too; expected "
                                  "it in one of them"));
  EXPECT_THAT(found[1], HasSubstr("study.yaml:6:19: blocks[1].set.link.mps: an axis varies it"));
  EXPECT_THAT(found[2], HasSubstr("study.yaml:6:35: blocks[1].set.run.seed: seeds set it too"));
}

TEST_F(StudyReader, ValuesAndNamesAreToldInOneGo) {
  const auto found = problems(
      "base: base.yaml\n"
      "axes: {link.mps: [128B, 100B], link.idntity: [dhi]}\n"
      "figures: {f: {is: up_goodput}}\n"
      "columns: [g]\n");
  ASSERT_EQ(found.size(), 4U) << ::testing::PrintToString(found);
  EXPECT_THAT(found[0], HasSubstr("study.yaml:2:8: link.mps: 100B"));
  EXPECT_THAT(found[1], HasSubstr("study.yaml:2:32: link.idntity: unknown key"));
  EXPECT_THAT(found[2], HasSubstr("study.yaml:3:19: figures.f.is: no result"));
  EXPECT_THAT(found[3], HasSubstr("study.yaml:4:11: columns: block main has no figure 'g'"));
}

TEST_F(StudyReader, AKeyOfAConfigHasNoEqualsSign) {
  const auto found = problems(
      "base: base.yaml\n"
      "set: {\"!= \": 3}\n"
      "axes: {\"link.mps=128B,x\": [1, 2], label.a=b: [1, 2]}\n");
  ASSERT_EQ(found.size(), 2U) << ::testing::PrintToString(found);
  EXPECT_THAT(found[0], HasSubstr("study.yaml:2:7: != : has '='; expected the path of one config"));
  EXPECT_THAT(found[1], HasSubstr("study.yaml:3:8: link.mps=128B,x: has '='"));
}

TEST_F(StudyReader, EveryBlockNeedsABaseAndAnOwnName) {
  EXPECT_THAT(problems("axes: {a: [1]}\n").at(0), HasSubstr("no base"));
  EXPECT_THAT(problems("base: base.yaml\nblocks: [{axes: {a: [1]}}]\n").at(0),
              HasSubstr("block without a name"));
  EXPECT_THAT(problems("base: base.yaml\nblocks: [{name: x}, {name: x}]\n").at(0),
              HasSubstr("name of an earlier block"));
}

TEST_F(StudyReader, WhatIsNoSweepIsRefused) {
  EXPECT_THAT(problems("- 1\n").at(0), HasSubstr("where a sweep is expected"));
  EXPECT_FALSE(problems("axes: [\n").empty());
  EXPECT_THROW(read_study(folder_.file("missing.yaml")), ConfigError);
}

}  // namespace
}  // namespace flitwise::study_reader_test
