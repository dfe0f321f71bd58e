// SPDX-License-Identifier: Apache-2.0
// A table that a component adds is everywhere that a user looks for figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/atomic_file.h"
#include "report/report.h"
#include "results/read_result.h"
#include "results/result_json.h"
#include "results/sqlite_database.h"
#include "results/summary_table.h"
#include "results/tables.h"
#include "support/temporary_folder.h"
#include "unit/results/sample_result.h"

namespace flitwise::added_table_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

struct Doorbell {
  std::string device;
  std::uint64_t rung = 0;
  Time waited;
};

const StatisticsTable& doorbell_table() {
  static const Table<Doorbell> kTable =
      Table<Doorbell>("doorbells", "doorbell", "One row per device with doorbells.")
          .name("device", &Doorbell::device)
          .count("rung", &Doorbell::rung, "Writes to it.")
          .time("wait_ns", &Doorbell::waited, "Waits for room behind it, added up.")
          .flat(FlatRows::kSum, "doorbells");
  return kTable;
}

struct Lamp {
  std::string name;
  std::uint64_t lit = 0;
};

// One whose list lies in an object.
const StatisticsTable& lamp_table() {
  static const Table<Lamp> kTable = Table<Lamp>("panel.lamps", "lamp", "One row per lamp.")
                                        .name("name", &Lamp::name)
                                        .count("lit", &Lamp::lit, "Times that it was lit.")
                                        .flat(FlatRows::kSum, "panel");
  return kTable;
}

class AddedTable : public ::testing::Test {
 protected:
  AddedTable() {
    add_table(doorbell_table());
    add_table(doorbell_table());  // the second time does nothing
    result_ = sample_result();
    result_.rows<Doorbell>() = {{"ep0", 1'500, Time::from_ns(20)}, {"ep1", 2, Time::from_ns(5)}};
  }
  Json json() const { return result_json(result_, RunEnd::kComplete); }
  RunResult result_;
};

TEST_F(AddedTable, IsAListOfTheJson) {
  EXPECT_EQ(json().at("doorbells").at(1), Json({{"device", "ep1"}, {"rung", 2}, {"wait_ns", 5.0}}));
  EXPECT_EQ(result_json(RunResult(), RunEnd::kComplete).at("doorbells"), Json::array());
}

TEST_F(AddedTable, MayLieInAnObjectThatIsThereWithItsRows) {
  add_table(lamp_table());
  EXPECT_FALSE(json().contains("panel"));
  EXPECT_EQ(figures_row(json()).count("panel_lit"), 0U);
  result_.rows<Lamp>() = {{"green", 2}, {"red", 5}};
  EXPECT_EQ(json().at("panel"),
            Json({{"lamps", Json::array({Json({{"name", "green"}, {"lit", 2}}),
                                         Json({{"name", "red"}, {"lit", 5}})})}}));
  EXPECT_EQ(figures_row(json()).at("panel_lit"), 7);
  const RunResult again = read_result(json());
  EXPECT_EQ(again.rows<Lamp>().at(1).lit, 5U);
  TemporaryFolder folder;
  write_file_atomically(folder.file("x.sqlite"), result_sqlite(json()));
  SqliteDatabase database(folder.file("x.sqlite"), SqliteDatabase::Mode::kReadOnly);
  EXPECT_EQ(database.query("SELECT sum(lit) AS n FROM lamp").at(0).at("n"), 7);
  write_file_atomically(folder.file("result.json"), json().dump());
  EXPECT_THAT(report_page({folder.path()}, {}), HasSubstr("green"));
}

TEST_F(AddedTable, IsATableOfTheDatabase) {
  TemporaryFolder folder;
  write_file_atomically(folder.file("x.sqlite"), result_sqlite(json()));
  SqliteDatabase database(folder.file("x.sqlite"), SqliteDatabase::Mode::kReadOnly);
  EXPECT_EQ(database.query("SELECT sum(rung) AS n FROM doorbell").at(0).at("n"), 1'502);
  EXPECT_THAT(result_schema(), HasSubstr("-- Waits for room behind it, added up. Unit: ns"));
}

TEST_F(AddedTable, IsColumnsOfASweep) {
  const Json row = figures_row(json());
  EXPECT_EQ(row.at("doorbells_rung"), 1'502);
  EXPECT_EQ(row.at("doorbells_wait_ns"), 25.0);
}

TEST_F(AddedTable, IsListedOnce) {
  const auto list = all_statistics();
  EXPECT_EQ(std::count_if(list.begin(), list.end(),
                          [](const StatisticInfo& one) { return one.where == "doorbells[]"; }),
            2);
}

TEST_F(AddedTable, IsInTheSummary) {
  const std::string summary = summary_text(result_, RunEnd::kComplete, kAnyWidth);
  EXPECT_THAT(summary, HasSubstr("doorbells: device   rung  wait_ns"));
  EXPECT_THAT(summary, HasSubstr("1,500    20 ns"));
}

TEST_F(AddedTable, IsInTheReport) {
  TemporaryFolder folder;
  write_file_atomically(folder.file("result.json"), json().dump());
  const std::string page = report_page({folder.path()}, {});
  EXPECT_THAT(page, HasSubstr("doorbells"));
  EXPECT_THAT(page, HasSubstr("wait_ns, ns"));
  EXPECT_THAT(page, HasSubstr(">1,500<"));
}

}  // namespace
}  // namespace flitwise::added_table_test
