// SPDX-License-Identifier: Apache-2.0
/// The terminal of whoever waits: how wide it is, and a line on it that is drawn again and again.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace flitwise {

/// Columns of the terminal that a file descriptor is; 0 where it is none.
std::size_t terminal_columns(int descriptor);

/// A terminal that lines can be drawn on again. TERM=dumb is none.
bool is_drawable(std::FILE* file);

/// How far something is. On a terminal it is one line, cut at the width, which is gone when this
/// object is, and when a signal ends the process at once; elsewhere each text is a line of its own.
/// What cannot be written is lost without an error.
class ProgressLine {
 public:
  /// REQUIRES: on a terminal, that it is stderr, and the only such line of the process.
  ProgressLine(std::FILE* file, bool is_drawn_again)
      : file_(file), is_drawn_again_(is_drawn_again) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_drawn_again() const { return is_drawn_again_; }
  /// Draws nothing while the process is in the background of its terminal.
  void show(const std::string& text);
  void clear();
  /// The line stays as it is; what comes goes below it.
  void keep();

 private:
  std::FILE* const file_;
  const bool is_drawn_again_;
  bool is_there_ = false;
};

/// What is left, where `done` has taken `elapsed` seconds and `left` of the same is still to come:
/// "8 s left", "34 min left", "5.2 h left". REQUIRES: done > 0.
std::string time_left_text(double elapsed, double done, double left);

}  // namespace flitwise
