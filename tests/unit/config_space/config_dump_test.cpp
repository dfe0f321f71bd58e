// SPDX-License-Identifier: Apache-2.0
// Configuration space as lspci prints and reads it (docs/config_space.md, "Dump").
#include "config_space/config_space.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "config_space/capabilities.h"

namespace flitwise::config_dump_test {
namespace {

TEST(ConfigDump, HasALineForTheFunctionAndEveryByteInItsPlace) {
  ConfigSpace space = ConfigSpace::type0({}, {std::uint64_t{64} << 10, 0, 0});
  space.add(aer_capability(false));
  space.write(cfg::kInterruptLine, 0x5a, 0x1);
  const std::string text = config_dump(Bdf::of(0x12, 3, 4), space);
  EXPECT_EQ(text.rfind("12:03.4 0200: f17d:0001 (rev 01)\n"
                       "00: 7d f1 01 00 00 00 00 00 01 00 00 02 00 00 00 00\n"
                       "10: 0c 00 00 00 00 00 00 00",
                       0),
            0U)
      << text.substr(0, 200);
  EXPECT_NE(text.find("\n30: 00 00 00 00 00 00 00 00 00 00 00 00 5a 00 00 00\n"), text.npos);
  EXPECT_NE(text.find("\n100: 01 00 02 00 "), text.npos) << "AER, version 2, no next one";
  EXPECT_NE(text.find("\nff0: 00"), text.npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 4096 / 16 + 1);
}

// What ARI makes one number of eight bits is device and function for lspci. [LNK-2.3]
TEST(ConfigDump, LNK_2_3_FunctionsBeyondSevenCountAsDevices) {
  const std::string text = config_dump(Bdf{0x0119}, ConfigSpace::type0({}, {}));
  EXPECT_EQ(text.rfind("01:03.1 ", 0), 0U);
}

}  // namespace
}  // namespace flitwise::config_dump_test
