// SPDX-License-Identifier: Apache-2.0
// Defaults, base, file, --set and seed: who wins, and where problems are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unit/config/support.h"

namespace flitwise::layers_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Layers : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("flitwise_layers_") + info->name());
    std::filesystem::create_directories(directory_ / "sub");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) {
    const auto path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  std::vector<std::string> problems(const std::string& file) {
    try {
      load_config(file);
    } catch (const ConfigError& error) {
      std::vector<std::string> lines;
      for (const Problem& problem : error.problems()) {
        lines.push_back(problem.text().substr(directory_.string().size() + 1));
      }
      return lines;
    }
    return {};
  }

  std::filesystem::path directory_;
};

TEST_F(Layers, AnEmptyFileIsAllDefaults) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "link:\nrun:\n"}) {
    EXPECT_EQ(effective_config(config_of(text)), effective_config(Config{})) << text;
  }
}

TEST_F(Layers, FileWinsOverBaseAndSetWinsOverFileAndSeedOverAll) {
  write("base.yaml", "link: {mps: 128B, mrrs: 1KiB}\nrun: {seed: 2, warmup: 7}\n");
  const std::string file =
      write("sub/file.yaml", "base: ../base.yaml\nlink: {mps: 512B}\nrun: {seed: 3}\n");
  const Config plain = load_config(file);
  EXPECT_EQ(plain.link.mrrs, 1024U);
  EXPECT_EQ(plain.link.mps, 512U);
  EXPECT_EQ(plain.run.seed, 3U);
  EXPECT_EQ(plain.run.warmup, 7U);
  const Config set = load_config(file, {{"link.mps=1KiB", "run.seed=4", "link.mps=2KiB"}, {}});
  EXPECT_EQ(set.link.mps, 2048U);
  EXPECT_EQ(set.run.seed, 4U);
  EXPECT_EQ(load_config(file, {{"run.seed=4"}, 5}).run.seed, 5U);
}

TEST_F(Layers, MissingBaseIsReportedAtItsKey) {
  const std::string file = write("file.yaml", "run: {seed: 1}\nbase: nowhere.yaml\nlink: {a: 1}\n");
  EXPECT_THAT(problems(file), ElementsAre(StartsWith("file.yaml:2:1: base: no file 'nowhere.yaml'"),
                                          StartsWith("file.yaml:3:8: link.a: unknown key")));
}

TEST_F(Layers, ABaseOfABaseIsReportedThere) {
  write("one.yaml", "link: {}\nbase: two.yaml\n");
  const std::string file = write("file.yaml", "base: one.yaml\n");
  EXPECT_THAT(problems(file), ElementsAre(StartsWith("one.yaml:2:1: base: a base of a base")));
}

TEST_F(Layers, ProblemsOfTheFileComeBeforeThoseOfItsBase) {
  write("base.yaml", "link: {mps: 1}\n");
  const std::string file = write("file.yaml", "base: base.yaml\nrun: {sed: 1}\n");
  EXPECT_THAT(problems(file),
              ElementsAre(StartsWith("file.yaml:2:7"), StartsWith("base.yaml:1:13")));
}

TEST_F(Layers, ABrokenRelationIsBlamedOnTheFileThatBrokeIt) {
  write("base.yaml", "message: {flit_bits: 32}\n");
  const std::string file = write("file.yaml", "base: base.yaml\nmessage: {crc_bits: 32}\n");
  EXPECT_THAT(problems(file), ElementsAre(StartsWith("file.yaml:2:21: message.crc_bits")));
}

TEST_F(Layers, BaseHasToBeOnePath) {
  EXPECT_THAT(problems(write("a.yaml", "base: [b.yaml]\n")), ElementsAre(StartsWith("a.yaml:1:7")));
  EXPECT_THAT(problems(write("b.yaml", "base:\n")), ElementsAre(StartsWith("b.yaml:1:1")));
  EXPECT_THAT(problems(write("c.yaml", "base: sub\n")),
              ElementsAre(HasSubstr("'sub' is a directory")));
}

TEST_F(Layers, PathsStartAtTheFileThatNamesThem) {
  write("sub/sizes.csv", "1,100\n");
  write("sub/base.yaml", "workload: {sizes: sizes.csv}\n");
  const std::string file = write("file.yaml", "base: sub/base.yaml\n");
  EXPECT_EQ(load_config(file).workload.sizes, (directory_ / "sub/sizes.csv").string());
  EXPECT_EQ(load_config(file, {{"workload.trace=sub/sizes.csv"}, {}}).workload.trace,
            (directory_ / "sub/sizes.csv").string());
}

