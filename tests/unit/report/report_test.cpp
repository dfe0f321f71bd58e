// SPDX-License-Identifier: Apache-2.0
// The report page and its pieces.
#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/atomic_file.h"
#include "flitwise/error.h"
#include "report/html.h"
#include "results/result_json.h"
#include "results/summary_table.h"
#include "support/temporary_folder.h"
#include "unit/results/sample_result.h"

namespace flitwise::report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Html, TextCannotBecomeMarkup) {
  EXPECT_EQ(html_text("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  HtmlTable table({"<th>"});
  table.add_row({"<script>"});
  EXPECT_THAT(table.html(), Not(HasSubstr("<script>")));
}

TEST(Html, ColumnsOfNumbersAreMarked) {
  HtmlTable table({"name", "count"});
  table.add_row({"a", "1,234"});
  table.add_row({"b", "-"});
  EXPECT_THAT(table.html(), HasSubstr("<td>a</td><td class=\"n\">1,234</td>"));
}

/// The specification of the one chart in a piece of a page.
nlohmann::ordered_json spec_in(const std::string& html) {
  const std::string begin = "<script type=\"application/json\">";
  const std::size_t at = html.find(begin) + begin.size();
  return nlohmann::ordered_json::parse(html.substr(at, html.find("</script>", at) - at));
}

TEST(LineChart, ASpecificationHasThePointsTheirIntervalsAndALogarithmicAxis) {
  LineChart chart;
  chart.title = "</script><b>";
  chart.log_x = true;
  chart.series = {{"dhi", {{1, 1}, {2, 2, 0.5}, {4, 4}}}};
  const std::string html = chart.html();
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  const auto spec = spec_in(html);
  EXPECT_EQ(spec.at("title"), "</script><b>") << "none of it ends the script";
  const auto& values = spec.at("data").at("values");
  EXPECT_EQ(values.dump(),
            R"([{"x":1.0,"y":1.0,"s":"dhi"},{"x":2.0,"y":2.0,"s":"dhi","low":1.5,"high":2.5},)"
            R"({"x":4.0,"y":4.0,"s":"dhi"}])");
  EXPECT_EQ(spec.at("encoding").at("x").at("scale").at("type"), "log");
  EXPECT_EQ(spec.at("layer").size(), 3U) << "band, line, points";
  EXPECT_EQ(spec.at("layer").at(0).at("mark").at("type"), "area");
}

TEST(LineChart, WithoutPointsThereIsNoChart) {
  EXPECT_EQ(LineChart().html(), "");
}

TEST(LineChart, WithoutIntervalsThereIsNoBand) {
  LineChart chart;
  chart.series = {{"", {{5, 5}}}};
  const auto spec = spec_in(chart.html());
  EXPECT_EQ(spec.at("layer").size(), 2U);
  EXPECT_TRUE(spec.at("encoding").at("color").at("legend").is_null());
}

TEST(LineChart, ChartsBesideEachOtherHaveTheSameAxisWithRoomAboveTheHighestPoint) {
  std::vector<LineChart> charts(2);
  charts[0].series = {{"a", {{1, 10}, {2, 20, 3.0}}}};
  charts[1].series = {{"a", {{1, -4}}}};
  share_y_axis(charts);
  for (const LineChart& chart : charts) {
    const auto scale = spec_in(chart.html()).at("encoding").at("y").at("scale");
    EXPECT_EQ(scale.at("domain").dump(), "[-4.0,23.0]");
    EXPECT_EQ(scale.at("nice"), true);
  }
}

TEST(MeanSeries, AnIntervalIsKnownOfAPointThatStandsAlone) {
  const Series series = mean_series("a", {{2, 5, 0.25}, {1, 2, 0.5}, {1, 4, 0.5}});
  ASSERT_EQ(series.points.size(), 2U);
  EXPECT_EQ(series.points[0].y, 3);
  EXPECT_EQ(series.points[0].ci95, std::nullopt);
  EXPECT_EQ(series.points[1].ci95, 0.25);
}

TEST(StackedBars, PartsStandInTheirOrder) {
  StackedBars bars;
  bars.parts = {"a", "b"};
  bars.rows = {{"x", {75, 25}}};
  const auto spec = spec_in(bars.html());
  EXPECT_EQ(spec.at("encoding").at("color").at("scale").at("domain").dump(), R"(["a","b"])");
  EXPECT_EQ(spec.at("data").at("values").at(1).at("y"), 25);
}

TEST(Waterfall, EachStepBeginsWhereTheOneBeforeEnds) {
  Waterfall chart;
  EXPECT_EQ(chart.html(), "");
  chart.steps = {{"queued", 30}, {"sent", 27.5}};
  const auto values = spec_in(chart.html()).at("data").at("values");
  EXPECT_EQ(values.at(1).at("from"), 30);
  EXPECT_EQ(values.at(1).at("to"), 57.5);
}

/// Rows of a block over two numeric axes: goodput is 10 x + y, and 60 of 80 bytes are payload.
MergedSweep square_sweep() {
  MergedSweep merged;
  merged.axes = {"a.x", "b.y"};
  merged.axis_units = {"B", ""};
  for (const int x : {1, 2, 3}) {
    for (const int y : {4, 5, 6}) {
      merged.rows.push_back({{"block", "main"},
                             {"id", std::to_string(x) + std::to_string(y)},
                             {"seeds", 1},
                             {"a.x", x},
                             {"b.y", y},
                             {"up_goodput_gbps", 10 * x + y},
                             {"up_wire_bytes_payload", 60},
                             {"up_wire_bytes_header", 20},
                             {"up_wire_bytes_idle", 20},
                             {"up_wire_bytes_total", 100}});
    }
  }
  return merged;
}

TEST(SweepSection, TwoNumericAxesMakeAMap) {
  const std::string html = sweep_section(square_sweep(), {}, "");
  const std::size_t at = html.find("\"mark\":{\"type\":\"rect\"}");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(html, HasSubstr(R"({"x":"2","y":"6","s":26.0})"));
  MergedSweep few = square_sweep();
  few.rows.resize(6);  // two values of x
  EXPECT_THAT(sweep_section(few, {}, ""), Not(HasSubstr("\"rect\"")));
}

TEST(SweepSection, BytesByCauseLeaveIdleOut) {
  const std::string html = sweep_section(square_sweep(), {}, "");
  EXPECT_THAT(html, HasSubstr(R"("s":"payload","y":75.0)"));
  EXPECT_THAT(html, HasSubstr(R"("s":"header","y":25.0)"));
}

TEST(SweepSection, PointsLeadToTheirRowsAndRowsToTheirResults) {
  const std::string html = sweep_section(square_sweep(), {}, "out/points");
  EXPECT_THAT(html, HasSubstr("<tr id=\"p-26\">"));
  EXPECT_THAT(html, HasSubstr("<a href=\"out/points/26.json\">"));
  EXPECT_THAT(sweep_section(square_sweep(), {}, ""), Not(HasSubstr("<a href")));
}

class ReportPage : public ::testing::Test {
 protected:
  std::string write_run() {
    const std::string path = folder_.file("result.json");
    write_file_atomically(path, result_text(sample_result()));
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(ReportPage, ARunShowsItsFiguresAndNeedsNothingElse) {
  const std::string page = report_page({write_run()}, {false, "flitwise report x"});
  for (const char* text :
       {"51.20", "dma_write", "<figure", "0123456789abcdef",
        "Check FAILED: credits returned: 3 missing", "flitwise report x", "unsupported_request"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src 'none';"));
  const std::string own = page.substr(0, page.find("</main>"));
  EXPECT_THAT(own, Not(HasSubstr("http:")));
  EXPECT_THAT(own, Not(HasSubstr("https:")));
}

TEST_F(ReportPage, HopsOfARunAreAWaterfall) {
  RunResult result = sample_result();
  result.rows<HopResult>() = {{"write", "queued", 2, Time::from_ns(60)},
                              {"write", "memory", 2, Time::from_ns(500)}};
  const std::string path = folder_.file("result.json");
  write_file_atomically(path, result_text(result));
  const std::string page = report_page({path}, {});
  EXPECT_THAT(page, HasSubstr("A write hop by hop, ns: mean of 2 TLPs"));
  EXPECT_THAT(page, HasSubstr(R"({"step":"memory","from":30.0,"to":280.0,"s":250.0})"));
}

/// With something in each list that a result has.
nlohmann::ordered_json full_result() {
  nlohmann::ordered_json result = result_json(sample_result());
  result["links"][0]["up"]["stall_ns"]["tags"] = 25.0;
  result["dhi"][0]["handles_kept"] = 17;
  result["iommu"][0]["iotlb_hits"] = 3;
  result["iommu"][0]["iotlb_misses"] = 1;
  result["iommu"][0]["permission_checks"] = 1234;
  result["iommu"][0]["late_accesses"] = 19;
  result["iommu"][0]["held_back"] = 23;
  result["cxl_cache"] = {{{"device", "ep3"},
                          {"reads", 30},
                          {"writes", 10},
                          {"hits", 11},
                          {"evictions", 5},
                          {"snoops", 6},
                          {"snoops_modified", 7},
                          {"bogus", 8}}};
  result["cxl_hdm_db"] = {{{"device", "ep4"},
                           {"host_reads", 41},
                           {"host_writes", 42},
                           {"host_hits", 43},
                           {"host_evictions", 44},
                           {"device_reads", 45},
                           {"device_writes", 46},
                           {"device_hits", 47},
                           {"back_invalidations", 48},
                           {"write_backs", 49},
                           {"conflicts_early", 50},
                           {"conflicts_late", 51}}};
  result["attacks"] = {{{"attack", "forged_pasid"}, {"tried", 77}, {"through", 2}}};
  return result;
}

TEST_F(ReportPage, EveryListOfAResultIsShownWithUnits) {
  write_file_atomically(folder_.file("result.json"), full_result().dump());
  const std::string page = report_page({folder_.path()}, {});
  for (const char* text : {">Limit: rp0-ep0 up write: iommu0 walkers 93 %; try iommu.walkers=8<",
                           ">limit.share, %<",
                           ">93.00<",
                           ">iommu.walkers<",
                           ">walkers<",
                           ">Waited for<",
                           ">150 ns<",
                           ">75.00 %<",
                           ">Translations<",
                           ">permission_checks<",
                           ">1,234<",
                           "late_accesses",
                           ">19<",
                           "held_back",
                           ">23<",
                           ">ep0.0<",
                           "handles_kept",
                           ">17<",
                           ">out_of_range<",
                           ">ep3<",
                           ">27.50 %<",
                           ">ep4<",
                           ">51<",
                           ">forged_pasid<",
                           ">77<",
                           "a TLP lacks credits",
                           ">120.000<"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
}

TEST_F(ReportPage, TheTablesOfTheSummaryComeFirstWithTheirCellsAndWithoutThoseThatAreEmpty) {
  const std::string page = report_page({write_run()}, {true, ""});
  const std::string open = page.substr(0, page.find("<details>"));
  std::size_t at = 0;
  for (const SummaryPart& part : summary_parts(sample_result())) {
    const std::string text = part.table ? part.table->rows().back().front()
                                        : part.lines.substr(0, part.lines.find('\n'));
    at = open.find(html_text(text) + "<", at);
    ASSERT_NE(at, std::string::npos) << text;
  }
  EXPECT_THAT(open, Not(HasSubstr("Attacks")));
  EXPECT_THAT(page, HasSubstr("<h3>waits</h3>")) << "every figure, behind a line to click";
  EXPECT_THAT(page, Not(HasSubstr("<h3>attacks</h3>")));
}

TEST_F(ReportPage, ARunInWhichAllWasRefusedSaysSo) {
  nlohmann::ordered_json result = full_result();
  result["latency"][0]["count"] = 0;
  result["attacks"] = nlohmann::ordered_json::array();
  write_file_atomically(folder_.file("result.json"), result.dump());
  EXPECT_THAT(report_page({folder_.path()}, {}),
              HasSubstr("<p class=\"bad\">No request succeeded"));
}

TEST_F(ReportPage, ATimeThatNoRunCanHaveIsRefused) {
  nlohmann::ordered_json result = full_result();
  result["waits"][0]["wait_ns"] = 1e30;
  write_file_atomically(folder_.file("result.json"), result.dump());
  EXPECT_THROW(report_page({folder_.path()}, {}), ConfigError);
}

TEST_F(ReportPage, EachFigureOfATableHasAColumnWithItsUnitUnlessItIsZeroEverywhere) {
  nlohmann::ordered_json result = full_result();
  result["links"][0]["down"]["stall_ns"]["tags"] = nullptr;
  result["iommu"][0]["iotlb_misses_under_miss"] = 0;
  write_file_atomically(folder_.file("result.json"), result.dump());
  const std::string page = report_page({folder_.path()}, {});
  for (const char* text :
       {">direction<", ">down<", ">stall_ns.tags, ns<", ">25.0<", ">wire_bytes.identity, B<",
        ">utilisation, %<", ">goodput_gbps, Gb/s<"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  for (const char* text : {">retrains<", ">wire_bits.total, bit<", ">iotlb_misses_under_miss<"}) {
    EXPECT_THAT(page, Not(HasSubstr(text))) << text;
  }
}

TEST_F(ReportPage, AResultOfAnOlderVersionLacksWhatItDidNotCount) {
  nlohmann::ordered_json result = full_result();
  for (const char* list :
       {"iommu", "ats", "waits", "cxl_cache", "cxl_hdm_db", "attacks", "violations"}) {
    result.erase(list);
  }
  result["dhi"][0].erase("handles_kept");
  write_file_atomically(folder_.file("result.json"), result.dump());
  const std::string page = report_page({folder_.path()}, {});
  EXPECT_THAT(page, HasSubstr("Device handles"));
  EXPECT_THAT(page, Not(HasSubstr("Translations")));
}

TEST_F(ReportPage, AFolderStandsForItsResultAndPlainHasNoCharts) {
  write_run();
  const std::string page = report_page({folder_.path()}, {true, ""});
  EXPECT_THAT(page, HasSubstr("51.20"));
  EXPECT_THAT(page, Not(HasSubstr("<figure")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(ReportPage, ASweepShowsAChartPerFigureAndATable) {
  MergedSweep merged;
  merged.axes = {"workload.payload", "link.identity"};
  merged.axis_units = {"B", ""};
  for (const char* identity : {"bdf_pasid", "dhi"}) {
    for (const int payload : {64, 256, 1024}) {
      merged.rows.push_back({{"block", "forms"},
                             {"seed", 1},
                             {"workload.payload", payload},
                             {"link.identity", identity},
                             {"up_link_efficiency", payload / (payload + 28.0)},
                             {"up_goodput_gbps", 100.0}});
    }
  }
  const std::string html = sweep_section(merged, {}, "");
  EXPECT_THAT(html, HasSubstr("<h2>forms</h2>"));
  EXPECT_THAT(html, HasSubstr("workload.payload, B"));
  EXPECT_THAT(html, HasSubstr("\"s\":\"bdf_pasid\""));
  EXPECT_THAT(html, HasSubstr("69.57")) << "64 / 92 in percent";
  merged.columns = {
      "block",          "seed", "workload.payload", "link.identity", "up_link_efficiency",
      "up_goodput_gbps"};
  write_file_atomically(folder_.file("results.sqlite"), merged_sqlite(merged));
  EXPECT_THAT(report_page({folder_.file("results.sqlite")}, {}), HasSubstr("\"s\":\"bdf_pasid\""));
}

TEST_F(ReportPage, WhateverStandsInAFileIsEscaped) {
  const nlohmann::ordered_json good = full_result();
  const std::string evil = "<script>x</script>";
  for (const char* key : {"/flitwise/seed", "/flitwise/version", "/flitwise/config_sha256",
                          "/links/0/name", "/latency/0/name", "/dhi/0/device", "/errors/0/kind",
                          "/checks/0/name", "/config/run/seed", "/iommu/0/name", "/ats/0/function",
                          "/waits/0/resource", "/waits/0/at", "/cxl_cache/0/device",
                          "/cxl_hdm_db/0/device", "/attacks/0/attack", "/violations/0/packet"}) {
    nlohmann::ordered_json result = good;
    result[nlohmann::ordered_json::json_pointer(key)] = evil;
    write_file_atomically(folder_.file("result.json"), result.dump());
    const std::string page = report_page({folder_.file("result.json")}, {false, evil});
    EXPECT_THAT(page, Not(HasSubstr("<script>x"))) << key;
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;")) << key;
  }
}

TEST_F(ReportPage, AnInterruptedRunSaysSo) {
  write_file_atomically(folder_.file("result.json"), result_text(sample_result()));
  EXPECT_THAT(report_page({folder_.path()}, {}), Not(HasSubstr("nterrupted")));
  write_file_atomically(folder_.file("result.json"),
                        result_text(sample_result(), RunEnd::kInterrupted));
  EXPECT_THAT(report_page({folder_.path()}, {}), HasSubstr("Interrupted:"));
  write_file_atomically(folder_.file("result.json"),
                        result_text(sample_result(), RunEnd::kInterruptedBeforeWindow));
  EXPECT_THAT(report_page({folder_.path()}, {}), HasSubstr("Interrupted before the measured"));
}

TEST_F(ReportPage, AResultWithFiguresOfAnotherKindIsRefused) {
  const nlohmann::ordered_json good = result_json(sample_result());
  for (const char* key : {"/flitwise", "/flitwise/simulated_ns", "/links", "/links/0/up",
                          "/links/0/up/tlps", "/latency/0/count", "/checks", "/waits",
                          "/waits/0/wait_ns", "/iommu", "/iommu/0/walks", "/attacks/0/tried"}) {
    nlohmann::ordered_json result = good;
    result[nlohmann::ordered_json::json_pointer(key)] = "x";
    write_file_atomically(folder_.file("result.json"), result.dump());
    EXPECT_THROW(report_page({folder_.path()}, {}), ConfigError) << key;
  }
}

TEST_F(ReportPage, WhatAResultLacksIsSaidInPlainWords) {
  nlohmann::ordered_json lacking = full_result(), other = full_result();
  nlohmann::ordered_json no_place = result_json(sample_result()), no_name = no_place;
  lacking["checks"][0].erase("ok");
  other["checks"][0]["ok"] = 1;
  no_place["waits"][0].erase("at");
  no_name["iommu"][0].erase("name");
  for (const auto& [result, words] : {std::pair(lacking, "without the key 'ok', which"),
                                      std::pair(no_place, "without the key 'at', which"),
                                      std::pair(no_name, "without the key 'name', which"),
                                      std::pair(other, "type must be boolean, but is number;")}) {
    write_file_atomically(folder_.file("result.json"), result.dump());
    try {
      report_page({folder_.path()}, {});
      FAIL() << words;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder_.path()));
      EXPECT_THAT(error.what(), HasSubstr(words));
      EXPECT_THAT(error.what(), Not(HasSubstr("json.exception")));
    }
  }
}

TEST_F(ReportPage, WhatIsNoResultIsRefused) {
  write_file_atomically(folder_.file("other.json"), "{}");
  write_file_atomically(folder_.file("other.sqlite"), "not a database");
  for (const std::string& path : {folder_.file("other.json"), folder_.file("other.sqlite"),
                                  folder_.file("missing.json"), folder_.path()}) {
    EXPECT_THROW(report_page({path}, {}), ConfigError) << path;
  }
}

}  // namespace
}  // namespace flitwise::report_test
