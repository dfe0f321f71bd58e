// SPDX-License-Identifier: Apache-2.0
// A text as a table of message sizes: refused, or a distribution whose draws stay within the
// cap.
#include "workload/size_distribution.h"

#include <sstream>

#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

constexpr int kDraws = 64;

void check_distribution(const SizeDistribution& sizes, std::uint32_t cap) {
  Random random(1);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t size = sizes.draw(random);
    FLITWISE_PROPERTY(size >= 1 && size <= cap);
  }
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
