// SPDX-License-Identifier: Apache-2.0
// result.sqlite holds what result.json holds.
#include "results/result_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <filesystem>
#include <stdexcept>
#include <variant>

#include "common/atomic_file.h"
#include "results/sqlite_database.h"
#include "results/tables.h"
#include "support/temporary_folder.h"
#include "unit/results/sample_result.h"

namespace flitwise::result_sqlite_test {
namespace {

using Json = nlohmann::ordered_json;

class ResultSqlite : public ::testing::Test {
 protected:
  std::string write(const RunResult& result, RunEnd end = RunEnd::kComplete) {
    const std::string path = folder_.file("result.sqlite");
    write_file_atomically(path, result_sqlite(result_json(result, end)));
    return path;
  }
  TemporaryFolder folder_;
};

std::size_t columns_of(const TableInfo& table) {
  const auto is_column = [](const FigureInfo& one) { return one.type != FigureType::kByKind; };
  return table.names.size() + static_cast<std::size_t>(std::count_if(
                                  table.figures.begin(), table.figures.end(), is_column));
}

TEST_F(ResultSqlite, EachTableHasAColumnForEachFigure) {
  SqliteDatabase database(write(sample_result()), SqliteDatabase::Mode::kReadOnly);
  for (const StatisticsTable* const table : all_tables()) {
    const std::string name = table->info().sql_table;
    const auto columns = database.query("SELECT name FROM pragma_table_info('" + name + "')");
    EXPECT_EQ(columns.size(), columns_of(table->info())) << name;
  }
}

TEST_F(ResultSqlite, EveryFigureOfALinkIsWhatItsTableSays) {
  SqliteDatabase database(write(sample_result()), SqliteDatabase::Mode::kReadOnly);
  const auto rows = database.query("SELECT * FROM link_direction ORDER BY direction DESC");
  ASSERT_EQ(rows.size(), 2U);
  const RunResult result = sample_result();
  const std::any& links = *result.find(typeid(LinkResult));
  const TableInfo& table = link_table().info();
  for (std::size_t i = 0; i < table.figures.size(); ++i) {
    const std::string column = table.figures[i].column();
    EXPECT_DOUBLE_EQ(rows[0].at(column).get<double>(),
                     link_table().figure(links, 0, i).get<double>())
        << column;
  }
  EXPECT_TRUE(rows[1]["goodput_gbps"].is_null());
}

TEST_F(ResultSqlite, LatencyHandlesErrorsAndChecksAreRows) {
  SqliteDatabase database(write(sample_result()), SqliteDatabase::Mode::kReadOnly);
  EXPECT_EQ(database.query("SELECT p99, unit FROM latency WHERE name = 'dma_write'").at(0),
            Json({{"p99", 115.0}, {"unit", "ns"}}));
  EXPECT_EQ(database.query("SELECT hits FROM dhi WHERE device = 'ep0'").at(0)["hits"], 8);
  EXPECT_EQ(database.query("SELECT count FROM dhi_rejection").at(0)["count"], 1);
  EXPECT_EQ(database.query("SELECT * FROM error").at(0),
            Json({{"kind", "unsupported_request"}, {"count", 2}}));
  EXPECT_EQ(database.query("SELECT count(*) AS n FROM check_result WHERE ok = 0").at(0)["n"], 1);
  EXPECT_EQ(database.query("SELECT rule, direction FROM violation").at(0),
            Json({{"rule", "LNK-8.3"}, {"direction", "up"}}));
  EXPECT_EQ(database.query("SELECT walks FROM iommu WHERE name = 'iommu0'").at(0)["walks"], 3);
  EXPECT_EQ(database.query("SELECT * FROM ats").at(0), Json({{"function", "ep0.0"},
                                                             {"requests", 4},
                                                             {"hits", 90},
                                                             {"misses", 10},
                                                             {"misses_under_miss", 5},
                                                             {"invalidations", 2},
                                                             {"page_requests", 1}}));
  EXPECT_EQ(database.query("SELECT * FROM wait").at(0), Json({{"at", "iommu0"},
                                                              {"resource", "walkers"},
                                                              {"direction", "up"},
                                                              {"kind", ""},
                                                              {"key", "iommu.walkers"},
                                                              {"capacity", 4},
                                                              {"peak", nullptr},
                                                              {"waits", 6},
                                                              {"wait_ns", 900.0},
                                                              {"blocked_ns", 0.0},
                                                              {"busy", nullptr}}));
  const Json run = database.query("SELECT * FROM run").at(0);
  EXPECT_EQ(run["seed"], 7);
  EXPECT_EQ(Json::parse(run["config"].get<std::string>())["run"]["seed"], 7);
}

TEST_F(ResultSqlite, AnInterruptedRunSaysSo) {
  for (const RunEnd end : {RunEnd::kComplete, RunEnd::kInterrupted}) {
    SqliteDatabase database(write(sample_result(), end), SqliteDatabase::Mode::kReadOnly);
    EXPECT_EQ(database.query("SELECT interrupted FROM run").at(0).at("interrupted"),
              end == RunEnd::kInterrupted ? 1 : 0);
  }
}

TEST_F(ResultSqlite, AnOlderFileIsReplacedAndNothingElseIsLeft) {
  const std::string path = write(RunResult());
  EXPECT_EQ(write(sample_result()), path);
  SqliteDatabase database(path, SqliteDatabase::Mode::kReadOnly);
  EXPECT_EQ(database.query("SELECT * FROM run").size(), 1U);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST(SqliteDatabase, FailuresSayFileAndReason) {
  TemporaryFolder folder;
  SqliteDatabase database(folder.file("x.sqlite"), SqliteDatabase::Mode::kCreate);
  try {
    database.insert("nowhere", {{"a", 1}});
    FAIL() << "no such table was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("x.sqlite"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("no such table"), std::string::npos);
  }
}

TEST(SqliteDatabase, NamesWithQuotesStayNames) {
  EXPECT_EQ(sql_name("link.mps"), "\"link.mps\"");
  EXPECT_EQ(sql_name("a\"b"), "\"a\"\"b\"");
}

}  // namespace
}  // namespace flitwise::result_sqlite_test
