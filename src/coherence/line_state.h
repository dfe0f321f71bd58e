// SPDX-License-Identifier: Apache-2.0
/// States of a line in a cache, and who wants to know of their changes. [COH-1.1]
#pragma once

#include <cstdint>

namespace flitwise {

enum class LineState : std::uint8_t { kInvalid, kShared, kExclusive, kModified };

/// E and M: no other cache has a copy.
constexpr bool is_owned(LineState state) {
  return state == LineState::kExclusive || state == LineState::kModified;
}
constexpr const char* text_of(LineState state) {
  constexpr const char* kTexts[] = {"I", "S", "E", "M"};
  return kTexts[static_cast<unsigned>(state)];
}

/// Is told of every change of a line's state in one agent; changes nothing itself.
class LineStateListener {
 public:
  virtual ~LineStateListener() = default;
  virtual void line_state(std::uint64_t line, LineState state) = 0;
};

}  // namespace flitwise
