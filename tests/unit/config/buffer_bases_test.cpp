// SPDX-License-Identifier: Apache-2.0
// Where the buffers of each device lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/instances.h"
#include "topology/graph.h"
#include "unit/config/support.h"

namespace flitwise::buffer_bases_test {
namespace {

using testing::ElementsAre;

/// Two devices; fields of the instances, and of the workload beside via.
std::string two_by_pio(const std::string& instances, const std::string& workload = "domains: 1") {
  return "system: {devices: 2, instances: {" + instances +
         "}}\ndevice: {functions: {bar_size: 64MiB}}\nworkload: {via: pio, " + workload + "}\n";
}
std::vector<Bytes> bases_of(const std::string& yaml) {
  const Config config = config_of(yaml);
  return buffer_bases(config, Graph(config.system));
}
constexpr Bytes kGiB = Bytes{1} << 30, kKiB = Bytes{1} << 10;

// [PIO-12.35] Credits of one device never come to where another looks for its own.
TEST(PioBuffers, PIO_090_DevicesOfOneHostHaveTheirOwn) {
  EXPECT_THAT(bases_of(two_by_pio("")), ElementsAre(4 * kGiB, 4 * kGiB + 64 * kKiB));
  EXPECT_THAT(bases_of(two_by_pio("", "domains: 3")), ElementsAre(4 * kGiB, 4 * kGiB + 192 * kKiB));
  EXPECT_THAT(bases_of(two_by_pio("ep1: {workload.buffer_base: 1GiB}")),
              ElementsAre(4 * kGiB, 1 * kGiB));
  EXPECT_THAT(bases_of(two_by_pio("ep1: {workload.via: dma}")), ElementsAre(4 * kGiB, 4 * kGiB));
  EXPECT_THAT(bases_of("system: {devices: 2}"), ElementsAre(4 * kGiB, 4 * kGiB));
}

TEST(PioBuffers, PIO_090_EachHostHasAMemoryOfItsOwn) {
  EXPECT_THAT(bases_of("system: {hosts: 2}\ndevice: {functions: {bar_size: 64MiB}}\n"
                       "workload: {via: pio}\n"),
              ElementsAre(4 * kGiB, 4 * kGiB));
}

}  // namespace
}  // namespace flitwise::buffer_bases_test
