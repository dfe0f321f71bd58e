// SPDX-License-Identifier: Apache-2.0
/// Files that users hand in, read once and whole: pipes and FIFOs as well.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace flitwise {

/// What a file that people write may hold: configs, cases, sweeps.
inline constexpr std::size_t kMostInputBytes = std::size_t{16} << 20;
/// What a file may hold that this program writes and reads back: results, plans.
inline constexpr std::size_t kMostOwnBytes = std::size_t{1} << 30;

/// The text of a file, or why there is none.
struct InputText {
  std::string text;
  std::string problem;      ///< "no such file", "is a directory", ...; empty: the text is whole
  bool is_missing = false;  ///< the problem is that there is no such file
};

/// Opens the file once and reads it to its end. More than `most` bytes are a problem, and not
/// read.
InputText read_input(const std::string& path, std::size_t most = kMostInputBytes);

/// The same of a file that can only be a regular one, since this program wrote it. A pipe or device
/// in its place is a problem, and not waited for.
InputText read_own_file(const std::string& path, std::size_t most = kMostOwnBytes);

/// The same; throws ConfigError with the problem and "expected " + what.
std::string input_text(const std::string& path, const std::string& what,
                       std::size_t most = kMostInputBytes);

/// The next line of a stream without its end, as std::getline, but of at most kMostInputBytes:
/// throws ConfigError with `name` and `number` where it is longer.
bool read_line(std::istream& in, std::string& line, const std::string& name, int number);

inline constexpr const char* kNoFile = "no such file";
inline constexpr const char* kDirectory = "is a directory";
inline constexpr const char* kPipeOrDevice = "is a pipe or a device";

/// What stands at a path, links followed.
enum class Standing : unsigned char {
  kNothing,
  kRegularFile,
  kFolder,
  kSpecial,  ///< a pipe or a device
  kUnknown,  ///< it cannot be looked at
};
Standing what_stands_at(const std::string& path);

/// What stands at a path that should be a regular file: "" if it is one, else kNoFile, kDirectory,
/// kPipeOrDevice or why it cannot be read.
std::string flaw_of_regular_file(const std::string& path);

/// Such a problem in a sentence about the file: "no file 'a'", "'a' is a directory".
std::string flaw_of_file(const std::string& name, const std::string& problem);

}  // namespace flitwise
