// SPDX-License-Identifier: Apache-2.0
// Finds out what each path is and puts the sections on one page.
#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "report/html.h"
#include "results/read_result.h"
#include "results/result_json.h"
#include "results/text_table.h"
#include "sweep/result_source.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

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
  const std::string section = run_section(result, options);
  page.body += section + terms_section(section);
}

void add_sweep(HtmlPage& page, const std::string& path, const MergedSweep& merged,
               const ReportOptions& options) {
  if (!merged.presentation.title.empty()) {
    page.title = merged.presentation.title;
  }
  page.facts.emplace_back(fmt::format("sweep {}", path),
                          fmt::format("{} points", merged.rows.size()));
  std::error_code none;
  const std::filesystem::path results = std::filesystem::path(path) / "points";
  const std::string points =
      std::filesystem::is_directory(results, none)
          ? std::filesystem::relative(results, options.folder, none).generic_string()
          : "";
  const std::string sections = sweep_section(merged, options, points);
  page.body += overview_section(merged) + terms_section(sections) + sections;
}

void add_path(HtmlPage& page, const std::string& path, const ReportOptions& options) {
  if (is_series(path)) {
    page.body += series_section(path, options);
    return;
  }
  const ResultSource source = read_source(path);
  if (source.sweep) {
    add_sweep(page, path, *source.sweep, options);
  } else {
    add_run(page, source.file, *source.run, options);
  }
}

}  // namespace

std::string report_page(const std::vector<std::string>& paths, const ReportOptions& options) {
  HtmlPage page;
  page.title = "flitwise report";
  page.facts = {{"version", FLITWISE_VERSION}, {"command", options.command}};
  for (const std::string& path : paths) {
    with_results_of(path, [&] { add_path(page, path, options); });
  }
  return page.html();
}

}  // namespace flitwise
