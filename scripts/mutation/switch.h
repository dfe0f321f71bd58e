// Stands before every source of a build that holds many mutants: FLITWISE_MUTANT=17 makes mutant 17 act.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace mutation {

/// FLITWISE_MUTANT_LOG names a file that each process adds a number to when it reaches it for the first time: at once and
/// in one piece, so that a process may fork or be killed.
inline void log_first(int number) {
  constexpr int kMost = 1 << 16;
  static const char* const file = std::getenv("FLITWISE_MUTANT_LOG");
  static bool seen[kMost];
  if (file == nullptr || (number < kMost && seen[number])) {
    return;
  }
  if (number < kMost) {
    seen[number] = true;
  }
  char line[16];
  const int length = std::snprintf(line, sizeof line, "%d\n", number);
  const int descriptor = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0 || ::write(descriptor, line, static_cast<std::size_t>(length)) != length) {
    std::abort();
  }
  ::close(descriptor);
}

inline bool is_chosen(int number) {
  static const char* const text = std::getenv("FLITWISE_MUTANT");
  static const int chosen = text == nullptr ? 0 : std::atoi(text);
  log_first(number);
  return number == chosen;
}

/// The compiler evaluates the tree as it is.
constexpr bool is_on(int number) { return __builtin_is_constant_evaluated() ? false : is_chosen(number); }

}  // namespace mutation
