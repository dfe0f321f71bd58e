// SPDX-License-Identifier: Apache-2.0
// Numbers with units: exact, canonical, and refused where they are neither.
#include "common/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace flitwise::config::quantity_test {
namespace {

TEST(Quantity, WritesTheLargestUnitThatLeavesAWholeNumber) {
  EXPECT_EQ(write_quantity(0, size_dimension()), "0B");
  EXPECT_EQ(write_quantity(1023, size_dimension()), "1023B");
  EXPECT_EQ(write_quantity(1024, size_dimension()), "1KiB");
  EXPECT_EQ(write_quantity(1536, size_dimension()), "1536B");
  EXPECT_EQ(write_quantity(1'600'000, time_dimension()), "1600ps");
  EXPECT_EQ(write_quantity(307'200'000'000, bit_rate_dimension()), "307200Mb/s");
}

TEST(Quantity, ReadsBackWhatItWrites) {
  constexpr unsigned kSeed = 1;
  std::mt19937_64 random(kSeed);
  for (const auto* dimension :
       {&size_dimension(), &time_dimension(), &bit_rate_dimension(), &request_rate_dimension()}) {
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 60));
      const std::string text = write_quantity(value, *dimension);
      EXPECT_EQ(read_quantity(text, *dimension).value, value) << text << ", seed " << kSeed;
    }
  }
}

TEST(Quantity, LimitsAre63Bits) {
  EXPECT_EQ(read_quantity("9223372036854775807B", size_dimension()).value,
            std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(read_quantity("9223372036854775808B", size_dimension()).value);
  EXPECT_FALSE(read_quantity("9223372036854775807GiB", size_dimension()).value);
  EXPECT_FALSE(read_quantity("99999999999999999999999B", size_dimension()).value);
  EXPECT_FALSE(read_quantity("0.00000000000000000000001s", time_dimension()).value);
}

TEST(Quantity, RefusesWhatIsNoNumberWithAUnit) {
  for (const char* text : {"", "B", "-1B", "+1B", "1.B", ".5KiB", "1..5B", "1e3B", "0x10B", "1 2B",
                           "1B ", "1b", "1kib", "inf B", "1,5KiB"}) {
    EXPECT_FALSE(read_quantity(text, size_dimension()).value) << text;
  }
}

TEST(Whole, TakesDecimalAndHexadecimalButNotOctal) {
  EXPECT_EQ(read_whole("0").value, 0U);
  EXPECT_EQ(read_whole("0x1f").value, 31U);
  EXPECT_EQ(read_whole("18446744073709551615").value, std::numeric_limits<std::uint64_t>::max());
  for (const char* text : {"", "00", "017", "0o17", "0x", "-1", "+1", "1_000", "1.0", "1e3", " 1",
                           "18446744073709551616"}) {
    EXPECT_FALSE(read_whole(text).value) << text;
  }
}

TEST(Real, TakesFractionsAndExponents) {
  EXPECT_EQ(read_real("1e-6").value, 1e-6);
  EXPECT_EQ(read_real("0.5").value, 0.5);
  EXPECT_EQ(read_real("3").value, 3.0);
  for (const char* text : {"", "nan", "inf", ".inf", "1e999", "0.5x", "half"}) {
    EXPECT_FALSE(read_real(text).value) << text;
  }
}

}  // namespace
}  // namespace flitwise::config::quantity_test
