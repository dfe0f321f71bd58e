// SPDX-License-Identifier: Apache-2.0
// fork, since the child needs its addresses not to be random.
#include "uml/guest_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

namespace flitwise {
namespace {

constexpr std::size_t kMostTail = 4096;
constexpr unsigned kLastLines = 30;
constexpr int kPipeBytes = 1 << 20;  // the guest never has to wait for whoever reads its console

struct Pipe {
  OwnedFile out, in;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    out = OwnedFile(ends[0]);
    in = OwnedFile(ends[1]);
  }
};

struct ChildPlan {
  std::vector<char*> words;
  const char* folder;
  int input, output, failure;
};

// Between fork and exec. rseq: the host kernel would write where user-mode Linux has unmapped what
// the C library had told it.
[[noreturn]] void become(const ChildPlan& plan) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::array<char, 40> environment{"GLIBC_TUNABLES=glibc.pthread.rseq=0"};
  std::array<char*, 2> variables{environment.data(), nullptr};
  if (personality(ADDR_NO_RANDOMIZE) != -1 && chdir(plan.folder) == 0 &&
      dup2(plan.input, STDIN_FILENO) >= 0 && dup2(plan.output, STDOUT_FILENO) >= 0 &&
      dup2(plan.output, STDERR_FILENO) >= 0) {
    execve(plan.words[0], plan.words.data(), variables.data());
  }
  const int problem = errno;
  [[maybe_unused]] const ssize_t told = write(plan.failure, &problem, sizeof problem);
  _exit(127);
}

}  // namespace

GuestProcess::GuestProcess(const std::vector<std::string>& words, const std::string& folder,
                           std::function<void(const std::string& text)> console)
    : console_(std::move(console)) {
  Pipe input, output, failure;
  fcntl(output.in.get(), F_SETPIPE_SZ, kPipeBytes);
  ChildPlan plan{{}, folder.c_str(), input.out.get(), output.in.get(), failure.in.get()};
  for (const std::string& word : words) {
    plan.words.push_back(const_cast<char*>(word.c_str()));
  }
  plan.words.push_back(nullptr);
  child_ = fork();
  if (child_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (child_ == 0) {
    become(plan);
  }
  failure.in.close();
  int problem = 0;
  if (read(failure.out.get(), &problem, sizeof problem) == sizeof problem) {
    waitpid(child_, &status_, 0);
    has_ended_ = true;
    throw std::system_error(problem, std::generic_category(), words[0]);
  }
  output_ = std::move(output.out);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  input_ = std::move(input.in);
}

void GuestProcess::read_console() {
  std::array<char, 65'536> buffer;
  ssize_t size = 0;
  while ((size = read(output_.get(), buffer.data(), buffer.size())) > 0) {
    const std::string text(buffer.data(), static_cast<std::size_t>(size));
    tail_ += text;
    if (tail_.size() > kMostTail) {
      tail_.erase(0, tail_.size() - kMostTail);
    }
    console_(text);
  }
}

bool GuestProcess::look() {
  const bool has_ended = has_ended_ || waitpid(child_, &status_, WNOHANG) == child_;
  read_console();
  has_ended_ = has_ended;
  return !has_ended_;
}

void GuestProcess::wait(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (look() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  this->end();
}

// With the processes that run its programs.
void GuestProcess::end() {
  if (child_ < 0) {
    return;
  }
  kill(-child_, SIGKILL);
  if (!has_ended_) {
    was_killed_ = true;
    waitpid(child_, &status_, 0);
    has_ended_ = true;
    read_console();
  }
  child_ = -1;
}

std::string GuestProcess::end_text() const {
  if (!has_ended_ || was_killed_) {
    return "did not end by itself";
  }
  return WIFSIGNALED(status_) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status_),
                                            strsignal(WTERMSIG(status_)))
                              : fmt::format("ended with exit code {}", WEXITSTATUS(status_));
}

std::string GuestProcess::last_lines() const {
  const std::size_t end = tail_.find_last_not_of("\r\n");
  if (end == std::string::npos) {
    return "";
  }
  std::size_t begin = end;
  for (unsigned lines = 0; begin > 0; --begin) {
    lines += tail_[begin - 1] == '\n' ? 1 : 0;
    if (lines == kLastLines) {
      break;
    }
  }
  std::string text = tail_.substr(begin, end + 1 - begin);
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

}  // namespace flitwise
