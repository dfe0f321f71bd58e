// SPDX-License-Identifier: Apache-2.0
/// A SQLite trace to read back (docs/formats/trace_sqlite.md).
#pragma once

#include <memory>
#include <string>

#include "results/sqlite_database.h"

namespace flitwise {

/// Throws ConfigError where the file is none: one of another kind is named, with what to do.
std::unique_ptr<SqliteDatabase> open_trace(const std::string& path);

/// Throws ConfigError: what the file is, and what is expected instead.
[[noreturn]] void refuse_trace(const std::string& path, const std::string& seen);

}  // namespace flitwise
