// SPDX-License-Identifier: Apache-2.0
// Temporary file, fsync, rename.
#include "common/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace flitwise {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

std::string temporary_name(const std::string& path) {
  return path + ".tmp" + std::to_string(::getpid());
}

void put_in_place(const std::string& temporary, const std::string& path) {
  const int file = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    fail(temporary);
  }
  const bool is_synced = ::fsync(file) == 0;
  ::close(file);
  if (!is_synced || std::rename(temporary.c_str(), path.c_str()) != 0) {
    fail(path);
  }
}

void write_file_atomically(const std::string& path, const std::string& text) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
  }
  const std::string temporary = temporary_name(path);
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) {
      fail(path);
    }
  }
  put_in_place(temporary, path);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || std::filesystem::is_directory(path)) {
    errno = in ? EISDIR : errno;
    fail(path);
  }
  text << in.rdbuf();
  return text.str();
}

}  // namespace flitwise
