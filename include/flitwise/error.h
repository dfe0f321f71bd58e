// SPDX-License-Identifier: Apache-2.0
/// Two kinds of failure: bad input of the user (collected, exit code 2) and a broken model (fatal,
/// exit code 3). What the protocol itself can answer (UR, CA, malformed) is data and never an
/// exception.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace flitwise {

/// One problem in a file that a user wrote. line and column are 1-based; 0 means the file as a
/// whole.
struct Problem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string path;     ///< dotted path of the key, may be empty
  std::string message;  ///< what was seen; what was expected; the nearest valid key

  /// `file:line:col: path: message`
  std::string text() const;
};

/// Bad input: all problems found, in file order. Ends in exit code 2.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// The simulation itself went wrong: deadlock, broken invariant. Ends in exit code 3.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Nothing moves any more, and something still waits.
class DeadlockError : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& detail);

}  // namespace flitwise

/// Invariant of the model: prints condition, place and values, then throws SimulationError. The
/// text is made in a function of its own, so that the one with the check needs no room for it.
#define FLITWISE_CHECK(condition, detail)                                   \
  do {                                                                      \
    if (!(condition)) {                                                     \
      [=]() __attribute__((cold, noinline, noreturn)) {                     \
        ::flitwise::check_failed(#condition, __FILE__, __LINE__, (detail)); \
      }                                                                     \
      ();                                                                   \
    }                                                                       \
  } while (false)
