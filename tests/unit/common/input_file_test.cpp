// SPDX-License-Identifier: Apache-2.0
// Files of users: read once, whole, or refused with a reason.
#include "common/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "common/interrupt.h"
#include "flitwise/error.h"
#include "support/temporary_folder.h"

namespace flitwise::input_file_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(InputFile, AFifoIsReadToItsEnd) {
  TemporaryFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string text(300'000, 'a');  // more than a pipe holds
  std::thread writer([&] { std::ofstream(fifo) << text; });
  const InputText input = read_input(fifo);
  writer.join();
  EXPECT_EQ(input.problem, "");
  EXPECT_EQ(input.text, text);
  EXPECT_EQ(flaw_of_regular_file(fifo), kPipeOrDevice);
  EXPECT_EQ(what_stands_at(fifo), Standing::kSpecial);
}

TEST(InputFile, WhatCannotBeReadIsNoEmptyFile) {
  TemporaryFolder folder;
  EXPECT_THAT(read_input("/proc/self/mem").problem, StartsWith("cannot be read: "));
  EXPECT_EQ(read_input(folder.path()).problem, "is a directory");
  EXPECT_EQ(read_input(folder.file("nowhere")).problem, "no such file");
  EXPECT_TRUE(read_input(folder.file("nowhere")).is_missing);
  EXPECT_FALSE(read_input(folder.path()).is_missing);
  EXPECT_EQ(what_stands_at(folder.file("nowhere")), Standing::kNothing);
  EXPECT_EQ(what_stands_at(folder.path()), Standing::kFolder);
  ASSERT_EQ(::symlink("loop", folder.file("loop").c_str()), 0);
  EXPECT_THAT(read_input(folder.file("loop")).problem, StartsWith("cannot be read: "));
  EXPECT_THAT(flaw_of_regular_file(folder.file("loop")), StartsWith("cannot be read: "));
  EXPECT_EQ(what_stands_at(folder.file("loop")), Standing::kUnknown);
  try {
    input_text("/proc/self/mem", "a config");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("; expected a config"));
  }
}

TEST(InputFile, OwnFilesAreRegularOnesAndAFifoIsNotWaitedFor) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::ofstream(folder.file("file")) << "text";
  EXPECT_EQ(read_own_file(folder.file("fifo")).problem, kPipeOrDevice);
  EXPECT_EQ(read_own_file("/dev/null").problem, kPipeOrDevice);
  EXPECT_EQ(read_own_file(folder.path()).problem, kDirectory);
  EXPECT_EQ(read_own_file(folder.file("nowhere")).problem, kNoFile);
  EXPECT_EQ(read_own_file(folder.file("file")).text, "text");
  EXPECT_EQ(read_own_file(folder.file("file"), 3).problem, "more than 0 MiB");
}

/// Sends `signal` to the calling thread every 10 ms until it is gone; its handler does nothing.
class Disturbance {
 public:
  explicit Disturbance(int signal) : signal_(handled(signal)) {}
  ~Disturbance() {
    is_over_ = true;
    thread_.join();
  }
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;

 private:
  static int handled(int signal) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(signal, &action, nullptr);
    return signal;
  }

  const int signal_;  // handled before the thread below starts
  const pthread_t reader_ = ::pthread_self();
  std::atomic<bool> is_over_{false};
  std::thread thread_{[this] {
    while (!is_over_) {
      ::pthread_kill(reader_, signal_);
      ::usleep(10'000);
    }
  }};
};

TEST(InputFile, ASignalThatEndsNothingIsNoReasonToStopReading) {
  TemporaryFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] {
    ::usleep(100'000);  // the reader waits for it to open
    std::ofstream out(fifo);
    ::usleep(100'000);  // and to write
    out << "whole";
  });
  InputText input;
  {
    const Disturbance disturbance(SIGUSR1);
    input = read_input(fifo);
  }
  writer.join();
  EXPECT_EQ(input.problem, "");
  EXPECT_EQ(input.text, "whole");
}

TEST(InputFile, ASignalThatEndsTheProgramEndsTheReadingOfAFifo) {
  TemporaryFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto reads = [&fifo] {  // in a process of its own: what is interrupted stays so
    watch_for_interrupt();
    const pthread_t reader = ::pthread_self();
    std::thread killer([reader] {
      ::usleep(100'000);
      ::pthread_kill(reader, SIGTERM);
    });
    int code = 1;
    try {
      read_input(fifo);
    } catch (const Interrupted&) {
      code = 0;
    }
    killer.join();
    _exit(code);
  };
  EXPECT_EXIT(reads(), ::testing::ExitedWithCode(0), "");
}

TEST(InputFile, MoreThanTheLimitIsRefusedAndTheLimitIsSaid) {
  TemporaryFolder folder;
  const std::string file = folder.file("sparse");
  std::ofstream(file) << "link:\n";
  std::filesystem::resize_file(file, std::uintmax_t{1} << 30U);
  EXPECT_EQ(read_input(file).problem, "more than 16 MiB");
  EXPECT_EQ(read_input("/dev/zero").problem, "more than 16 MiB");
  EXPECT_EQ(read_input(file, std::size_t{1} << 20U).problem, "more than 1 MiB");
}

TEST(InputFile, LinesHaveAnEnd) {
  std::istringstream in("a\n\nb");
  std::string line;
  ASSERT_TRUE(read_line(in, line, "x", 1));
  EXPECT_EQ(line, "a");
  ASSERT_TRUE(read_line(in, line, "x", 2));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(read_line(in, line, "x", 3));
  EXPECT_EQ(line, "b");
  EXPECT_FALSE(read_line(in, line, "x", 4));
  for (const std::size_t length : {4094U, 4095U, 4096U, 4097U, 8190U, 8191U, 100'000U}) {
    const std::string text(length, 'x');
    std::istringstream long_lines(text + "\n" + text + "\n\n" + text);
    for (const std::string& expected : {text, text, std::string(), text}) {
      ASSERT_TRUE(read_line(long_lines, line, "x", 1)) << length;
      EXPECT_EQ(line, expected) << length;
    }
    EXPECT_FALSE(read_line(long_lines, line, "x", 1)) << length;
  }
  std::istringstream endless(std::string(kMostInputBytes + 1, 'a'));
  EXPECT_THROW(read_line(endless, line, "x", 1), ConfigError);
}

}  // namespace
}  // namespace flitwise::input_file_test
