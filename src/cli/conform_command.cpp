// SPDX-License-Identifier: Apache-2.0
// flitwise conform: the corner-case regression. Each case runs in a process of its own.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/conform.h"
#include "common/atomic_file.h"
#include "common/child_process.h"
#include "common/embedded.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "common/printable.h"
#include "common/ranges.h"
#include "scenario/verdict.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;
using scenario::Case;
using scenario::CaseReport;
using scenario::Catalogue;

/// ./tests/cases if it is there, else what was installed with the program. Throws ConfigError.
std::vector<std::string> default_case_paths() {
  const fs::path here = "tests/cases";
  if (fs::is_directory(here)) {
    return {here.string()};
  }
  const fs::path program = own_path();
  for (const char* const beside :
       {"../share/flitwise/cases", "../../tests/cases", "../tests/cases"}) {
    if (const fs::path cases = program.parent_path() / beside; fs::is_directory(cases)) {
      return {cases.lexically_normal().string()};
    }
  }
  throw ConfigError(
      {{"tests/cases", 0, 0, "",
        "no catalogue here or installed; expected the path of a case file or folder"}});
}

/// All cases there. Links that lead to no file are told on stderr and passed over.
Catalogue catalogue_in(const std::vector<std::string>& paths) {
  Catalogue catalogue = scenario::find_cases(paths);
  for (const std::string& link : catalogue.dead_links) {
    fmt::print(stderr, "flitwise: warning: {} is a link that leads to no file; passed over\n",
               printable(link));
  }
  return catalogue;
}

void refuse(const std::vector<Problem>& problems) {
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
}

/// Id, tab, title: a line a case.
std::string list_of(const std::vector<Case>& cases) {
  return sum_of(cases, [](const Case& one) { return fmt::format("{}\t{}\n", one.id, one.title); });
}

struct ConformOptions {
  const CLI::App* command = nullptr;  ///< which of them were given
  std::vector<std::string> paths;
  std::string glob = "*";
  std::string junit;
  std::string events;
  bool lists = false;
  bool covers = false;
  unsigned jobs = 1;
  CampaignOptions campaign;
  std::string child_of;            ///< hidden: the case whose parent asks for this one
  ChildTask child;                 ///< hidden likewise
  bool child_reads_stdin = false;  ///< hidden likewise: the text of the file comes from there
};

Catalogue catalogue_of(const ConformOptions& options) {
  if (options.child_reads_stdin) {
    return {
        scenario::cases_from_text(input_text("/dev/stdin", "a case file"), options.paths.front()),
        {},
        {}};
  }
  return catalogue_in(options.paths.empty() ? default_case_paths() : options.paths);
}

// None only where files are wrong, one of which may have what is meant.
std::vector<Case> chosen(const ConformOptions& options, const Catalogue& all) {
  std::vector<Case> some;
  for (const Case& one : all.cases) {
    const bool is_meant = options.child_of.empty()
                              ? fnmatch(options.glob.c_str(), one.id.c_str(), 0) == 0
                              : one.id == options.glob;
    if (is_meant) {
      some.push_back(one);
    }
  }
  if (some.empty() && all.problems.empty()) {
    throw UsageError(fmt::format("conform: no case matches {}; --list shows all {}", options.glob,
                                 all.cases.size()));
  }
  return some;
}

/// Runs cases in child processes, several at a time, and tells of them in their order.
class Regression {
 public:
  /// The events of the cases are added to `events`, a line each, where it is given.
  Regression(const std::vector<Case>& cases, std::string* events)
      : cases_(cases), events_(events), reports_(cases.size()), seen_(cases.size()) {}

  /// One report a case; fewer where Ctrl-C ended it early.
  std::vector<CaseReport> run(unsigned jobs) {
    std::vector<CaseReport> all;
    ProcessPool(cases_.size(), jobs)
        .run([this](std::uint64_t i) { return work(i); }, ProcessPool::Order::kByNumber,
             [&](std::uint64_t i) {
               tell(reports_[i]);
               note_events(i);
               all.push_back(std::move(reports_[i]));
             });
    return all;
  }

 private:
  bool work(std::size_t i) {
    const auto start = std::chrono::steady_clock::now();
    CaseReport& report = reports_[i] = {cases_[i].id, cases_[i].title, 0, ""};
    try {
      CaseVerdict verdict = verdict_of(cases_[i], {kCaseSeconds, events_ != nullptr});
      report.failure = std::move(verdict.failure);
      seen_[i] = std::move(verdict.events);
    } catch (const std::exception& error) {  // no process to be had, say
      report.failure = fmt::format("      could not be run: {}\n", error.what());
    }
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return !is_interrupted();  // which ends the child as well
  }

