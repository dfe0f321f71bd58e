// SPDX-License-Identifier: Apache-2.0
// A text as a table of message sizes: refused, or a distribution whose draws, mean and shares
// agree.
#include "workload/size_distribution.h"

#include <sstream>

#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

constexpr int kDraws = 64;
constexpr double kRounding = 1e-6;  // of sums of doubles, relative

void check_distribution(const SizeDistribution& sizes, std::uint32_t cap) {
  Random random(1);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t size = sizes.draw(random);
    FLITWISE_PROPERTY(size >= 1 && size <= cap);
  }
  FLITWISE_PROPERTY(sizes.mean() >= 1 - kRounding && sizes.mean() <= cap * (1 + kRounding));
  FLITWISE_PROPERTY(sizes.cut_share() >= -kRounding && sizes.cut_share() <= 1 + kRounding);
  double before = 0;
  for (std::uint64_t bytes = 0; bytes <= cap; bytes = 2 * bytes + 1) {
    const double share = sizes.cumulative(static_cast<std::uint32_t>(bytes));
    FLITWISE_PROPERTY(share >= before - kRounding && share <= 1 + kRounding);
    before = share;
  }
  FLITWISE_PROPERTY(sizes.cumulative(cap) == 1);
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const std::string text = fuzz::text_of_input(data, size);
  for (const std::uint32_t cap : {1U, 1500U, 0xffffffffU}) {
    try {
      std::istringstream in(text);
      check_distribution(SizeDistribution::read(in, "input.csv", cap), cap);
    } catch (const ConfigError& error) {
      FLITWISE_PROPERTY(!error.problems().empty());
    }
  }
  return 0;
}
