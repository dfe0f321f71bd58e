// SPDX-License-Identifier: Apache-2.0
/// The file of a trace, which grows while the run goes on. What fails is told by flush().
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

namespace flitwise {

class TraceFile {
 public:
  /// Throws std::system_error when the file cannot be made.
  explicit TraceFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "w")) {
    if (!file_) {
      throw std::system_error(errno, std::generic_category(), path);
    }
  }

  void write(const void* bytes, std::size_t count) {
    note(std::fwrite(bytes, 1, count, file_.get()) == count);
  }
  /// All so far is kept. Throws std::system_error, with the first reason, where it could not be.
  void flush() {
    note(std::fflush(file_.get()) == 0);
    if (failure_ != 0) {
      throw std::system_error(failure_, std::generic_category(), path_);
    }
  }

 private:
  void note(bool is_good) {
    if (!is_good && failure_ == 0) {
      failure_ = errno != 0 ? errno : EIO;
    }
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::string path_;
  int failure_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace flitwise
