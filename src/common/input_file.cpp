// SPDX-License-Identifier: Apache-2.0
// open, read to the end, close.
#include "common/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <istream>
#include <system_error>

#include "common/printable.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr const char* kNoFile = "no such file";

std::string reason(int code) {
  return code == ENOENT ? kNoFile : "cannot be read: " + std::generic_category().message(code);
}

std::string too_large(std::size_t most) {
  return fmt::format("more than {} MiB", most >> 20U);
}

/// Reads to the end; empty, or what is wrong.
std::string append_all(int file, std::size_t most, std::string& text) {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  for (;;) {
    const std::size_t had = text.size();
    text.resize(std::min(had + kPiece, most + 1));
    const ssize_t n = ::read(file, text.data() + had, text.size() - had);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0 && errno != EINTR) {
      return reason(errno);
    }
    if (n == 0) {
      return "";
    }
    if (text.size() > most) {
      return too_large(most);
    }
  }
}

}  // namespace

InputText read_input(const std::string& path, std::size_t most) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return {"", reason(errno)};
  }
  InputText input;
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    input.problem = reason(errno);
  } else if (S_ISDIR(status.st_mode)) {
    input.problem = "is a directory";
  } else if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > most) {
    input.problem = too_large(most);
  } else {
    input.problem = append_all(file, most, input.text);
  }
  ::close(file);
  if (!input.problem.empty()) {
    input.text.clear();
  }
  return input;
}

std::string input_text(const std::string& path, const std::string& what, std::size_t most) {
  InputText input = read_input(path, most);
  if (!input.problem.empty()) {
    throw ConfigError({{path, 0, 0, "", input.problem + "; expected " + what}});
  }
  return std::move(input.text);
}

bool read_line(std::istream& in, std::string& line, const std::string& name, int number) {
  line.clear();
  std::array<char, 4096> piece{};
  for (;;) {
    in.getline(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto n = static_cast<std::size_t>(in.gcount());
    const bool is_full = in.fail() && !in.eof() && !in.bad() && n + 1 == piece.size();
    const bool is_ended = in.good();  // then n counts the line end as well
    line.append(piece.data(), is_ended ? n - 1 : n);
    if (line.size() > kMostInputBytes) {
      throw ConfigError({{name, number, 1, "",
                          too_large(kMostInputBytes) + " in one line; expected lines of text"}});
    }
    if (!is_full) {
      return is_ended || (!line.empty() && !in.bad());
    }
    in.clear();
  }
}

std::string flaw_of_regular_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return reason(errno);
  }
  return S_ISREG(status.st_mode) ? "" : S_ISDIR(status.st_mode) ? "is a directory" : kPipeOrDevice;
}

std::string flaw_of_file(const std::string& name, const std::string& problem) {
  return problem == kNoFile ? fmt::format("no file '{}'", shortened(name))
                            : fmt::format("'{}' {}", shortened(name), problem);
}

}  // namespace flitwise
