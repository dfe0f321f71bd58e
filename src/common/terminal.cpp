// SPDX-License-Identifier: Apache-2.0
// Drawing by carriage return and "erase to the end of the line".
#include "common/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "common/interrupt.h"

namespace flitwise {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

bool is_in_background(int descriptor) {
  const pid_t foreground = tcgetpgrp(descriptor);
  return foreground > 0 && foreground != getpgrp();
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  const bool is_terminal = isatty(descriptor) != 0;
  return is_terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool is_drawable(std::FILE* file) {
  const char* const kind = std::getenv("TERM");
  return isatty(fileno(file)) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

void ProgressLine::show(const std::string& text) {
  if (!is_drawn_again_) {
    std::fputs((text + "\n").c_str(), file_);
  } else if (!is_in_background(fileno(file_))) {
    const std::size_t columns = terminal_columns(fileno(file_));  // may have changed
    std::fputs((kEraseLine + text.substr(0, columns > 0 ? columns - 1 : text.npos)).c_str(), file_);
    is_there_ = true;
    say_at_end(kEraseLine);
  }
  std::fflush(file_);
}

void ProgressLine::clear() {
  if (is_there_) {
    std::fputs(kEraseLine, file_);
    std::fflush(file_);
    is_there_ = false;
    say_at_end(nullptr);
  }
}

void ProgressLine::keep() {
  if (is_there_) {
    std::fputs("\n", file_);
    is_there_ = false;
    say_at_end(nullptr);
  }
}

std::string time_left_text(double elapsed, double done, double left) {
  const double seconds = elapsed / done * left;
  if (seconds < 100) {
    return fmt::format("{:.0f} s left", seconds);
  }
  return seconds < 6000 ? fmt::format("{:.0f} min left", seconds / 60)
                        : fmt::format("{:.1f} h left", seconds / 3600);
}

}  // namespace flitwise
