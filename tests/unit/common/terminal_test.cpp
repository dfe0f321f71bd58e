// SPDX-License-Identifier: Apache-2.0
// Lines that are drawn again, and what is left when they are no more.
#include "common/terminal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "support/temporary_folder.h"

namespace flitwise::terminal_test {
namespace {

TEST(Terminal, AFileIsNone) {
  const TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.file("f").c_str(), "w");
  EXPECT_FALSE(is_drawable(file));
  EXPECT_EQ(terminal_columns(fileno(file)), 0U);
  std::fclose(file);
}

TEST(ProgressLine, IsErasedOnceAndOnlyIfItIsThere) {
  const TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.file("f").c_str(), "w");
  {
    ProgressLine line(file, true);
    line.clear();
    line.show("a");
    line.show("b");
    line.clear();
  }
  { const ProgressLine none(file, true); }
  std::fclose(file);
  EXPECT_EQ(read_file(folder.file("f")), "\r\x1b[Ka\r\x1b[Kb\r\x1b[K");
}

TEST(ProgressLine, StaysWhereItIsKept) {
  const TemporaryFolder folder;
  std::FILE* const file = std::fopen(folder.file("f").c_str(), "w");
  {
    ProgressLine line(file, true);
    line.show("a");
    line.keep();
  }
  std::fclose(file);
  EXPECT_EQ(read_file(folder.file("f")), "\r\x1b[Ka\n");
}

// A signal that ends the process at once runs no destructor.
TEST(ProgressLine, IsErasedBySignalsThatEndTheProcess) {
  const TemporaryFolder folder;
  const auto ends = [&folder](bool is_second) {
    if (std::freopen(folder.file("f").c_str(), "w", stderr) == nullptr) {
      _exit(1);
    }
    ProgressLine line(stderr, true);
    line.show("a");
    if (is_second) {
      watch_for_interrupt();
      raise(SIGTERM);
      usleep(250'000);  // one that comes sooner counts as the same
    } else {
      end_on_interrupt(7);
    }
    raise(SIGTERM);
  };
  EXPECT_EXIT(ends(true), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(read_file(folder.file("f")), "\r\x1b[Ka\r\x1b[K");
  EXPECT_EXIT(ends(false), ::testing::ExitedWithCode(7), "");
  EXPECT_EQ(read_file(folder.file("f")), "\r\x1b[Ka\r\x1b[K");
}

TEST(TimeLeft, HasAUnitThatCanBeRead) {
  EXPECT_EQ(time_left_text(10, 1, 1), "10 s left");
  EXPECT_EQ(time_left_text(3, 3, 99), "99 s left");
  EXPECT_EQ(time_left_text(60, 1, 2), "2 min left");
  EXPECT_EQ(time_left_text(3600, 1, 2.5), "2.5 h left");
}

}  // namespace
}  // namespace flitwise::terminal_test