  static void tell(const CaseReport& report) {
    fmt::print("{}  {}  {} ({:.0f} ms)\n", report.failure.empty() ? "ok  " : "FAIL", report.id,
               report.title, report.seconds * 1e3);
    fmt::print("{}", report.failure);
    std::fflush(stdout);
  }

  // {"case": its id, "event": ...}: the events of a case as they came.
  void note_events(std::size_t index) {
    const std::string id = scenario::Json(cases_[index].id).dump();
    for (const std::string& event : seen_[index]) {
      *events_ += fmt::format("{{\"case\":{},{}\n", id, event.substr(1));
    }
    seen_[index].clear();
  }

  const std::vector<Case>& cases_;
  std::string* events_;
  std::vector<CaseReport> reports_;             // by case
  std::vector<std::vector<std::string>> seen_;  // events by case
};

// A file that is wrong is one error, with all its problems.
std::vector<CaseReport> reports_of(const std::vector<Problem>& problems) {
  std::vector<CaseReport> reports;
  for (const Problem& problem : problems) {
    const auto same =
        find_if(reports, [&](const CaseReport& report) { return report.id == problem.file; });
    const bool is_new = same == reports.end();
    CaseReport& report = is_new ? reports.emplace_back() : *same;
    if (is_new) {
      report = {problem.file, "a file of cases that can be read", 0, "", true};
    }
    report.failure += "      " + problem.text() + "\n";
  }
  return reports;
}

// Where one cannot be written the others still are. Throws OutputError of the first one.
void write_each(StagedFiles files, const std::vector<std::string>& texts) {
  std::exception_ptr failure;
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      StagedFiles one;
      one.push_back(std::move(files[i]));
      one.front()->write(texts[i]);
      put_in_place(one);
    } catch (const OutputError&) {
      failure = failure ? failure : std::current_exception();
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// The problems are told first and do not keep the other cases from running.
int regress(const ConformOptions& options, const Catalogue& catalogue) {
  const std::vector<Case>& cases = catalogue.cases;
  StagedFiles files;  // that they can be written is known before it begins
  for (const std::string& path : {options.junit, options.events}) {
    if (!path.empty()) {
      remove_left_over_files(fs::absolute(path).parent_path().string());
      files.push_back(std::make_unique<StagedFile>(path));
    }
  }
  const std::vector<CaseReport> errors = reports_of(catalogue.problems);
  if (!errors.empty()) {
    fmt::print(stderr, "{}\n", ConfigError(catalogue.problems).what());
  }
  std::string events;
  std::vector<CaseReport> reports =
      Regression(cases, options.events.empty() ? nullptr : &events).run(options.jobs);
  const auto failed = std::count_if(reports.begin(), reports.end(), [](const CaseReport& report) {
    return !report.failure.empty();
  });
  const auto total = static_cast<std::ptrdiff_t>(reports.size());
  if (is_interrupted()) {
    fmt::print(stderr, "flitwise: interrupted; {} of {} cases were not run to their end\n",
               cases.size() - reports.size(), cases.size());
  }
  if (!cases.empty()) {
    fmt::print("{} passed, {} failed{}\n", total - failed, failed,
               errors.empty() ? "" : fmt::format(", files refused: {}", errors.size()));
    std::fflush(stdout);
  }
  reports.insert(reports.end(), errors.begin(), errors.end());
  std::vector<std::string> texts;
  if (!options.junit.empty()) {
    texts.push_back(scenario::junit_xml(reports));
  }
  if (!options.events.empty()) {
    texts.push_back(std::move(events));
  }
  write_each(std::move(files), texts);
  return is_interrupted()  ? kInterrupted
         : !errors.empty() ? kBadInput
         : failed == 0     ? kOk
                           : kCheckFailed;
}

void refuse_to_overwrite_cases(const ConformOptions& options, const Catalogue& catalogue) {
  std::vector<NamedPath> outputs;
  if (!options.junit.empty()) {
    outputs.push_back({options.junit, "--junit"});
  }
  if (!options.events.empty()) {
    outputs.push_back({options.events, "--events"});
  }
  std::vector<NamedPath> inputs;
  for (const Case& one : catalogue.cases) {
    inputs.push_back({one.file, "a case file"});
  }
  for (const Problem& problem : catalogue.problems) {
    inputs.push_back({problem.file, "a case file"});
  }
  refuse_to_overwrite(inputs, outputs);
}

// Options that mean files say nothing about a campaign, and the other way round.
void check_options(const ConformOptions& options) {
  const CLI::App& command = *options.command;
  const bool is_campaign = options.campaign.seeds > 0;
  const std::vector<std::string> others =
      is_campaign ? std::vector<std::string>{"path",       "--case",  "--list",
                                             "--coverage", "--junit", "--events"}
                  : std::vector<std::string>{"--seed", "--set", "--out"};
  for (const std::string& name : others) {
    if (command.count(name) > 0) {
      throw UsageError(fmt::format("conform: {} {} --campaign", name,
                                   is_campaign ? "has no meaning with" : "needs"));
    }
  }
  for (const char* asked : {"--list", "--coverage"}) {
    for (const char* file : {"--junit", "--events"}) {
      if (command.count(asked) > 0 && command.count(file) > 0) {
        throw UsageError(
            fmt::format("conform: {} has no meaning with {}, which runs no case", file, asked));
      }
    }
  }
}

int conform(const ConformOptions& options) {
  check_options(options);
  if (options.campaign.seeds > 0) {
    CampaignOptions campaign = options.campaign;
    campaign.jobs = options.jobs;
    return run_campaign(campaign);
  }
  if (options.child_of.empty() && !options.lists && !options.covers) {
    watch_for_interrupt();  // a large catalogue takes its time to read
  }
  const Catalogue all = catalogue_of(options);
  if (!options.child_of.empty() || options.lists || options.covers) {
    refuse(all.problems);
  }
  Catalogue some = {chosen(options, all), all.problems, {}};
  const std::vector<Case>& cases = some.cases;
  if (!options.child_of.empty()) {
    ConformOptions asker = options;
    asker.glob = options.child_of;
    return run_as_child(cases.front(), chosen(asker, all).front().same_events, options.child);
  }
  if (options.lists) {
    fmt::print("{}", list_of(cases));
    return kOk;
  }
  const scenario::RuleCoverage coverage =
      scenario::coverage_of(mapped(embedded::rules(), &embedded::NamedText::text), cases);
  const std::vector<Problem> cites = scenario::unknown_cites(coverage, cases);
  if (options.covers) {
    refuse(cites);
    fmt::print("{}", scenario::coverage_text(coverage));
    return kOk;
  }
  some.set_aside(cites);
  some.set_aside(config_problems(cases));
  refuse_to_overwrite_cases(options, all);
  return regress(options, some);
}

}  // namespace

