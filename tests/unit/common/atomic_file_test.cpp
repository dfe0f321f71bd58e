// SPDX-License-Identifier: Apache-2.0
// Output: whole or not at all, together, under names that nobody foresees.
#include "common/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "support/temporary_folder.h"

namespace flitwise::atomic_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// No file of this process may grow beyond so many bytes; as before at the end.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

class FilesTogether : public ::testing::Test {
 protected:
  void write(const std::string& a, const std::string& b) {
    write_files_together({{folder_.file("a"), a}, {folder_.file("b"), b}});
  }
  TemporaryFolder folder_;
};

TEST_F(FilesTogether, AllOrNoneWhereTheDiskIsFull) {
  write("1", "1");
  {
    const FileLimit limit(1000);
    EXPECT_THROW(write("2", std::string(5000, '2')), OutputError);
  }
  EXPECT_EQ(read_file(folder_.file("a")), "1");
  EXPECT_EQ(read_file(folder_.file("b")), "1");
  EXPECT_THAT(folder_.names(), ElementsAre("a", "b")) << "no temporary file is left";
  write("3", "3");
  EXPECT_EQ(read_file(folder_.file("a")) + read_file(folder_.file("b")), "33");
}

TEST_F(FilesTogether, AllOrNoneWhereAnOldFileCannotBeTakenAway) {
  write("1", "1");
  std::filesystem::create_directory(folder_.file("c"));
  EXPECT_THROW(write_files_together({{folder_.file("a"), "2"}, {folder_.file("b"), "2"}},
                                    {folder_.file("c")}),
               OutputError);
  EXPECT_EQ(read_file(folder_.file("a")) + read_file(folder_.file("b")), "11");
  EXPECT_THAT(folder_.names(), ElementsAre("a", "b", "c"));
}

TEST_F(FilesTogether, AProcessThatIsKilledAnywhereLeavesNoMixAndWhatItLeftGoesLater) {
  for (int delay = 0; delay < 60; ++delay) {
    write("old", "old");
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i) {
        write("new" + std::to_string(i), "new" + std::to_string(i));
      }
    }
    ::usleep(static_cast<useconds_t>(300 * delay));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string a = read_file(folder_.file("a")), b = read_file(folder_.file("b"));
    ASSERT_FALSE(a.empty());
    ASSERT_TRUE(b == a || b.empty()) << a << " beside " << b;
    { const FolderLock next(folder_.path()); }
    for (const std::string& name : folder_.names()) {
      ASSERT_TRUE(name == "a" || name == "b") << name;
    }
  }
}

TEST(StagedFile, NamesAreNotForeseenAndHeldFilesStay) {
  TemporaryFolder folder;
  const StagedFile one(folder.file("x")), other(folder.file("x"));
  EXPECT_NE(one.writable_path(), other.writable_path());
  EXPECT_THAT(one.writable_path(), MatchesRegex(".*/\\.flitwise-[0-9a-f]{16}\\.tmp"));
  remove_left_over_files(folder.path());
  EXPECT_EQ(folder.names().size(), 2U) << "both are under way";
}

TEST(StagedFile, LeftOverFilesGoAndOthersStay) {
  TemporaryFolder folder;
  const std::string left = ".flitwise-0123456789abcdef.tmp";
  std::ofstream(folder.file(left)) << "x";
  std::ofstream(folder.file(".flitwise-0123456789abcdef")) << "x";
  std::ofstream(folder.file("result.json.tmp77")) << "x";
  ASSERT_EQ(::symlink("/etc/passwd", folder.file(".flitwise-00000000000000aa.tmp").c_str()), 0);
  write_file_atomically(folder.file("a"), "1");
  EXPECT_THAT(folder.names(), ElementsAre(".flitwise-00000000000000aa.tmp",
                                          ".flitwise-0123456789abcdef", "a", "result.json.tmp77"));
}

TEST(StagedFile, WritesThroughALinkAndIntoADevice) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("there"));
  std::ofstream(folder.file("there/x")) << "old";
  ASSERT_EQ(::symlink("there/x", folder.file("link").c_str()), 0);
  write_file_atomically(folder.file("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_file(folder.file("there/x")), "new");
  write_file_atomically("/dev/null", "x");
  EXPECT_THROW(write_file_atomically("/dev/full", "x"), OutputError);
  EXPECT_THROW(write_file_atomically("/proc/no/such/folder/x", "x"), OutputError);
}

TEST(StagedFile, WritesThroughALinkThatLeadsToNothingYet) {
  TemporaryFolder folder;
  ASSERT_EQ(::symlink("new/x", folder.file("second").c_str()), 0);
  ASSERT_EQ(::symlink(folder.file("second").c_str(), folder.file("first").c_str()), 0);
  EXPECT_EQ(end_of_links(folder.file("first")), folder.file("new/x"));
  for (const std::string text : {"1", "2"}) {
    write_file_atomically(folder.file("first"), text);
    EXPECT_EQ(read_file(folder.file("new/x")), text);
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("first")));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("second")));
  }
  ASSERT_EQ(::symlink("circle", folder.file("circle").c_str()), 0);
  EXPECT_THROW(write_file_atomically(folder.file("circle"), "x"), OutputError);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("circle")));
}

