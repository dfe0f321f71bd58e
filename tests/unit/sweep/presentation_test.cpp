// SPDX-License-Identifier: Apache-2.0
// What a study wants shown: figures against baselines, findings, its own summary and plots.
#include "sweep/presentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "flitwise/error.h"
#include "report/report.h"
#include "support/temporary_folder.h"
#include "sweep/merge.h"
#include "sweep/plan.h"

namespace flitwise::presentation_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

constexpr const char* kStudy = R"(
title: a question
base: base.yaml
figures:
  gain: {is: 100 * goodput / baseline(goodput) - 100, title: gain, unit: "%", decimals: 1}
  goodput: {is: up_goodput_gbps, unit: Gb/s}
  residency: {is: dhi_tlps_per_residency, title: TLPs, decimals: 0}
columns: [goodput, gain]
blocks:
- name: forms
  title: Forms <of> identity
  zip:
  - label.identity: [full, short]
    link.identity: [bdf_pasid, dhi]
  axes: {workload.payload: [64B, 256B, 1KiB]}
  baseline: {where: {identity: full}, match: [workload.payload]}
  verdict: {figure: gain, within: 0.5, per: identity}
  crossing: {figures: gain, along: residency, per: identity}
  plots:
  - {title: Gain, x: workload.payload, series: identity, figure: gain, thin: goodput}
  - {title: Bars, kind: bars, x: workload.payload, series: identity, figure: gain}
  summary: [{workload.payload: 64B}, {identity: short}]
)";

/// Goodputs of one seed: of the short identity at 64, 256 and 1,024 bytes, of the full one at each.
struct Goodputs {
  std::array<double, 3> with_short;
  double with_full = 100;
};

class StudyPresentation : public ::testing::Test {
 protected:
  StudyPresentation() { std::ofstream(folder_.file("base.yaml")) << "workload:\n  payload: 64B\n"; }
  Study read(const std::string& yaml) { return study_from_text(yaml, folder_.file("study.yaml")); }

  std::string problem(const std::string& yaml) {
    try {
      read(yaml);
    } catch (const ConfigError& error) {
      return error.problems().front().text();
    }
    return "";
  }

  /// The study with these seeds, 1 and on.
  MergedSweep merged(const std::vector<Goodputs>& seeds = {{{90, 100.2, 120}}}) {
    MergedSweep sweep;
    sweep.axes = {"identity", "link.identity", "workload.payload"};
    sweep.axis_units = {"", "", "B"};
    sweep.presentation = read(kStudy).presentation;
    const int payloads[] = {64, 256, 1024};
    for (std::size_t i = 0; i < 3; ++i) {
      for (const char* identity : {"short", "full"}) {
        const bool is_short = identity == std::string("short");
        for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
          const Goodputs& one = seeds[seed];
          sweep.runs.push_back({{"block", "forms"},
                                {"id", "x"},
                                {"seed", seed + 1},
                                {"identity", identity},
                                {"link.identity", is_short ? "dhi" : "bdf_pasid"},
                                {"workload.payload", payloads[i]},
                                {"up_goodput_gbps", is_short ? one.with_short[i] : one.with_full},
                                {"dhi_tlps_per_residency", payloads[i] / 32}});
        }
      }
    }
    add_derived_figures(sweep);
    merge_seeds(sweep);
    return sweep;
  }

  TemporaryFolder folder_;
};

TEST_F(StudyPresentation, ALabelIsAColumnAndNoKey) {
  const Plan plan = make_plan(read(kStudy));
  ASSERT_EQ(plan.size(), 6U);
  using Axis = std::pair<std::string, std::string>;
  EXPECT_EQ(plan[0].axes[0], Axis("identity", "full"));
  EXPECT_EQ(plan[0].axes[1], Axis("link.identity", "bdf_pasid"));
  EXPECT_EQ(plan[3].axes[0], Axis("identity", "short"));
  EXPECT_EQ(plan[3].config["link"]["identity"].get<std::string>(), "dhi");
}

TEST_F(StudyPresentation, SurvivesBeingKeptBesideTheResults) {
  const Presentation before = read(kStudy).presentation;
  write_plan({}, before, folder_.path(), "flitwise");
  const Presentation after = read_presentation(folder_.path());
  EXPECT_EQ(to_json_text(after), to_json_text(before));
  EXPECT_EQ(after.blocks.at(0).baseline.block, "forms");
  std::ofstream(folder_.file("study.json")) << "{";
  EXPECT_THROW(read_presentation(folder_.path()), ConfigError);
}

