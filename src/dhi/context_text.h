// SPDX-License-Identifier: Apache-2.0
/// A context of a process as people write it: "queue_pair 5". [DHI D22]
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "flitwise/ids.h"

namespace flitwise {

inline constexpr std::string_view kContextNames[kContextKinds] = {
    "process", "queue_pair", "dedicated_work_queue", "shared_work_queue", "work_command"};

/// REQUIRES: there is one.
inline std::string text_of(ContextId context) {
  return std::string(kContextNames[static_cast<std::size_t>(context.kind())]) + ' ' +
         std::to_string(context.number());
}

/// Kind and number, with one blank between them; empty for anything else.
inline std::optional<ContextId> context_of(std::string_view text) {
  const std::size_t blank = text.find(' ');
  const std::string_view digits = blank == text.npos ? "" : text.substr(blank + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  for (std::size_t kind = 1; is_number && number < kMostContexts && kind < kContextKinds; ++kind) {
    if (text.substr(0, blank) == kContextNames[kind]) {
      return ContextId(static_cast<ContextKind>(kind), number);
    }
  }
  return std::nullopt;
}

}  // namespace flitwise