TEST(StagedFile, NothingChangesWhereOneIsGone) {
  TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  write_file_atomically(folder.file("obsolete"), "old");
  StagedFiles files;
  for (const char* name : {"a", "b"}) {
    files.push_back(std::make_unique<StagedFile>(folder.file(name)));
  }
  const StagedFile& second = *files.back();
  files.front()->write("new");
  for (const bool is_replaced : {false, true}) {
    std::filesystem::remove(second.writable_path());
    if (is_replaced) {
      std::ofstream(second.writable_path()) << "another's";
    }
    EXPECT_THROW(put_in_place(files, {folder.file("obsolete")}), OutputError);
    EXPECT_EQ(read_file(folder.file("a")), "old");
    EXPECT_EQ(read_file(folder.file("obsolete")), "old");
    EXPECT_FALSE(std::filesystem::exists(folder.file("b")));
  }
}

TEST(FilesOfTheProgram, ReplaceALinkAndNeverFollowIt) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("folder"));
  std::ofstream(folder.file("other")) << "old";
  for (const std::string target : {"other", "folder", "/dev/null", "nowhere"}) {
    for (const std::string name : {"a", "b"}) {
      std::filesystem::remove(folder.file(name));
      ASSERT_EQ(::symlink(target.c_str(), folder.file(name).c_str()), 0);
      EXPECT_NO_THROW(check_place(folder.file(name)));
    }
    write_files_together({{folder.file("a"), "1"}, {folder.file("b"), "2"}});
    for (const std::string name : {"a", "b"}) {
      EXPECT_TRUE(
          std::filesystem::is_regular_file(std::filesystem::symlink_status(folder.file(name))))
          << target;
    }
    EXPECT_EQ(read_file(folder.file("b")), "2");
  }
  EXPECT_EQ(read_file(folder.file("other")), "old");
  EXPECT_THAT(folder.names(), ElementsAre("a", "b", "folder", "other"));
}

TEST(StagedFile, OnlyDescriptorsAndDevicesAreWrittenToAsTheyStand) {
  TemporaryFolder folder;
  if (std::filesystem::is_directory("/dev/shm")) {  // a place for files, although below /dev
    const std::string shared = "/dev/shm/flitwise-test-" + std::to_string(::getpid());
    write_file_atomically(shared, "first");
    write_file_atomically(shared, "2nd");
    EXPECT_EQ(read_file(shared), "2nd");
    ::unlink(shared.c_str());
  }
  const int file = ::open(folder.file("open").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(file, 0);
  write_file_atomically("/dev/fd/" + std::to_string(file), "a");
  write_file_atomically("/proc/self/fd/" + std::to_string(file), "b");
  EXPECT_EQ(read_file(folder.file("open")), "ab");
  ::close(file);
}

TEST(FilesOfTheProgram, AreRegularOnesAndAFifoIsNotWaitedFor) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.file("folder"));
  for (const std::string name : {"fifo", "folder"}) {
    EXPECT_THROW(check_place(folder.file(name)), OutputError);
    EXPECT_THROW(write_files_together({{folder.file("a"), "1"}, {folder.file(name), "1"}}),
                 OutputError);
  }
  EXPECT_THAT(folder.names(), ElementsAre("fifo", "folder"));
  EXPECT_NO_THROW(check_place(folder.file("none")));
  ASSERT_EQ(::symlink("loop", folder.file("loop").c_str()), 0);
  EXPECT_NO_THROW(check_place(folder.file("loop"))) << "the file takes its place";
}

TEST(FolderLock, OneWriterAFolder) {
  TemporaryFolder folder;
  {
    const FolderLock first(folder.file("out"));
    try {
      const FolderLock second(folder.file("out"));
      FAIL();
    } catch (const OutputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("another flitwise"));
    }
  }
  const FolderLock third(folder.file("out"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("out"))) << "a lock is no file";
}

TEST(BlockedInterrupts, ASignalWaits) {
  EXPECT_EXIT(
      {
        end_on_interrupt(130);
        {
          const BlockedInterrupts blocked;
          ::raise(SIGTERM);
          ::fprintf(stderr, "went on");
        }
        ::_exit(0);
      },
      ::testing::ExitedWithCode(130), "went on");
}

}  // namespace
}  // namespace flitwise::atomic_file_test
