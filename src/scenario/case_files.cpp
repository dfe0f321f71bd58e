// SPDX-License-Identifier: Apache-2.0
// Finds the files of a catalogue, and writes cases as YAML. Flow style, which is JSON: no quoting
// rules of our own.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "common/quantity.h"
#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& path, std::vector<std::string>& dead_links) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    return {path};
  }
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(path, failure), end;
  for (; !failure && at != end; at.increment(failure)) {
    std::error_code unknown;
    const fs::file_status status = at->status(unknown);
    if (at->path().extension() != ".yaml") {
      continue;
    }
    if (fs::is_regular_file(status)) {
      files.push_back(at->path().string());
    } else if (!fs::exists(status)) {  // it leads nowhere, or round and round
      dead_links.push_back(at->path().string());
    }
  }
  if (failure) {
    throw ConfigError(
        {{path, 0, 0, "",
          "cannot be read through: " + failure.message() + "; expected a folder of case files"}});
  }
  std::sort(files.begin(), files.end());
  std::sort(dead_links.begin(), dead_links.end());
  return files;
}

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

// "key=value" as a map entry; a list stays one.
std::string set_entry(const std::string& set) {
  const std::size_t equals = set.find('=');
  const std::string value = set.substr(equals + 1);
  return fmt::format("    {}: {}\n", set.substr(0, equals),
                     value.rfind('[', 0) == 0 ? value : quoted(value));
}

std::string step_text(const Step& step) {
  Json fields = step.op;
  const std::string verb = fields.at("op").get<std::string>();
  fields.erase("op");
  const std::string at =
      step.at ? fmt::format("\"at\": {}, ",
                            quoted(config::write_quantity(step.at->fs, config::time_dimension())))
              : "";
  return fmt::format("  - {{{}\"{}\": {}}}\n", at, verb, fields.dump());
}

std::string pattern_text(const EventPattern& pattern) {
  std::string text;
  for (const EventPattern::Field& field : pattern.fields) {
    text += (text.empty() ? "" : ", ") + field.name + ": " + quoted(field.test.text());
  }
  return "  - {" + text + "}\n";
}

std::string memory_text(const FinalCheck& check) {
  for (const EventPattern::Field& field : check.expected.fields) {
    if (field.name == "hex") {
      return fmt::format("    {}: {}\n", quoted(check.op.at("addr").get<std::string>()),
                         quoted(field.test.text()));
    }
  }
  return "";
}

// Nothing where the list is empty.
template <class List, class Text>
std::string section(const char* head, const List& list, Text text_of) {
  std::string text = list.empty() ? "" : head;
  for (const auto& item : list) {
    text += text_of(item);
  }
  return text;
}

}  // namespace

void Catalogue::set_aside(const std::vector<Problem>& found) {
  problems.insert(problems.end(), found.begin(), found.end());
  std::set<std::string> files;
  for (const Problem& problem : found) {
    files.insert(problem.file);
  }
  const auto is_wrong = [&](const Case& one) { return files.count(one.file) != 0; };
  cases.erase(std::remove_if(cases.begin(), cases.end(), is_wrong), cases.end());
}

Catalogue find_cases(const std::vector<std::string>& paths) {
  Catalogue found;
  std::vector<Case>& cases = found.cases;
  std::vector<Problem> problems;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path, found.dead_links)) {
      try {
        std::vector<Case> some = read_cases(file);
        std::move(some.begin(), some.end(), std::back_inserter(cases));
      } catch (const ConfigError& error) {
        problems.insert(problems.end(), error.problems().begin(), error.problems().end());
      }
    }
  }
  std::map<std::string, const Case*> by_id;
  for (const Case& one : cases) {
    const auto [other, is_new] = by_id.emplace(one.id, &one);
    if (!is_new) {
      problems.push_back(
          {one.file, one.place.line, one.place.column, "id",
           "'" + one.id + "' " +
               (one.file == other->second->file
                    ? "comes twice from this file; expected a file that is named "
                      "once, with variants of different names"
                    : "stands in " + other->second->file + " too; expected an id of its own")});
    }
  }
  found.set_aside(problems);
  return found;
}

std::string yaml_of(const Case& one) {
  std::string text = fmt::format("id: {}\ntitle: {}\ncites: [{}]\n", quoted(one.id),
                                 quoted(one.title), fmt::join(one.cites, ", "));
  text += fmt::format("config:\n  boot: {}\n", one.boots);
  text += section("  set:\n", one.sets, set_entry);
  text += one.steps.empty() ? "stimulus: []\n" : section("stimulus:\n", one.steps, step_text);
  text += section("expect:\n", one.expect, [](const Expectation& expectation) {
    return section("", expectation.any_order, pattern_text);
  });
  text += section("never:\n", one.never, pattern_text);
  text += section("final:\n  memory:\n", one.final_checks, memory_text);
  return text;
}

}  // namespace flitwise::scenario
