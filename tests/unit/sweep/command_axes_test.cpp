// SPDX-License-Identifier: Apache-2.0
// Axes, zips and seeds of the command line, alone and beside those of a study.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"
#include "sweep/plan.h"

namespace flitwise::command_axes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CommandLineAxes : public ::testing::Test {
 protected:
  CommandLineAxes() {
    std::ofstream(folder_.file("base.yaml")) << "workload:\n  requests: 10\n";
    std::ofstream(folder_.file("study.yaml"))
        << "base: base.yaml\naxes: {link.mps: [128B, 256B], workload.payload: [8B]}\n"
           "zip: [{device.dhi.bits: [2, 4], workload.domains: [4, 16]}]\n";
  }
  static std::string refusal(const std::string& axis, const std::string& zip,
                             const std::string& seeds) {
    try {
      read_command_axes(axis.empty() ? std::vector<std::string>{} : std::vector{axis},
                        zip.empty() ? std::vector<std::string>{} : std::vector{zip}, seeds);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(CommandLineAxes, AreValuesAndRangesWithCommasBetween) {
  const CommandAxes added =
      read_command_axes({"a.b=1..4:*2,16", "a.c=[1,2],[3]", "a.d=linspace(0.1,0.3,3),1"},
                        {"a.e=1,2 a.f=x,y"}, "1..3,9");
  ASSERT_EQ(added.groups.size(), 4U);
  EXPECT_THAT(added.groups[0][0].values, ElementsAre("1", "2", "4", "16"));
  EXPECT_THAT(added.groups[1][0].values, ElementsAre("[1,2]", "[3]"));
  EXPECT_THAT(added.groups[2][0].values, ElementsAre("0.1", "0.2", "0.3", "1"));
  ASSERT_EQ(added.groups[3].size(), 2U);
  EXPECT_EQ(added.groups[3][1].key, "a.f");
  EXPECT_THAT(added.seeds, ElementsAre(1, 2, 3, 9));
}

TEST_F(CommandLineAxes, SayWhatIsWrongWithThem) {
  EXPECT_THAT(refusal("a.b", "", ""), HasSubstr("--axis: 'a.b'; expected KEY=VALUES"));
  EXPECT_THAT(refusal("a.b=1,,2", "", ""), HasSubstr("--axis: a.b: '1,,2' has an empty value"));
  EXPECT_THAT(refusal("a.b=4..1", "", ""), HasSubstr("the range runs backwards"));
  EXPECT_THAT(refusal("", "a=1,2 b=3", ""), HasSubstr("--zip: b: 1 values beside the 2 of a"));
  EXPECT_THAT(refusal("", "", "1,x"), HasSubstr("--seeds: "));
}

TEST_F(CommandLineAxes, MakeAStudyOfAConfig) {
  const Plan plan = make_plan(
      read_study(folder_.file("base.yaml"), read_command_axes({"link.mps=128B,256B"}, {}, "4,5")));
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_EQ(plan[2].axes[0].second, "256B");
  EXPECT_EQ(plan[3].seed, 5U);
}

TEST_F(CommandLineAxes, ComeBehindThoseOfAStudyAndReplaceThoseOfTheSameKey) {
  const std::string study = folder_.file("study.yaml");
  const Plan plan = make_plan(read_study(
      study, read_command_axes({"link.mps=512B", "link.preset=gen4x16,gen5x16"}, {}, "")));
  ASSERT_EQ(plan.size(), 4U) << "one payload, two zipped pairs, two presets";
  EXPECT_EQ(plan[1].axes.back().second, "gen5x16");
  EXPECT_EQ(plan[0].axes[3].second, "512B");
  try {
    read_study(study, read_command_axes({"device.dhi.bits=2"}, {}, ""));
    ADD_FAILURE() << "half of a zip cannot be replaced";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("command line: device.dhi.bits: moves together with others"));
  }
  try {
    make_plan(read_study(study, read_command_axes({"link.preset=gen99"}, {}, "")));
    ADD_FAILURE() << "there is no such preset";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("command line: link.preset: 'gen99'"));
  }
}

}  // namespace
}  // namespace flitwise::command_axes_test
