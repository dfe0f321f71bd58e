// SPDX-License-Identifier: Apache-2.0
// Finds out what each path is and puts the sections on one page.
#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "common/input_file.h"
#include "flitwise/error.h"
#include "report/html.h"
#include "results/read_result.h"
#include "results/result_json.h"
#include "results/sqlite_database.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& seen) {
  throw ConfigError({{path, 0, 0, "",
                      seen + "; expected a result.json, a folder with one, a folder of a sweep or "
                             "its results.sqlite"}});
}

MergedSweep read_merged(const std::string& path) {
  if (const std::string flaw = flaw_of_regular_file(path); !flaw.empty()) {
    refuse(path, flaw);
  }
  try {
    SqliteDatabase database(path, SqliteDatabase::Mode::kReadOnly);
    MergedSweep merged;
    for (const Json& axis : database.query("SELECT key, unit FROM axis")) {
      merged.axes.push_back(axis.at("key").get<std::string>());
      merged.axis_units.push_back(axis.at("unit").get<std::string>());
    }
    merged.rows = database.query("SELECT * FROM point");
    if (!database.query("SELECT name FROM sqlite_master WHERE name = 'point_value'").empty()) {
      for (const Json& cell : database.query("SELECT point, name, value FROM point_value")) {
        const auto row = cell.at("point").get<std::size_t>() - 1;
        merged.rows.at(row)[cell.at("name").get<std::string>()] = cell.at("value");
      }
    }
    for (const Json& study : database.query("SELECT json FROM study")) {
      merged.presentation = presentation_from(Json::parse(study.at("json").get<std::string>()));
    }
    return merged;
  } catch (const std::exception& error) {
    refuse(path, error.what());
  }
}

Json result_in(const std::string& path, const InputText& input) {
  if (!input.problem.empty()) {
    refuse(path, input.problem);
  }
  const Json result = Json::parse(input.text, nullptr, false);
  if (result.is_discarded() || !result.is_object() || !result.contains("flitwise") ||
      !result.contains("links")) {
    refuse(path, "no result of a run");
  }
  return result;
}

void add_run(HtmlPage& page, const std::string& path, const Json& result,
             const ReportOptions& options) {
  const Json& head = result.at("flitwise");
  const Json& seed = head.at("seed");
  page.body += fmt::format(
      "<h2>{}</h2>\n<dl class=\"facts\"><div><dt>seed</dt><dd>{}</dd></div><div><dt>config "
      "SHA-256</dt><dd>{}</dd></div><div><dt>made by "
      "version</dt><dd>{}</dd></div><div><dt>simulated"
      "</dt><dd>{}</dd></div><div><dt>took</dt><dd>{:.2f} s</dd></div></dl>\n",
      html_text(path), html_text(seed.is_string() ? seed.get<std::string>() : seed.dump()),
      html_text(head.at("config_sha256").get<std::string>()),
      html_text(head.at("version").get<std::string>()),
      time_text(head.at("simulated_ns").get<double>()), head.at("host_seconds").get<double>());
  if (const RunEnd end = end_of(result); end != RunEnd::kComplete) {
    page.body += fmt::format("<p class=\"bad\">{}</p>\n", interruption_text(end));
  }
  page.body += run_section(result, options);
}

void add_sweep(HtmlPage& page, const std::string& path, const MergedSweep& merged,
               const ReportOptions& options) {
  if (!merged.presentation.title.empty()) {
    page.title = merged.presentation.title;
  }
  page.facts.emplace_back(
      fmt::format("sweep {}", path),
      fmt::format("{} points, axes: {}", merged.rows.size(), fmt::join(merged.axes, ", ")));
  page.body += sweep_section(merged, options);
}

void add_path(HtmlPage& page, const std::string& path, const ReportOptions& options) {
  const std::string manifest = path + "/manifest.jsonl", result = path + "/result.json";
  if (what_stands_at(path) == Standing::kFolder) {
    if (what_stands_at(manifest) != Standing::kNothing) {
      add_sweep(page, path, merge_results(read_manifest(manifest), path), options);
    } else if (what_stands_at(result) != Standing::kNothing) {
      add_run(page, result, result_in(result, read_own_file(result)), options);
    } else {
      refuse(path, "a folder without result.json or manifest.jsonl");
    }
  } else if (fs::path(path).extension() == ".sqlite") {
    add_sweep(page, path, read_merged(path), options);
  } else {
    add_run(page, path, result_in(path, read_input(path, kMostOwnBytes)), options);
  }
}

/// What the library found wrong, in plain words: its texts are "[...] key 'ok' not found" and
/// "[...] type must be number, but is string".
std::string flaw_in(const Json::exception& error) {
  const std::string text = error.what();
  constexpr int kNoKey = 403, kOtherType = 302;
  const auto behind = [&text](const std::string& words) {
    const std::size_t at = text.find(words);
    return at == std::string::npos ? std::string() : text.substr(at + words.size());
  };
  if (error.id == kNoKey) {
    const std::string key = behind("key '");
    return fmt::format("an entry without the key '{}', which every result has there",
                       key.substr(0, key.rfind('\'')));
  }
  if (error.id == kOtherType) {
    const std::string types = behind("type must be ");
    return fmt::format("a value of another type than a result has there: its type must be {}",
                       types);
  }
  return "a list or an object is missing, or a value stands in its place";
}

}  // namespace

std::string report_page(const std::vector<std::string>& paths, const ReportOptions& options) {
  HtmlPage page;
  page.title = "flitwise report";
  page.facts = {{"version", FLITWISE_VERSION}, {"command", options.command}};
  for (const std::string& path : paths) {
    try {
      add_path(page, path, options);
    } catch (const Json::exception& error) {  // a figure that is missing or of another kind
      refuse(path, flaw_in(error));
    } catch (const std::out_of_range& error) {
      refuse(path, error.what());
    }
  }
  return page.html();
}

}  // namespace flitwise
