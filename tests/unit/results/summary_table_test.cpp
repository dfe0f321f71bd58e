// SPDX-License-Identifier: Apache-2.0
// The summary for people: numbers with units, plain words for what failed, nothing empty.
#include "results/summary_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/text_table.h"
#include "unit/results/sample_result.h"

namespace flitwise::summary_table_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SummaryTable, SaysWhichBytesWentWhere) {
  const std::string text = summary_text(sample_result());
  EXPECT_THAT(text, HasSubstr("rp0-ep0 up"));
  EXPECT_THAT(text, HasSubstr("51.20 Gb/s"));
  EXPECT_THAT(text, HasSubstr("67.00 %")) << "link efficiency";
  EXPECT_THAT(text, HasSubstr("51.20   12.80")) << "payload and header in percent of the wire";
  EXPECT_THAT(text, Not(HasSubstr("fec"))) << "a part that nobody has is left out";
}

TEST(SummaryTable, ShowsLatencyHandlesStallsAndErrors) {
  const std::string text = summary_text(sample_result());
  EXPECT_THAT(text, HasSubstr("dma_write"));
  EXPECT_THAT(text, HasSubstr("80.00 %")) << "hit rate";
  EXPECT_THAT(text, HasSubstr("posted_headers"));
  EXPECT_THAT(text, HasSubstr("Limit: rp0-ep0 up write: iommu0 walkers 93 %; try iommu.walkers=8"));
  EXPECT_THAT(text, HasSubstr("1.50 ns"));
  EXPECT_THAT(text, HasSubstr("unsupported_request"));
  EXPECT_THAT(text, HasSubstr("Check FAILED: credits returned: 3 missing"));
}

TEST(SummaryTable, ARunInWhichAllWasRefusedDoesNotReadAsASuccess) {
  const std::string sentence = "No request succeeded";
  RunResult result = sample_result();
  EXPECT_THAT(summary_text(result), Not(HasSubstr(sentence))) << "some succeeded";
  for (LatencyResult& latency : result.rows<LatencyResult>()) {
    latency.count = 0;
  }
  EXPECT_THAT(summary_text(result), HasSubstr(sentence));
  EXPECT_THAT(summary_text(result, RunEnd::kInterrupted), Not(HasSubstr(sentence)));
  RunResult hostile = result;
  hostile.rows<AttackResult>() = {{"foreign_handle", 5, 0}};
  EXPECT_THAT(summary_text(hostile), Not(HasSubstr(sentence))) << "it is there to be refused";
  result.errors.clear();
  EXPECT_THAT(summary_text(result), Not(HasSubstr(sentence))) << "nothing was asked for";
}

TEST(SummaryTable, WorkRequestsThatFailedStandBeforeWhatLimits) {
  RunResult result = sample_result();
  EXPECT_THAT(summary_text(result), Not(HasSubstr("Work requests failed")));
  result.errors["WR_FLUSH_ERR"] = 84;
  result.errors["RETRY_EXC_ERR"] = 16;
  const std::string text = summary_text(result);
  EXPECT_THAT(text, HasSubstr("Work requests failed: WR_FLUSH_ERR 84, RETRY_EXC_ERR 16.\n"));
  EXPECT_LT(text.find("Work requests failed"), text.find("Limit: "));
}

TEST(SummaryTable, AnInterruptedRunSaysSo) {
  EXPECT_THAT(summary_text(sample_result()), Not(HasSubstr("nterrupted")));
  EXPECT_THAT(summary_text(sample_result(), RunEnd::kInterrupted), HasSubstr("Interrupted:"));
  EXPECT_THAT(summary_text(sample_result(), RunEnd::kInterruptedBeforeWindow),
              HasSubstr("Interrupted before the measured window began"));
}

TEST(SummaryTable, ShowsWriteTlpsWhereTheyAreNotTheRequestsThemselves) {
  RunResult result = sample_result();
  result.rows<LatencyResult>().push_back({"dma_write_tlp", 10, 100, 90, 99, 110, 115, 118, 120});
  EXPECT_THAT(summary_text(result), Not(HasSubstr("dma_write_tlp")));
  result.rows<LatencyResult>().back().count = 20;
  EXPECT_THAT(summary_text(result), HasSubstr("dma_write_tlp"));
}

TEST(SummaryTable, ShowsWhatTheTranslationAgentDid) {
  RunResult result;
  IommuResult agent;
  agent.name = "iommu0";
  EXPECT_THAT(summary_text(result), Not(HasSubstr("iommu0")));
  agent.requests = 8;
  agent.iotlb_hits = 6;
  agent.iotlb_misses = 2;
  agent.walks = 2;
  agent.walk_reads = 9;
  result.rows<IommuResult>() = {agent};
  const std::string text = summary_text(result);
  EXPECT_THAT(text, HasSubstr("75.0"));
  EXPECT_THAT(text, HasSubstr("4.5"));
}

TEST(SummaryTable, ShowsAddressTranslationCachesThatWereUsed) {
  RunResult result;
  result.rows<AtsResult>() = {{{0, 0, 0, 0, 0, 0}, "ep0.0"}};
  EXPECT_THAT(summary_text(result), Not(HasSubstr("ep0.0")));
  result.rows<AtsResult>() = {{{4, 90, 7, 3, 2, 1}, "ep0.0"}};
  EXPECT_THAT(summary_text(result), HasSubstr("90.00 %"));
  EXPECT_THAT(summary_text(result), HasSubstr("7.00 %"));
  EXPECT_THAT(summary_text(result), HasSubstr("3.00 %"));
}

TEST(SummaryTable, ShowsSecureAtsWhereItIsOn) {
  RunResult result;
  IommuResult agent;
  agent.name = "iommu0";
  agent.requests = 8;
  result.rows<IommuResult>() = {agent};
  EXPECT_THAT(summary_text(result), Not(HasSubstr("Secure ATS")));
  result.rows<IommuResult>()[0].permission_checks = 8;
  result.rows<IommuResult>()[0].permission_denied = 3;
  result.rows<IommuResult>()[0].permission_reads = 2;
  const std::string text = summary_text(result);
  EXPECT_THAT(text, HasSubstr("Secure ATS"));
  EXPECT_THAT(text, HasSubstr("0.25"));
}

TEST(SummaryTable, AnEmptyRunIsOneLine) {
  EXPECT_EQ(summary_text(RunResult()), "Simulated 0 ns in 0.00 s, seed 0, config \n");
}

TEST(SummaryTable, NoLineIsWiderThanATerminal) {
  const std::string text = summary_text(sample_result());
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    EXPECT_LE(end - start, 130U) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(TextTable, ColumnsLineUp) {
  TextTable table({"name", "n"});
  table.add_row({"a", "1"});
  table.add_row({"long one", "1,234"});
  EXPECT_EQ(table.text(),
            "name          n\n"
            "a             1\n"
            "long one  1,234\n");
}

TEST(TextTable, NumbersCarryUnits) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1'234'567), "1,234,567");
  EXPECT_EQ(bytes_text(64), "64 B");
  EXPECT_EQ(bytes_text(1'280'000), "1.28 MB");
  EXPECT_EQ(time_text(999.9), "1.00 us");
  EXPECT_EQ(time_text(12'345), "12.3 us");
  EXPECT_EQ(percent_text(std::nullopt), "-");
  EXPECT_EQ(percent_text(0.5), "50.00 %");
}

}  // namespace
}  // namespace flitwise::summary_table_test
