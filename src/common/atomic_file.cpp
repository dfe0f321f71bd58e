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

// Renaming would put a file in the place of a device, a FIFO or what stands for a descriptor.
bool is_special(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::file_status status = fs::status(path);
  return path.rfind("/dev/", 0) == 0 ||
         (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
}

void write_text(const std::string& file, std::ios::openmode mode, const std::string& text,
                const std::string& path) {
  std::ofstream out(file, std::ios::binary | mode);
  out << text;
  out.flush();
  if (!out) {
    fail(path);
  }
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
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    fail(path);
  }
}

void write_file_atomically(const std::string& path, const std::string& text) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
  }
  if (is_special(path)) {
    write_text(path, std::ios::app, text, path);
    return;
  }
  const bool is_link = std::filesystem::is_symlink(path) && std::filesystem::exists(path);
  const std::string target = is_link ? std::filesystem::canonical(path).string() : path;
  const std::string temporary = temporary_name(target);
  try {
    write_text(temporary, std::ios::trunc, text, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  put_in_place(temporary, target);
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
