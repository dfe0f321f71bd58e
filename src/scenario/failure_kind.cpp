// SPDX-License-Identifier: Apache-2.0
// Failures by their texts.
#include "scenario/failure_kind.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

namespace flitwise::scenario {
namespace {

constexpr int kSignalled = 128;  // exit code of a process that a signal ended, less the signal
constexpr const char* kEnded = "the case ended";
constexpr const char* kTooLong = "the case ran longer than its limit";

}  // namespace

std::string line_from(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

std::string text_of_silence(int exit_code, unsigned seconds) {
  return exit_code == kSignalled + SIGALRM
             ? fmt::format("      {} of {} s and said nothing\n", kTooLong, seconds)
             : fmt::format("      {} with exit code {} and said nothing\n", kEnded, exit_code);
}

std::string kind_of(const std::string& failure) {
  std::string kind = line_from(failure, "expected ");
  if (kind.empty()) {
    return failure.find(kTooLong) != std::string::npos ? kTooLong : line_from(failure, kEnded);
  }
  // Which rule of a violation, which error, which check.
  const std::string seen = line_from(failure, "seen: ");
  for (const auto& [key, end] : {std::pair(" rule=", " type="), std::pair(" kind=", " at="),
                                 std::pair(" name=", " detail=")}) {
    if (const std::size_t at = seen.find(key); at != std::string::npos) {
      kind += seen.substr(at, seen.find(end, at) - at);
    }
  }
  return kind;
}

bool is_quick(const std::string& kind) {
  return kind != kTooLong;
}

}  // namespace flitwise::scenario
