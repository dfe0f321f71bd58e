// SPDX-License-Identifier: Apache-2.0
// A component of one's own, as docs/add_a_component.md makes one: what stands here above the tests
// is its folder and its line in the builder. The tests look at each place that it has to appear in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <systemc>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "common/component.h"
#include "common/wakeup.h"
#include "config/load.h"
#include "fabric/builder.h"
#include "flitwise/error.h"
#include "flitwise/system.h"
#include "memory/memory_port.h"
#include "report/report.h"
#include "results/result_json.h"
#include "results/sqlite_database.h"
#include "results/summary_table.h"
#include "results/tables.h"
#include "root_complex/root_port.h"
#include "stats/wait_book.h"
#include "support/temporary_folder.h"

namespace flitwise::added_component_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

// ---- models/journal/journal.h

struct JournalResult {
  std::string name;
  std::uint64_t records = 0, bytes = 0;
};

struct JournalConfig {
  std::size_t depth = 4;
  Time record = Time::from_ns(200);
};

/// Writes a record of each write that a root port lets into memory: one after the other, from a
/// queue of so many.
class Journal final : public ComponentModule {
 public:
  Journal(const sc_core::sc_module_name& module, RootPort& port, const JournalConfig& config)
      : ComponentModule(module), config_(config), port_(port.name()) {
    wakeup_.wakes("work_process", [this] { work(); });
    port.watch_memory([this](const Packet& packet, std::uint64_t) { accessed(packet); });
  }

  bool is_quiet() const override { return queue_.empty() && waiting_.empty(); }
  std::string waiting() const override {
    return is_quiet()
               ? ""
               : std::string(name()) + ": " + std::to_string(queue_.size() + waiting_.size()) +
                     " records wait to be written\n";
  }
  void add_progress(Progress& sum) const override { sum.completed += written_; }
  void start_window() override {
    done_ = {};
    waits_.start_window(now());
    use_.start_window(now());
  }
  void end_window() override { use_.end_window(now()); }
  void extend_window() override { use_.extend_window(); }
  std::vector<WaitResult> waits() const override {
    WaitResult row =
        waits_.result({port_, "journal", ResourceRole::kSlots, "up", "write", "", config_.depth});
    row.peak = use_.peak();
    row.busy = use_.mean(now()) / static_cast<double>(config_.depth);
    return {row};
  }
  void report(RunResult& result) const override {
    result.rows<JournalResult>().push_back({name(), done_.records, done_.bytes});
  }

 private:
  void accessed(const Packet& packet) {
    if (packet.tlp.type != TlpType::kMWr) {
      return;
    }
    waiting_.push_back({now(), packet.payload_bytes});
    fill();
  }
  void fill() {
    for (; !waiting_.empty() && queue_.size() < config_.depth; waiting_.pop_front()) {
      waits_.add(waiting_.front().since, now());
      queue_.push_back(waiting_.front());
      if (queue_.size() == 1) {
        wakeup_.at(now() + config_.record);
      }
    }
    use_.set(queue_.size(), now());
  }
  void work() {
    wakeup_.taken();
    ++written_;
    ++done_.records;
    done_.bytes += queue_.front().bytes;
    queue_.pop_front();
    if (!queue_.empty()) {
      wakeup_.at(now() + config_.record);
    }
    fill();
  }

  struct Record {
    Time since;
    std::uint64_t bytes;
  };
  const JournalConfig config_;
  const std::string port_;
  Wakeup wakeup_{"wakeup", Time::from_ns(1)};
  std::deque<Record> queue_, waiting_;  // the latter: behind a full queue
  WaitBook waits_;
  UseClock use_;
  std::uint64_t written_ = 0;  // since the start of the run
  JournalResult done_;
};

const StatisticsTable& journal_table() {
  static const Table<JournalResult> kTable =
      Table<JournalResult>("journals", "journal", "One row per journal of a root port.")
          .name("name", &JournalResult::name)
          .count("records", &JournalResult::records, "Records that it has written.")
          .count("bytes", &JournalResult::bytes, "Payload that they are about. Unit: byte.");
  return kTable;
}

