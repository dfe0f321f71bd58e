// SPDX-License-Identifier: Apache-2.0
/// Text files that are compiled into the program (CMake: flitwise_embed).
#pragma once

#include <string_view>
#include <vector>

namespace flitwise::embedded {

struct NamedText {
  const char* name;  ///< of the file, without folder and extension
  const char* text;
};

const char* result_schema_sql();      ///< src/results/schema.sql
const char* report_css();             ///< src/report/report.css
const char* report_js();              ///< src/report/report.js
std::string_view report_libraries();  ///< third_party/report_js/vega*.min.js: what draws charts
const char* uplot_css();              ///< third_party/report_js/uplot.min.css
std::string_view uplot_library();     ///< third_party/report_js/uplot.min.js: charts over time

// Of the program alone.
const char* build();          ///< its compiler, type of build, optimisation, profile, processors
const char* script_config();  ///< configs/checks/script.yaml
const char* linux_config();   ///< configs/checks/linux.yaml
const std::vector<NamedText>& bench_cases();  ///< configs/bench/*.yaml
const std::vector<NamedText>& rules();        ///< docs/rules/*.md

}  // namespace flitwise::embedded
