// SPDX-License-Identifier: Apache-2.0
/// Files that are either there in full or not at all.
#pragma once

#include <string>

namespace flitwise {

/// Writes text to a temporary file beside path, syncs it and renames it to path; makes the folder
/// first. A device or FIFO is written to as it stands, a link where it leads. Throws
/// std::system_error with the path in its text.
void write_file_atomically(const std::string& path, const std::string& text);

/// A name beside path that no other process uses.
std::string temporary_name(const std::string& path);

/// Syncs the finished temporary file and renames it to path. Throws std::system_error, and leaves
/// no temporary file then.
void put_in_place(const std::string& temporary, const std::string& path);

/// The whole file. Throws std::system_error when it cannot be read.
std::string read_file(const std::string& path);

}  // namespace flitwise