TEST_F(StudyPresentation, FiguresAreComparedWithTheBaselineOfTheSamePointInAnyOrder) {
  const MergedSweep sweep = merged();
  EXPECT_NEAR(sweep.rows[0].at("gain").get<double>(), -10, 1e-9);
  EXPECT_NEAR(sweep.rows[1].at("gain").get<double>(), 0, 1e-9);
  EXPECT_NEAR(sweep.rows[4].at("gain").get<double>(), 20, 1e-9);
}

TEST_F(StudyPresentation, AFigureIsWorkedOutBehindThoseThatItNames) {
  MergedSweep sweep = merged();
  std::vector<FigureSpec>& figures = sweep.presentation.blocks[0].figures;
  figures.push_back({"shown", "", "", "first(late, 3)", 2});
  figures.push_back({"late", "", "", "goodput / 2", 2});
  add_derived_figures(sweep);
  EXPECT_EQ(sweep.runs[0].at("shown"), 45) << "late is there, though it stands behind";
  EXPECT_THAT(order_of_figures(sweep.presentation.blocks[0]).figures,
              ElementsAre(&figures[1], &figures[0], &figures[2], &figures[4], &figures[3]))
      << "goodput, gain, residency, late, shown";
}

TEST_F(StudyPresentation, ABaselineMayStandInALaterBlockAndHaveFiguresOfItsOwn) {
  MergedSweep sweep;
  sweep.presentation = read(
                           "base: base.yaml\nblocks:\n"
                           "- {name: a, baseline: {block: b, match: [seed]},\n"
                           "   figures: {cost: {is: 2 * baseline(cost)}}}\n"
                           "- {name: b, figures: {cost: {is: up_tlps + 1}}}\n")
                           .presentation;
  sweep.runs = {{{"block", "a"}, {"seed", 1}}, {{"block", "b"}, {"seed", 1}, {"up_tlps", 4}}};
  add_derived_figures(sweep);
  EXPECT_EQ(sweep.runs[0].at("cost"), 10);
}

TEST_F(StudyPresentation, FiguresInACircleAreRefusedAtTheirPlace) {
  const std::string front = "base: base.yaml\nfigures: ";
  EXPECT_THAT(problem(front + "{x: {is: a}, a: {is: 2 * b}, b: {is: c}, c: {is: a + 1}}\n"),
              HasSubstr("study.yaml:2:23: figures.a: figures in a circle: a, b, c, a; expected"));
  EXPECT_THAT(problem(front + "{a: {is: a + 1}}\n"),
              HasSubstr("study.yaml:2:11: figures.a: figures in a circle: a, a; expected"));
  EXPECT_THAT(problem(front + "{a: {is: baseline(a)}}\nbaseline: {match: [seed]}\n"),
              HasSubstr("figures in a circle: a, a; expected"))
      << "a row is its own baseline";
  EXPECT_EQ(problem(front + "{a: {is: b}, b: {is: c}, c: {is: 1}}\n"), "");
}

TEST_F(StudyPresentation, AFigureDoesNotTakeTheNameOfAColumnOfPointsAxesOrLabels) {
  const std::string front = "base: base.yaml\nfigures: {x: {is: up_tlps}}\n";
  EXPECT_THAT(problem("base: base.yaml\nfigures: {a: {is: 1}, seed: {is: 2}}\n"),
              HasSubstr("study.yaml:2:23: figures.seed: each point has a column 'seed' already; "
                        "expected another name of this figure"));
  EXPECT_THAT(problem("base: base.yaml\nfigures: {link.mps: {is: 1}}\naxes: {link.mps: [128B]}\n"),
              HasSubstr("study.yaml:2:11: figures.link.mps: the axes of block main make a column"));
  EXPECT_THAT(
      problem(front + "blocks: [{name: a}, {name: b, zip: [{label.x: [p]}]}]\n"),
      HasSubstr("study.yaml:2:11: figures.x: the axes of block b make a column 'x' already"));
  EXPECT_THAT(problem("base: base.yaml\naxes: {label.x: [p]}\nzip: [{label.x: [q]}]\n"),
              HasSubstr("study.yaml:3:8: label.x: block main varies 'x' already"));
  EXPECT_THAT(problem("base: base.yaml\nfigures: {x: {is: 1}, x: {is: 2}}\n"),
              HasSubstr("study.yaml:2:23: duplicate key 'x'"));
  EXPECT_EQ(problem(front + "blocks: [{name: a, figures: {x: {is: down_tlps}}}]\n"), "");
}