std::string list_of_cases() {
  const Catalogue catalogue = catalogue_in(default_case_paths());
  refuse(catalogue.problems);
  return list_of(catalogue.cases);
}

TextTable table_of_cases() {
  const Catalogue catalogue = catalogue_in(default_case_paths());
  refuse(catalogue.problems);
  TextTable table({"case", "what it shows"}, 2);
  for (const Case& one : catalogue.cases) {
    table.add_row({one.id, one.title});
  }
  return table;
}

void add_conform_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<ConformOptions>(
      app, "conform", "Run corner cases: protocol rules as data files", action, conform);
  options.command = &command;
  command.add_option("path", options.paths,
                     "Case files or folders; default: ./tests/cases, else the installed catalogue");
  command.add_option("--case", options.glob, "Only cases whose id matches")->type_name("GLOB");
  command.add_flag("--list", options.lists, "Print ids and titles, and run nothing");
  command.add_flag("--coverage", options.covers,
                   "Print which rules have a case, which have none, and which wait for a model");
  add_path(command, "--junit", options.junit, "Write JUnit XML", "FILE");
  add_path(command, "--events", options.events,
           "Write the events of each case, a JSON object a line: {\"case\", \"event\", "
           "\"t_ns\", ...}",
           "FILE");
  command.add_option("-j,--jobs", options.jobs, "Processes at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->default_val(std::max(1U, std::thread::hardware_concurrency()));
  command
      .add_option("--campaign", options.campaign.seeds,
                  "Instead of files: so many random cases over the invariants; a failing one is "
                  "made small and written to --out")
      ->type_name("SEEDS")
      ->check(CLI::Range(1, 10'000'000));
  command.add_option("--seed", options.campaign.first_seed, "First seed of a campaign")
      ->type_name("N")
      ->check(is_seed());
  command.add_option("--set", options.campaign.sets, "Config keys over each case of a campaign")
      ->type_name("a.b=c");
  add_path(command, "-o,--out", options.campaign.folder, "Folder for cases of failing seeds",
           "DIR");
  command.add_option("--child", options.child_of)->group("");
  command.add_option("--child-seconds", options.child.seconds)->group("");
  command.add_flag("--child-events", options.child.tells_events)->group("");
  command.add_flag("--child-stdin", options.child_reads_stdin)->group("");
  command.footer(
      "Example:\n  flitwise conform --case 'LNK-7.*' -j 2\n"
      "A case is a YAML file: docs/cases.md shows how to write the first one.");
}

}  // namespace flitwise::cli