TEST(Set, ProblemsNameTheOverride) {
  EXPECT_THAT(problems_of("", {"device.dhi.bitz=3"}),
              ElementsAre(StartsWith("--set device.dhi.bitz=3: unknown key 'device.dhi.bitz'; ")));
  EXPECT_THAT(problems_of("", {"device.dhi.bitz=3"}),
              ElementsAre(HasSubstr("nearest key 'device.dhi.bits'")));
  EXPECT_THAT(problems_of("", {"link.mps=256"}),
              ElementsAre(StartsWith("--set link.mps=256: '256' has no unit")));
  EXPECT_THAT(problems_of("", {"link.mps=256B"}), IsEmpty());
  EXPECT_THAT(problems_of("", {"link"}), ElementsAre(HasSubstr("expected KEY=VALUE")));
  EXPECT_THAT(problems_of("", {"=3"}), ElementsAre(HasSubstr("expected KEY=VALUE")));
  EXPECT_THAT(problems_of("", {"run.seed="}), ElementsAre(HasSubstr("no value")));
  EXPECT_THAT(problems_of("", {"run.seed=[1"}), ElementsAre(HasSubstr("not valid YAML")));
  EXPECT_THAT(problems_of("", {"base=x.yaml"}), ElementsAre(HasSubstr("expected it in the file")));
  EXPECT_THAT(problems_of("", {"link=3"}), ElementsAre(HasSubstr("expected a map")));
}

TEST(Set, ProblemsComeAfterThoseOfTheFileInTheirOrder) {
  EXPECT_THAT(
      problems_of("link: {a: 1}\n", {"run.z=1", "run.a=1"}),
      ElementsAre(StartsWith("c.yaml:1:8"), StartsWith("--set run.z"), StartsWith("--set run.a")));
}

TEST(Set, TakesListsAndMapsToo) {
  EXPECT_THAT(config_of("", {"faults.up.corrupt_tlps=[3, 17]"}).faults.up.corrupt_tlps,
              ElementsAre(3U, 17U));
  EXPECT_EQ(config_of("", {"device.dhi={bits: 5}"}).device.dhi.bits, 5U);
}

TEST(Yaml, AnchorsAndMergeKeysWork) {
  const Config config = config_of(
      "faults:\n  up: &f {corrupt_tlps: [3], corrupt_dllps: [4]}\n"
      "  down:\n    <<: *f\n    corrupt_dllps: [5]\n");
  EXPECT_THAT(config.faults.down.corrupt_tlps, ElementsAre(3U));
  EXPECT_THAT(config.faults.down.corrupt_dllps, ElementsAre(5U));
  EXPECT_THAT(config_of("faults: {up: &f {corrupt_tlps: [3]}, down: *f}").faults.down.corrupt_tlps,
              ElementsAre(3U));
  EXPECT_THAT(problems_of("run: {<<: 3}\n"), ElementsAre(HasSubstr("'<<' merges '3'")));
}

TEST(Yaml, OffIsAWord) {
  EXPECT_EQ(config_of("link: {skp: off}").link.skp, SkpMode::kOff);
}

TEST(Yaml, HexadecimalCountsAreFine) {
  EXPECT_EQ(config_of("run: {seed: 0x1F}").run.seed, 31U);
}

TEST(Values, HaveUnitsAndStayExact) {
  const Config config = config_of(
      "workload: {payload: 64B, rate: 2.5Mreq/s, buffer_base: 6 GiB}\n"
      "link: {mps: 0.5KiB, timing: {clock: 1.6ns, retrain: 5us, propagation: 1fs}}\n"
      "host: {memory: {size: 1TiB, bandwidth: 307.2Gb/s}}\n"
      "device: {timing: {completion_timeout: 0.05s}}\n");
  EXPECT_EQ(config.workload.payload, 64U);
  EXPECT_EQ(config.workload.rate_mrps, 2.5);
  EXPECT_EQ(config.workload.buffer_base, Bytes{6} << 30);
  EXPECT_EQ(config.link.mps, 512U);
  EXPECT_EQ(config.link.timing.clock.fs, 1'600'000);
  EXPECT_EQ(config.link.timing.retrain, Time::from_us(5));
  EXPECT_EQ(config.link.timing.propagation.fs, 1);
  EXPECT_EQ(config.host.memory.size, Bytes{1} << 40);
  EXPECT_EQ(config.host.memory.bandwidth_gbps, 307.2);
  EXPECT_EQ(config.device.timing.completion_timeout, Time::from_us(50'000));
}

TEST(Values, InfiniteAndAutoStandForZero) {
  const Config config = config_of(
      "link: {credits: {posted_data: infinite}, timing: {replay_timeout: auto}}\n"
      "host: {memory: {bandwidth: infinite}}\n");
  EXPECT_EQ(config.link.credits.posted_data, kInfiniteCredits);
  EXPECT_EQ(config.link.timing.replay_timeout.fs, 0);
  EXPECT_EQ(config.host.memory.bandwidth_gbps, 0);
}

TEST(Values, EveryPresetNameGivesItsGenerationAndLanes) {
  for (unsigned generation = 1; generation <= 5; ++generation) {
    for (const unsigned lanes : {1U, 2U, 4U, 8U, 12U, 16U, 32U}) {
      const std::string name = "gen" + std::to_string(generation) + "x" + std::to_string(lanes);
      const LinkPreset preset = config_of("", {"link.preset=" + name}).link.preset;
      EXPECT_EQ(preset.name, name);
      EXPECT_EQ(preset.generation, generation);
      EXPECT_EQ(preset.lanes, lanes);
    }
  }
}

}  // namespace
}  // namespace flitwise::layers_test
