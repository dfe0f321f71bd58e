// SPDX-License-Identifier: Apache-2.0
/// Files that are either there in full or not at all, alone or together.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace flitwise {

/// Output that cannot be written. Ends in exit code 2, in sweeps in 4.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What may stand at the path of a file.
enum class Place : unsigned char {
  kAny,          ///< the user has named it: devices and FIFOs as well
  kRegularFile,  ///< a file of this program's own naming; it replaces a link
};

/// Throws OutputError where something else than a regular file or a link stands at the path.
void check_place(const std::string& path);

/// Where a symbolic link at the path leads in the end, be there a file or not; else the path. Links
/// that lead in a circle end at one of them.
std::string end_of_links(const std::string& path);

class StagedFile;
using StagedFiles = std::vector<std::unique_ptr<StagedFile>>;

/// A file under way: written beside its place under a name that cannot be foreseen, and renamed
/// when it is complete. At kAny a device or FIFO is written to as it stands, a link where it leads,
/// and a FIFO is waited for until somebody reads it.
class StagedFile {
 public:
  /// Makes the folder if need be, and the file. Throws OutputError with the path, as all else here,
  /// and Interrupted.
  explicit StagedFile(const std::string& path, Place place = Place::kAny);
  /// What was not put in place is gone.
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Where to write: the temporary file, or the device itself.
  const std::string& writable_path() const { return temporary_.empty() ? target_ : temporary_; }
  /// What the user has named, links followed.
  const std::string& path() const { return target_; }
  void write(const std::string& text);
  /// Throws OutputError where somebody has taken it away meanwhile.
  void check_there() const;

 private:
  friend void put_in_place(const StagedFiles& files, const std::vector<std::string>& obsolete);
  bool is_direct() const { return temporary_.empty(); }

  std::string target_;     // at kAny: links followed
  std::string temporary_;  // empty: the target is written to itself
  int file_ = -1;          // locked: what no process holds is left over
};

/// Files of one run: changes nothing where one of them is gone; syncs all, and puts them in place
/// so that at no time files of two runs stand side by side. Those but the first are taken away, and
/// `obsolete` ones, the first is renamed, then the others. The folder is synced where they are
/// several.
void put_in_place(const StagedFiles& files, const std::vector<std::string>& obsolete = {});

struct OutputFile {
  std::string path;
  std::string text;
};

/// All of them, or none where one cannot be written: regular files, which replace links and never
/// follow them. The first one is the commit point.
void write_files_together(const std::vector<OutputFile>& files,
                          const std::vector<std::string>& obsolete = {});

/// One file that the user has named, or what is to go to a device or FIFO; takes away what a killed
/// process left in its folder.
void write_file_atomically(const std::string& path, const std::string& text);

/// Unlinks temporary files of processes that have ended.
void remove_left_over_files(const std::string& folder);

/// One writer a folder: results of two runs never meet in one. The lock ends with this object or
/// with the process, and leaves no file.
class FolderLock {
 public:
  /// Makes the folder if need be; what a killed writer left there is gone then. Throws OutputError
  /// where another process has it.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_ = -1;
};

}  // namespace flitwise