// ---- models/fabric/builder_lists.cpp

JournalConfig config_of_journals;

void list_journals(Fabric& fabric) {
  for (const auto& port : fabric.root_ports) {
    const std::string name = port->name() + std::string("_journal");
    fabric.components.own(std::make_unique<Journal>(name.c_str(), *port, config_of_journals));
  }
}

void add_line() {
  Builder::kinds().push_back({list_journals, journal_table});
}

// ---- where it appears

constexpr const char* kWrites = R"(
workload: {kind: posted_write, requests: 100, payload: 64B}
device: {timing: {completion_timeout: 10us}}
host: {timing: {completion_timeout: 10us}}
run: {warmup: 10, deadlock_after: 20us}
)";

class AddedComponent : public ::testing::Test {
 protected:
  static RunResult run() {
    add_line();
    System system(config_from_text(kWrites, "run.yaml", ""));
    return system.run();
  }
  static Json json(const RunResult& result) { return result_json(result, RunEnd::kComplete); }
};

TEST_F(AddedComponent, CountsInTheJson) {
  const Json all = json(run());
  ASSERT_EQ(all.at("journals").size(), 1U);
  EXPECT_EQ(all.at("journals").at(0).at("name"), "rp0_journal");
  EXPECT_EQ(all.at("journals").at(0).at("bytes"),
            64 * all.at("journals").at(0).at("records").get<int>());
  const auto& waits = all.at("waits");
  const auto row = std::find_if(waits.begin(), waits.end(),
                                [](const Json& one) { return one.at("resource") == "journal"; });
  ASSERT_NE(row, waits.end());
  EXPECT_EQ(row->at("at"), "rp0");
  EXPECT_EQ(row->at("capacity"), 4);
  EXPECT_EQ(row->at("peak"), 4);
  EXPECT_GT(row->at("waits"), 50);
}

TEST_F(AddedComponent, CountsInTheDatabase) {
  TemporaryFolder folder;
  const Json all = json(run());
  write_file_atomically(folder.file("x.sqlite"), result_sqlite(all));
  SqliteDatabase database(folder.file("x.sqlite"), SqliteDatabase::Mode::kReadOnly);
  EXPECT_EQ(
      database.query("SELECT records FROM journal WHERE name = 'rp0_journal'").at(0).at("records"),
      all.at("journals").at(0).at("records"));
}

TEST_F(AddedComponent, IsAmongTheStatisticsWithoutAMachine) {
  add_line();
  Builder::add_tables();
  std::vector<std::string> keys;
  for (const StatisticInfo& one : all_statistics()) {
    if (one.where == "journals[]") {
      keys.push_back(one.key);
    }
  }
  EXPECT_THAT(keys, testing::IsSupersetOf({"records", "bytes"}));
}

TEST_F(AddedComponent, IsInTheSummaryAndLimitsTheRun) {
  const RunResult result = run();
  const std::string summary = summary_text(result, RunEnd::kComplete, kAnyWidth);
  EXPECT_THAT(summary, HasSubstr("journals: name"));
  EXPECT_THAT(summary, HasSubstr("rp0_journal"));
  EXPECT_THAT(text_of(result.rows<ExplainResult>()), HasSubstr("rp0-ep0 up write: rp0 journal"));
}

TEST_F(AddedComponent, IsInTheReport) {
  TemporaryFolder folder;
  write_file_atomically(folder.file("result.json"), json(run()).dump());
  const std::string page = report_page({folder.path()}, {});
  EXPECT_THAT(page, HasSubstr("journals"));
  EXPECT_THAT(page, HasSubstr("rp0_journal"));
}

TEST_F(AddedComponent, IsWaitedForAndNamedWhereItStandsStill) {
  config_of_journals.record = Time::from_us(1'000'000);
  try {
    run();
    FAIL() << "it is quiet";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rp0_journal: 110 records wait to be written"));
  }
}

}  // namespace
}  // namespace flitwise::added_component_test