TEST_F(StudyPresentation, NeitherFigureNorLabelTakesTheNameOfAColumnOfResults) {
  const auto refused = [&](const std::string& yaml) -> std::string {
    try {
      make_plan(read(yaml));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string front = "base: base.yaml\nset: {system.devices: 2}\n";
  EXPECT_THAT(refused(front + "figures: {up_tlps: {is: 7}}\nblocks: [{name: a}, {name: b}]\n"),
              testing::EndsWith("study.yaml:3:11: figures.up_tlps: results have a column 'up_tlps' "
                                "already; expected another name"));
  EXPECT_THAT(
      refused(front + "zip: [{label.dhi_hits: [p]}]\n"),
      HasSubstr("study.yaml:3:8: label.dhi_hits: results have a column 'dhi_hits' already"));
  for (const std::string name : {"rp1-ep1_up_tlps", "ep1_dhi_hits", "dma_read_max_ns"}) {
    EXPECT_THAT(refused(front + "figures: {" + name + ": {is: 7}}\n"), HasSubstr("a column"))
        << name;
  }
  for (const std::string name : {"rp2-ep2_up_tlps", "half_up_tlps", "ep2_dhi_hits", "count"}) {
    EXPECT_EQ(refused(front + "figures: {" + name + ": {is: 7}}\n"), "") << name;
  }
}

TEST_F(StudyPresentation, ARowWithoutBaselineHasNoGain) {
  MergedSweep sweep = merged();
  sweep.runs.erase(sweep.runs.begin() + 1);
  add_derived_figures(sweep);
  EXPECT_TRUE(sweep.runs[0].at("gain").is_null());
}

TEST_F(StudyPresentation, AFigureOfAColumnThatNoResultHasIsNamed) {
  MergedSweep sweep = merged();
  sweep.run_columns.insert(sweep.run_columns.end(), {"up_goodput_gbps", "dhi_tlps_per_residency"});
  EXPECT_THAT(figures_of_nothing(sweep), ElementsAre());
  sweep.presentation.blocks[0].figures.push_back({"typo", "", "", "2 * up_godput_gbps", 2});
  sweep.presentation.blocks[0].figures.push_back({"either", "", "", "first(gone, goodput)", 2});
  add_derived_figures(sweep);
  EXPECT_THAT(figures_of_nothing(sweep),
              ElementsAre("block forms: figure typo has no value: no result has a column "
                          "'up_godput_gbps'; nearest column 'up_goodput_gbps'"));
}

TEST_F(StudyPresentation, TheVerdictNamesWinsNothingAndLosses) {
  const MergedSweep sweep = merged();
  EXPECT_THAT(
      verdict_sentences(sweep, sweep.presentation.blocks[0]),
      ElementsAre("short, gain: of 3 points, wins at 1, best +20.0 % (payload 1024 B); saves "
                  "nothing at 1 (within 0.5); loses at 1, worst -10.0 % (payload 64 B).",
                  "Verdicts: one seed a point, so there is no interval: what lies within 0.5 % of "
                  "0 counts as nothing."));
}

TEST_F(StudyPresentation, TheBreakEvenLiesBetweenThePointsWhereTheSignChanges) {
  const MergedSweep sweep = merged();
  // From -10 at 2 TLPs to +0.2 at 8: 2 + 6 * 10 / 10.2.
  EXPECT_THAT(crossing_sentences(sweep, sweep.presentation.blocks[0]),
              ElementsAre("short: gain from 7.9 TLPs on."));
}

TEST_F(StudyPresentation, TheSummaryShowsTheChosenPointsAndTheirVerdicts) {
  const std::string text = study_summary(merged());
  EXPECT_THAT(text, HasSubstr("goodput, Gb/s"));
  EXPECT_THAT(text, HasSubstr("-10.0  loses"));
  EXPECT_THAT(text, HasSubstr("baseline"));
  EXPECT_THAT(text, HasSubstr("verdict on gain"));
  EXPECT_THAT(text, HasSubstr("short: gain from 7.9 TLPs on."));
  EXPECT_THAT(text, testing::EndsWith("\nverdicts: one seed a point, so there is no interval: what "
                                      "lies within 0.5 % of 0 counts as nothing.\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7) << text;
}

TEST_F(StudyPresentation, ASummaryOfOneValueOfTheOnlyAxisNamesIt) {
  MergedSweep sweep;
  sweep.axes = {"workload.payload"};
  sweep.axis_units = {"B"};
  sweep.presentation = read(
                           "base: base.yaml\nfigures: {goodput: {is: up_goodput_gbps}}\n"
                           "columns: [goodput]\naxes: {workload.payload: [64B, 256B]}\n"
                           "summary: [{workload.payload: 64B}]\n")
                           .presentation;
  for (const int payload : {64, 256}) {
    sweep.rows.push_back({{"block", "main"}, {"workload.payload", payload}, {"goodput", payload}});
  }
  EXPECT_THAT(study_summary(sweep), HasSubstr("main   payload 64 B"));
}

TEST_F(StudyPresentation, RowsThatAreAlikeButForTheirSeedAreOneWithItsInterval) {
  MergedSweep sweep;
  sweep.axes = {"workload.payload"};
  sweep.axis_units = {"B"};
  sweep.presentation = read(
                           "base: base.yaml\nfigures: {goodput: {is: up_goodput_gbps}}\n"
                           "columns: [goodput]\naxes: {workload.payload: [64B, 256B]}\n")
                           .presentation;
  sweep.run_columns = {"block", "id", "seed", "workload.payload", "up_goodput_gbps"};
  for (const int payload : {64, 256}) {
    for (const int seed : {1, 2}) {
      sweep.runs.push_back({{"block", "main"},
                            {"seed", seed},
                            {"workload.payload", payload},
                            {"up_goodput_gbps", payload + seed}});
    }
  }
  add_derived_figures(sweep);
  merge_seeds(sweep);
  // 12.706 (t of one degree) x 0.5 (the deviation of the mean of two that are 1 apart)
  EXPECT_THAT(study_summary(sweep), AllOf(HasSubstr("main   payload 64 B    65.50 ± 6.35"),
                                          HasSubstr("main   payload 256 B  257.50 ± 6.35")));
}

// t of three degrees is 3.182; gains that are 0.1 apart in four steps deviate by 0.1291, their mean
// by 0.0645. The study calls nothing what lies within 0.5.
TEST_F(StudyPresentation, AVerdictOfSeveralSeedsRestsOnTheirInterval) {
  const MergedSweep sweep = merged({{{99.6, 99.0, 100.2}},
                                    {{99.7, 100.0, 100.3}},
                                    {{99.8, 101.0, 100.4}},
                                    {{99.9, 104.0, 100.5}}});
  EXPECT_THAT(verdict_sentences(sweep, sweep.presentation.blocks[0]),
              ElementsAre("short, gain: of 3 points, wins at 1, best +1.0 ± 3.4 % (payload 256 B); "
                          "saves nothing at 1 (0 lies in the 95 % interval); loses at 1, worst "
                          "-0.2 ± 0.2 % (payload 64 B).",
                          "Verdicts: by the 95 % intervals over the seeds of each point."));
  EXPECT_THAT(study_summary(sweep), HasSubstr("verdicts: by the 95 % intervals over the seeds"));
}

// Gains of 1, 2, 3 and 4 % on baselines that are 50 apart: 2.5 +- 2.05 by pairs.
TEST_F(StudyPresentation, RunsArePairedWithTheBaselineOfTheirSeed) {
  const MergedSweep sweep = merged({{{50.5, 50, 50}, 50},
                                    {{102, 100, 100}, 100},
                                    {{154.5, 150, 150}, 150},
                                    {{208, 200, 200}, 200}});
  EXPECT_NEAR(sweep.rows[0].at("gain").get<double>(), 2.5, 1e-9);
  EXPECT_NEAR(sweep.rows[0].at("gain_ci95").get<double>(), 3.182446 * 0.6454972, 1e-5);
  EXPECT_NEAR(sweep.rows[0].at("goodput_ci95").get<double>(), 107.5, 1) << "of that alone";
  EXPECT_THAT(study_summary(sweep), HasSubstr("2.5 ± 2.1  wins"));
  EXPECT_THAT(study_summary(sweep), HasSubstr("0.0 ± 0.0  nothing")) << "of equals";
}

TEST_F(StudyPresentation, PointsWithoutIntervalAreToldFromThoseThatHaveOne) {
  MergedSweep sweep = merged({{{90, 100.2, 120}}, {{91, 100.2, 121}}});
  Json& single = *std::find_if(sweep.rows.begin(), sweep.rows.end(), [](const Json& row) {
    return row.at("workload.payload") == 256 && row.at("identity") == "short";
  });
  single.erase("gain_ci95");
  EXPECT_THAT(
      verdict_sentences(sweep, sweep.presentation.blocks[0]),
      ElementsAre(HasSubstr("saves nothing at 1 (within 0.5)"),
                  "Verdicts: by the 95 % intervals over the seeds; 1 of 3 points have one seed and "
                  "no interval: what lies within 0.5 % of 0 counts as nothing."));
  sweep.presentation.blocks[0].verdict.within = 0;
  EXPECT_THAT(verdict_basis(sweep.presentation.blocks[0], rows_of(sweep, "forms")),
              HasSubstr("no interval: any difference counts."));
}

// Means -3, 1 and 5 at 2, 8 and 32 TLPs, all +- 3.182 x 0.6455 = 2.054: from 2 + 6 x 3 / 4 on; the
// upper ends from 2 + 6 x 0.946 / 4, the lower ones from 8 + 24 x 1.054 / 4.
TEST_F(StudyPresentation, TheBreakEvenHasTheIntervalOfItsFigures) {
  std::vector<Goodputs> seeds;
  for (const double off : {-1.5, -0.5, 0.5, 1.5}) {
    seeds.push_back({{97 + off, 101 + off, 105 + off}});
  }
  MergedSweep sweep = merged(seeds);
  BlockPresentation& block = sweep.presentation.blocks[0];
  EXPECT_THAT(crossing_sentences(sweep, block),
              ElementsAre("short: gain from 6.5 TLPs on (95 % intervals: 3.4 to 14.3)."));
  for (Json& row : sweep.rows) {
    row["gain_ci95"] = 7;
  }
  EXPECT_THAT(crossing_sentences(sweep, block),
              ElementsAre("short: gain from 6.5 TLPs on (95 % intervals: the first point to beyond "
                          "the last point)."));
}

TEST_F(StudyPresentation, VerdictsOnSeveralFiguresNameTheirs) {
  MergedSweep sweep = merged();
  BlockPresentation other = sweep.presentation.blocks[0];
  other.name = "others";
  other.verdict.figure = "goodput";
  sweep.presentation.blocks.push_back(other);
  const std::string text = study_summary(sweep);
  EXPECT_THAT(text, Not(HasSubstr("verdict on")));
  EXPECT_THAT(text, HasSubstr("-10.0  loses, gain"));
}

TEST_F(StudyPresentation, WithoutAVerdictThereIsNoColumnOfThem) {
  MergedSweep sweep = merged();
  BlockPresentation& block = sweep.presentation.blocks[0];
  block.baseline = {};
  block.verdict = {};
  EXPECT_THAT(study_summary(sweep), Not(HasSubstr("verdict")));
  EXPECT_THAT(study_summary(sweep), HasSubstr("goodput, Gb/s"));
}

TEST_F(StudyPresentation, AnEmptyListIsCalledOneAndEachKeyIsExpectedOnce) {
  const std::string front = "base: base.yaml\nfigures: {a: {is: 1}}\n";
  EXPECT_THAT(problem(front + "columns: []\nsummary: [{workload.payload: 64B}]\n"),
              HasSubstr("columns: an empty list; expected a word or a list of words"));
  const std::string unknown = problem(front + "workload: {payload: 64B}\n");
  EXPECT_THAT(unknown, HasSubstr("unknown key 'workload'; expected "));
  for (const std::string key : {" title,", " figures,"}) {
    EXPECT_NE(unknown.find(key), std::string::npos) << unknown;
    EXPECT_EQ(unknown.find(key), unknown.rfind(key)) << unknown;
  }
}

TEST_F(StudyPresentation, ASummaryHasFiguresAndPointsOrIsRefusedAtItsPlace) {
  const std::string front = "base: base.yaml\nfigures: {a: {is: 1}}\n";
  EXPECT_EQ(read(front + "columns: [a]\n").presentation.blocks.front().summary.size(), 1U);
  EXPECT_THAT(problem(front + "summary: [{a: 1}]\n"),
              HasSubstr("summary: points of a summary that has no figures"));
  EXPECT_NO_THROW(read(front + "columns: [a]\nsummary: [{a: 1}]\n"));
}

TEST_F(StudyPresentation, WhatAStudyNamesHasToBeThere) {
  const std::string front = "base: base.yaml\naxes: {workload.payload: [64B, 1KiB]}\n";
  EXPECT_THAT(problem(front + "figures: {a: {is: '2 * \"dhi_hitz\"'}}\n"),
              HasSubstr("study.yaml:3:25: figures.a.is: no result, axis, label or figure has a "
                        "column 'dhi_hitz'"));
  EXPECT_EQ(
      problem(front +
              "figures: {a: {is: '\"rp7-ep7_up_tlps\" + errors_unsupported_request + seed'}}\n"),
      "")
      << "some machine, or some run, has them";
  EXPECT_THAT(problem(front + "baseline: {where: {workload.paylod: 64B}, match: [seed]}\n"),
              HasSubstr("study.yaml:3:20: baseline.where: no result, axis, label or figure has a "
                        "column 'workload.paylod'"));
  EXPECT_THAT(problem(front + "baseline: {where: {workload.payload: 65B}, match: [seed]}\n"),
              HasSubstr("study.yaml:3:38: baseline.where.workload.payload: no point of block main "
                        "has workload.payload '65B'; expected 64B or 1KiB"));
  EXPECT_EQ(problem(front + "baseline: {where: {workload.payload: 1024}, match: [seed]}\n"), "")
      << "1KiB, written otherwise";
  EXPECT_THAT(
      problem(front + "set: {link.mps: 128B}\nbaseline: {match: [link.mps, workload.payload]}\n"),
      HasSubstr("study.yaml:4:20: baseline.match: 'link.mps' is set, and no axis varies it"));
  EXPECT_THAT(problem(front + "baseline: {match: [nosuch]}\nblocks:\n"
                              "- {name: a, baseline: {match: [workload.payload]}}\n"),
              "")
      << "a block that says its own baseline names nothing of the common one";
}

TEST_F(StudyPresentation, AFigureAgainstABaselineNeedsABlockThatHasOne) {
  const std::string front =
      "base: base.yaml\naxes: {workload.payload: [64B, 1KiB]}\nfigures: {a: {is: 1 - "
      "baseline(up_tlps)}}\n";
  const std::string said =
      "study.yaml:3:23: figures.a.is: no block with this figure has a baseline, so that it has no "
      "value in any row; expected baseline: {match: ";
  EXPECT_THAT(problem(front), HasSubstr(said));
  EXPECT_EQ(problem(front + "baseline: {match: [seed], where: {workload.payload: 64B}}\n"), "");
  const std::string compared =
      "- {name: x, baseline: {match: [seed], where: {workload.payload: 64B}}";
  EXPECT_EQ(problem(front + "blocks:\n" + compared + "}\n- {name: y}\n"), "")
      << "empty in y, which has it as all blocks do";
  EXPECT_THAT(problem(front + "blocks:\n" + compared + ", figures: {a: {is: 1}}}\n- {name: y}\n"),
              HasSubstr(said))
      << "x has another figure of this name";
}

// Names of latencies and kinds of errors are known before the runs.
TEST_F(StudyPresentation, AColumnOfResultsIsOneThatSomeMachineMakes) {
  const auto with = [&](const std::string& column) {
    return problem("base: base.yaml\nfigures: {a: {is: '\"" + column + "\"'}}\n");
  };
  for (const std::string known :
       {"dma_read_p50_ns", "unmap_mean_ns", "h1.teardown_drain_max_ns", "h2.iommu0_iommu_walks",
        "errors_translation_fault", "errors_malformed_tlp.bad_length", "wait_walkers_wait_ns",
        "attack_pasid_through", "ep3_dhi_hits"}) {
    EXPECT_EQ(with(known), "") << known;
  }
  EXPECT_THAT(with("dma_raed_p50_ns"), HasSubstr("nearest column 'dma_read_p50_ns'"));
  EXPECT_THAT(with("errors_unsuported_request"),
              HasSubstr("nearest column 'errors_unsupported_request'"));
  for (const std::string unknown : {"nosuch_p50_ns", "h1.nosuch_p50_ns", "errors_nosuch",
                                    "wait_nosuch_ns", "wait_walkers_ns"}) {
    EXPECT_THAT(with(unknown), HasSubstr("has a column '" + unknown + "'")) << unknown;
  }
}

// Compared with the first of several, rows would show what another key does.
TEST_F(StudyPresentation, ABaselineThatFitsSeveralRowsIsRefused) {
  const std::string front =
      "base: base.yaml\nzip: [{label.identity: [full, short], link.identity: [bdf_pasid, dhi]}]\n"
      "axes: {workload.payload: [64B, 1KiB], link.mps: [128B, 256B]}\n";
  const auto with = [&](const std::string& baseline) {
    return problem(front + "baseline: {" + baseline + "}\n");
  };
  EXPECT_THAT(with("where: {identity: full}, match: [workload.payload]"),
              HasSubstr("study.yaml:4:44: baseline.match: several rows of block main fit one of "
                        "block main: they differ in link.mps; expected that here, or one value of "
                        "it under where"));
  EXPECT_THAT(with("where: {identity: full, workload.payload: 1024}, match: []"),
              HasSubstr("study.yaml:4:68: baseline.match: several rows"));
  EXPECT_THAT(with("where: {identity: full, link.mps: [128B, 256B]}, match: [workload.payload]"),
              HasSubstr("differ in link.mps"));
  EXPECT_THAT(with("match: [workload.payload, link.mps]"), HasSubstr("differ in identity"));
  EXPECT_EQ(with("where: {identity: full}, match: [workload.payload, link.mps]"), "");
  EXPECT_EQ(with("where: {link.identity: dhi, link.mps: 128B}, match: [workload.payload]"), "");
  EXPECT_EQ(with("where: {up_tlps: 5}, match: [workload.payload]"), "") << "a result tells";
  EXPECT_EQ(problem("base: base.yaml\nblocks:\n- {name: a, axes: {link.mps: [128B, 256B]}, "
                    "baseline: {block: b, match: [seed]}}\n- {name: b}\n"),
            "")
      << "the other block has one row";
}

TEST_F(StudyPresentation, ABaselineHasTheSeedsOfWhatIsComparedWithIt) {
  const auto with = [&](const std::string& own, const std::string& others) {
    return problem("base: base.yaml\nblocks:\n- {name: a, " + own +
                   "baseline: {block: b, match: []}, figures: {x: {is: up_tlps - "
                   "baseline(up_tlps)}}}\n- {name: b" +
                   others + "}\n");
  };
  EXPECT_THAT(with("seeds: [1, 2, 3], ", ", seeds: [2]"),
              HasSubstr("baseline.match: block a has seeds that block b has not (1, 3), and a run "
                        "is compared with one of its own seed; expected the same seeds in both"));
  EXPECT_THAT(with("seeds: [1, 2], ", ""), HasSubstr("that block b has not (1, 2)"));
  EXPECT_EQ(with("seeds: [1, 2], ", ", seeds: [2, 1, 3]"), "");
  EXPECT_EQ(with("seeds: [1], ", ""), "") << "it may be that of the config";
}

TEST_F(StudyPresentation, AColumnIsChosenByValueOrByTheRow) {
  EXPECT_THAT(problem("base: base.yaml\naxes: {link.mps: [128B, 256B]}\n"
                      "baseline: {where: {link.mps: 128B}, match: [link.mps]}\n"),
              HasSubstr("study.yaml:3:44: baseline.match: 'link.mps' stands under where too, so "
                        "that rows with another value of it have no baseline"));
}

TEST_F(StudyPresentation, TheReportHasItsFindingsAndPlots) {
  const std::string html = sweep_section(merged(), {}, "");
  EXPECT_THAT(html, HasSubstr("<h2 id=\"forms\">Forms &lt;of&gt; identity</h2>"));
  EXPECT_THAT(html, HasSubstr("<li>short, gain: of 3 points, wins at 1"));
  EXPECT_THAT(html, HasSubstr(R"("strokeDash":[5,3])")) << "a closed form";
  EXPECT_THAT(html, HasSubstr(R"("mark":{"type":"bar"})"));
  const MergedSweep seeds = merged({{{90, 100.2, 120}}, {{91, 100.2, 121}}});
  EXPECT_THAT(sweep_section(seeds, {}, ""), HasSubstr("<td class=\"n\">-9.5 ± 6.4</td>"));
  EXPECT_THAT(overview_section(seeds),
              HasSubstr("compares it with; verdicts: by the 95 % intervals over the seeds"));
  ReportOptions plain;
  plain.is_plain = true;
  EXPECT_THAT(sweep_section(merged(), plain, ""), Not(HasSubstr("<figure")));
}

TEST_F(StudyPresentation, MistakesArePointedAt) {
  EXPECT_THAT(problem("base: base.yaml\nfigures: {a: {is: 1 +}}\n"),
              HasSubstr("study.yaml:2:19: figures.a.is"));
  EXPECT_THAT(problem("base: base.yaml\nfigures: {a: {is: flor(1)}}\n"),
              HasSubstr("nearest function 'floor'"));
  EXPECT_THAT(problem("base: base.yaml\nfigures: {a: {is: 1}}\nverdict: {figure: b}\n"),
              HasSubstr("study.yaml:3:19: verdict.figure: block main has no figure 'b'; expected "
                        "a"));
  EXPECT_THAT(
      problem("base: base.yaml\nfigures: {c: {is: 1}}\nplots: [{x: seed, figure: c, serie: b}]\n"),
      HasSubstr("nearest key 'series'"));
  EXPECT_THAT(problem("base: base.yaml\nbaseline: {block: nowhere, match: [a]}\n"),
              HasSubstr("no block 'nowhere'"));
  EXPECT_THAT(problem("base: base.yaml\nzip: [{label.seed: [a]}]\n"),
              HasSubstr("cannot name a column"));
}

TEST_F(StudyPresentation, WhatAFirstStudyGetsWrongIsToldWithTheWayOut) {
  const std::string front = "base: base.yaml\naxes: {link.mps: [128B]}\n";
  EXPECT_THAT(problem(front + "columns: [up_goodput_gbps]\n"),
              HasSubstr("study.yaml:3:11: columns: 'up_goodput_gbps' is a column of results, no "
                        "figure of block main; expected one of it, as in figures: {mine: {is: "
                        "up_goodput_gbps}}"));
  EXPECT_THAT(problem(front + "columns: [rp0-ep0_up_tlps]\n"),
              HasSubstr("{mine: {is: '\"rp0-ep0_up_tlps\"'}}"));
  std::string all;
  try {
    read(front + "figures: {a: {is: first(errors_poisoned, 0)}}\n");
  } catch (const ConfigError& error) {
    all = error.what();
  }
  EXPECT_THAT(all, HasSubstr("unknown key '0)'; expected is, title, unit or decimals; a formula "
                             "with a comma takes quotes here, as in is: 'max(a, b)'"));
}

TEST_F(StudyPresentation, TheExamplesOfItsPageAreStudies) {
  std::ifstream page(FLITWISE_SOURCE_DIR "/docs/sweeps.md");
  const std::string base = "../checks/saturated.yaml";
  std::string yaml, line;
  int examples = 0;
  for (bool is_yaml = false; std::getline(page, line);) {
    if (line == "```" && is_yaml) {
      yaml.replace(yaml.find(base), base.size(),
                   FLITWISE_SOURCE_DIR "/configs/checks/saturated.yaml");
      PlanNotes notes;
      EXPECT_FALSE(make_plan(read(yaml), {}, &notes).empty()) << yaml;
      EXPECT_TRUE(notes.without_effect.empty()) << yaml;
      ++examples;
      yaml.clear();
    }
    yaml += is_yaml && line != "```" ? line + "\n" : "";
    is_yaml = line == "```yaml" || (is_yaml && line != "```");
  }
  EXPECT_EQ(examples, 2);
}

TEST(Selection, ComparesCellsWithWhatTheStudyWrites) {
  const nlohmann::ordered_json row = {{"workload.payload", 1024}, {"a", "dhi"}, {"b", true}};
  EXPECT_TRUE(is_selected(row, {{"workload.payload", {"64B", "1KiB"}}, {"a", {"dhi"}}}));
  EXPECT_TRUE(is_selected(row, {{"workload.payload", {"1024"}}, {"b", {"true"}}}));
  EXPECT_FALSE(is_selected(row, {{"a", {"bdf"}}}));
  EXPECT_FALSE(is_selected(row, {{"missing", {"1"}}}));
}

}  // namespace
}  // namespace flitwise::presentation_test
