// SPDX-License-Identifier: Apache-2.0
/// Text files that are compiled into the program (CMake: flitwise_embed).
#pragma once

namespace flitwise::embedded {

const char* result_schema_sql();  ///< src/results/schema.sql
const char* report_css();         ///< src/report/report.css

}  // namespace flitwise::embedded
