// SPDX-License-Identifier: Apache-2.0
/// The commands encode and decode as functions of text.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "codec/encode_command.h"

namespace flitwise::test {

struct Outcome {
  int code = 0;
  std::string out, err;
};

inline Outcome encode_of(const std::string& text, const std::vector<std::string>& sets = {},
                         const std::string& kind = "tlp") {
  std::istringstream in(text);
  std::ostringstream out, err;
  const int code = encode_command(kind, sets, in, out, err);
  return {code, out.str(), err.str()};
}

inline Outcome decode_of(const std::string& hex, const std::vector<std::string>& sets = {},
                         const std::string& kind = "tlp") {
  std::istringstream in(hex);
  std::ostringstream out, err;
  const int code = decode_command(kind, sets, {}, in, out, err);
  return {code, out.str(), err.str()};
}

// What the command must refuse: exit code 2, nothing on stdout.
inline std::string refusal(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  return outcome.err;
}

}  // namespace flitwise::test
