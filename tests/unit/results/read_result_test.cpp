// SPDX-License-Identifier: Apache-2.0
// A result that is read back is the same result.
#include "results/read_result.h"

#include <gtest/gtest.h>

#include "results/summary_table.h"
#include "results/tables.h"
#include "unit/results/sample_result.h"

namespace flitwise::read_result_test {
namespace {

using Json = nlohmann::ordered_json;

/// A result with another number in each figure, so that none can take the place of another.
Json numbered_result() {
  RunResult result = sample_result();
  result.rows<CxlCacheResult>().emplace_back().device = "ep3";
  result.rows<CxlHdmDbResult>().emplace_back().device = "ep4";
  result.rows<ExplainResult>()[0].next = {"rp0-ep0", "link", "link.preset", 0.5, {}, "gen6x16"};
  result.rows<AttackResult>() = {{"forged_pasid", 0, 0}};
  Json json = result_json(result);
  int next = 1;
  for (const StatisticsTable* const table : all_tables()) {
    for (Json& entry : json[pointer_of(table->info().list)]) {
      for (Json* const object : table->info().nested.empty()
                                    ? std::vector<Json*>{&entry}
                                    : std::vector<Json*>{&entry["up"], &entry["down"]}) {
        for (const FigureInfo& figure : table->info().figures) {
          Json& value = (*object)[pointer_of(figure.key)];
          if (figure.type != FigureType::kText && figure.type != FigureType::kByKind) {
            value = figure.key == "peak" || figure.type == FigureType::kCount ? Json(++next)
                                                                              : Json(++next * 0.5);
          }
        }
      }
    }
  }
  return json;
}

TEST(ReadResult, GivesTheSameLists) {
  const Json written = result_json(sample_result());
  const Json again = result_json(read_result(written));
  for (const auto& [key, value] : written.items()) {
    if (key != "flitwise" && key != "config") {
      EXPECT_EQ(again.at(key), value) << key;
    }
  }
  EXPECT_EQ(again.at("flitwise").at("simulated_ns"), written.at("flitwise").at("simulated_ns"));
}

TEST(ReadResult, TakesEveryFigureThatDoesNotFollowFromOthers) {
  const Json written = numbered_result();
  const Json again = result_json(read_result(written));
  for (const StatisticsTable* const table : all_tables()) {
    const std::string& list = table->info().list;
    if (list != "links") {
      EXPECT_EQ(again.at(pointer_of(list)).dump(), written.at(pointer_of(list)).dump());
    }
  }
  for (const char* direction : {"up", "down"}) {
    Json seen = again["links"][0][direction], expected = written["links"][0][direction];
    for (const char* reckoned : {"goodput_gbps", "utilisation", "link_efficiency", "wire_bits"}) {
      seen.erase(reckoned);
      expected.erase(reckoned);
    }
    seen["wire_bytes"].erase("total");
    expected["wire_bytes"].erase("total");
    for (auto& [part, bytes] : expected["wire_bytes"].items()) {
      EXPECT_EQ(seen["wire_bytes"][part].get<double>(), bytes.get<double>()) << part;
    }
    seen.erase("wire_bytes");
    expected.erase("wire_bytes");
    EXPECT_EQ(seen.dump(), expected.dump());
  }
}

TEST(ReadResult, KeepsAGoodputOfZeroApartFromNone) {
  RunResult result = sample_result();
  result.rows<LinkResult>()[0].down.tlps = 8;
  result.rows<LinkResult>()[0].down.last_symbol = Time::from_ns(50);
  const Json written = result_json(result);
  EXPECT_EQ(written["links"][0]["down"]["goodput_gbps"], 0.0);
  EXPECT_EQ(result_json(read_result(written)).at("links"), written.at("links"));
}

TEST(ReadResult, KeepsTheGoodputOfABitPackedLink) {
  RunResult result = sample_result();
  result.rows<LinkResult>()[0].is_bit_packed = true;
  result.rows<LinkResult>()[0].up.bits.payload = 5'003;
  result.rows<LinkResult>()[0].up.last_symbol.fs += 777;
  const Json written = result_json(result);
  EXPECT_EQ(result_json(read_result(written)).at("links"), written.at("links"));
}

TEST(ReadResult, ShowsTheSameSummary) {
  const RunResult result = sample_result();
  const auto text = [](const RunResult& one) {
    std::string all;
    for (const SummaryPart& part : summary_parts(one)) {
      all += part.table ? part.table->text() : part.lines;
    }
    return all;
  };
  EXPECT_EQ(text(read_result(result_json(result))), text(result));
}

TEST(ReadResult, SaysHowTheRunEnded) {
  for (const RunEnd end :
       {RunEnd::kComplete, RunEnd::kInterrupted, RunEnd::kInterruptedBeforeWindow}) {
    EXPECT_EQ(end_of(result_json(sample_result(), end)), end);
  }
}

}  // namespace
}  // namespace flitwise::read_result_test
