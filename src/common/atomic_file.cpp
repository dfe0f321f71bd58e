// SPDX-License-Identifier: Apache-2.0
// Temporary files, fsync, rename.
#include "common/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "common/input_file.h"
#include "common/interrupt.h"

namespace flitwise {
namespace {

namespace fs = std::filesystem;

const std::string kFront = ".flitwise-";
const std::string kBack = ".tmp";
constexpr std::size_t kRandomDigits = 16;

[[noreturn]] void fail(const std::string& path) {
  throw OutputError(fmt::format("{}: {}", path, std::generic_category().message(errno)));
}

/// One of this process, whatever file it is open for.
bool is_descriptor(const std::string& path) {
  const std::string plain = fs::path(path).lexically_normal().string();
  const std::string own = fmt::format("/proc/{}/fd/", ::getpid());
  return plain == "/dev/stdout" || plain == "/dev/stderr" || plain.rfind("/dev/fd/", 0) == 0 ||
         plain.rfind("/proc/self/fd/", 0) == 0 || plain.rfind(own, 0) == 0;
}

// Renaming would put a file in the place of a device, a FIFO or what stands for a descriptor.
bool is_special(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return is_descriptor(path) ||
         (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
}

// That the reader of a FIFO goes away is told as an error of the file; what stands for a descriptor
// ends the program as stdout does.
int open_special(const std::string& path) {
  if (!is_descriptor(path)) {
    std::signal(SIGPIPE, SIG_IGN);
  }
  int file = -1;
  do {
    file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  } while (file < 0 && is_to_be_tried_again());
  return file;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void make_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw OutputError(fmt::format("{}: {}", folder, failure.message()));
  }
}

std::string random_name() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
    if (errno != EINTR) {
      fail("getrandom");
    }
  }
  return fmt::format("{}{:0{}x}{}", kFront, number, kRandomDigits, kBack);
}

bool is_temporary_name(const std::string& name) {
  if (name.size() != kFront.size() + kRandomDigits + kBack.size() || name.rfind(kFront, 0) != 0 ||
      name.substr(name.size() - kBack.size()) != kBack) {
    return false;
  }
  return name.find_first_not_of("0123456789abcdef", kFront.size()) == name.size() - kBack.size();
}

/// A new file with a lock on it; its name goes to `path`.
int open_temporary(const std::string& folder, std::string& path) {
  constexpr mode_t kMode = 0666;  // less the umask
  for (;;) {
    path = (fs::path(folder) / random_name()).string();
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
    if (file < 0) {
      if (errno == EEXIST || errno == EINTR) {
        continue;
      }
      return -1;
    }
    struct stat status {};
    // Who tidies up may have come between the two.
    ::flock(file, LOCK_EX | LOCK_NB);
    if (::fstat(file, &status) == 0 && status.st_nlink > 0) {
      return file;
    }
    ::close(file);
  }
}

void sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0) {
    ::fsync(file);
    ::close(file);
  }
}

}  // namespace

void check_place(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    throw OutputError(fmt::format("{}: {}; expected a regular file or none", path,
                                  S_ISDIR(status.st_mode) ? kDirectory : kPipeOrDevice));
  }
}

std::string end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  fs::path end = path;
  std::error_code none;
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(end, none));
       ++links) {
    end = end.parent_path() / fs::read_symlink(end, none);
  }
  return end.string();
}

StagedFile::StagedFile(const std::string& path, Place place) : target_(path) {
  if (place == Place::kRegularFile) {
    check_place(path);
  }
  if (place == Place::kAny && is_special(path)) {
    file_ = open_special(path);
  } else {
    std::error_code none;
    if (place == Place::kAny) {
      target_ = end_of_links(path);
      if (fs::is_symlink(fs::symlink_status(target_, none))) {
        errno = ELOOP;
        fail(path);
      }
    }
    make_folder(folder_of(target_));
    if (fs::is_directory(fs::symlink_status(target_, none))) {
      errno = EISDIR;
      fail(path);
    }
    file_ = open_temporary(folder_of(target_), temporary_);
  }
  if (file_ < 0) {
    temporary_.clear();
    fail(path);
  }
}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
  if (file_ >= 0) {
    ::close(file_);
  }
}

void StagedFile::write(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(file_, text.data() + at, text.size() - at);
    if (n < 0 && !is_to_be_tried_again()) {
      fail(target_);
    }
    at += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  }
}

void StagedFile::check_there() const {
  struct stat named {
  }, written{};
  if (is_direct() || (::lstat(temporary_.c_str(), &named) == 0 && ::fstat(file_, &written) == 0 &&
                      named.st_dev == written.st_dev && named.st_ino == written.st_ino)) {
    return;
  }
  throw OutputError(fmt::format("{}: what was written for it, {}, has been taken away meanwhile",
                                target_, temporary_));
}

void put_in_place(const StagedFiles& files, const std::vector<std::string>& obsolete) {
  const BlockedInterrupts blocked;
  std::vector<std::string> outdated = obsolete;
  std::set<std::string> folders;
  for (const auto& file : files) {
    file->check_there();
  }
  for (const auto& file : files) {
    if (file->is_direct()) {
      continue;
    }
    if (::fsync(file->file_) != 0) {
      fail(file->target_);
    }
    folders.insert(folder_of(file->target_));
    if (file != files.front()) {
      outdated.push_back(file->target_);
    }
  }
  for (const std::string& path : outdated) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      fail(path);
    }
  }
  for (const auto& file : files) {
    if (!file->is_direct() && std::rename(file->temporary_.c_str(), file->target_.c_str()) != 0) {
      fail(file->target_);
    }
    file->temporary_.clear();
  }
  // One file by itself is the old or the new one, whenever the power fails; that a lost name is
  // written again is cheaper than to wait for the disk with each point of a sweep.
  if (files.size() + obsolete.size() > 1) {
    std::for_each(folders.begin(), folders.end(), sync_folder);
  }
}

void write_files_together(const std::vector<OutputFile>& files,
                          const std::vector<std::string>& obsolete) {
  const BlockedInterrupts blocked;  // nothing is left half done
  StagedFiles staged;
  for (const OutputFile& file : files) {
    staged.push_back(std::make_unique<StagedFile>(file.path, Place::kRegularFile));
    staged.back()->write(file.text);
  }
  put_in_place(staged, obsolete);
}

void write_file_atomically(const std::string& path, const std::string& text) {
  if (is_special(path)) {  // may wait for who reads it, so that signals are not blocked
    StagedFile(path).write(text);
    return;
  }
  const BlockedInterrupts blocked;
  remove_left_over_files(folder_of(path));
  StagedFiles files;
  files.push_back(std::make_unique<StagedFile>(path));
  files.back()->write(text);
  put_in_place(files);
}

void remove_left_over_files(const std::string& folder) {
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    if (!is_temporary_name(at->path().filename().string())) {
      continue;
    }
    const std::string path = at->path().string();
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
      continue;
    }
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
      ::unlink(path.c_str());
    }
    ::close(file);
  }
}

FolderLock::FolderLock(const std::string& folder) {
  make_folder(folder);
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) {
    fail(folder);
  }
  // Where the file system knows no such locks there is none.
  if (::flock(folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(folder_);
    throw OutputError(fmt::format(
        "{}: another flitwise writes its results there; expected a folder of its own, or its end",
        folder));
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    ::close(folder_);
    fail(folder);
  }
  remove_left_over_files(folder);
}

FolderLock::~FolderLock() {
  ::close(folder_);
}

}  // namespace flitwise
