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

#include "common/interrupt.h"
#include "common/printable.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

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
    if (n < 0 && !is_to_be_tried_again()) {
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

/// A descriptor that ends with this object.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) {
    do {
      file_ = ::open(path.c_str(), flags | O_CLOEXEC);
    } while (file_ < 0 && is_to_be_tried_again());
  }
  ~OpenFile() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return file_; }

 private:
  int file_ = -1;
};

/// A pipe is waited for, unless only a regular file will do.
InputText read_whole(const std::string& path, std::size_t most, bool is_own) {
  const OpenFile file(path, is_own ? O_RDONLY | O_NONBLOCK : O_RDONLY);
  if (file.number() < 0) {
    const int code = errno;
    return {"", reason(code), code == ENOENT};
  }
  InputText input;
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    input.problem = reason(errno);
  } else if (S_ISDIR(status.st_mode)) {
    input.problem = kDirectory;
  } else if (is_own && !S_ISREG(status.st_mode)) {
    input.problem = kPipeOrDevice;
  } else if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > most) {
    input.problem = too_large(most);
  } else {
    input.problem = append_all(file.number(), most, input.text);
  }
  if (!input.problem.empty()) {
    input.text.clear();
  }
  return input;
}

}  // namespace

InputText read_input(const std::string& path, std::size_t most) {
  return read_whole(path, most, false);
}

InputText read_own_file(const std::string& path, std::size_t most) {
  return read_whole(path, most, true);
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

Standing what_stands_at(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Standing::kNothing : Standing::kUnknown;
  }
  return S_ISREG(status.st_mode)   ? Standing::kRegularFile
         : S_ISDIR(status.st_mode) ? Standing::kFolder
                                   : Standing::kSpecial;
}

std::string flaw_of_regular_file(const std::string& path) {
  switch (what_stands_at(path)) {
    case Standing::kRegularFile: return "";
    case Standing::kFolder: return kDirectory;
    case Standing::kSpecial: return kPipeOrDevice;
    default: return reason(errno);
  }
}

std::string flaw_of_file(const std::string& name, const std::string& problem) {
  return problem == kNoFile ? fmt::format("no file '{}'", shortened(name))
                            : fmt::format("'{}' {}", shortened(name), problem);
}

}  // namespace flitwise
