// SPDX-License-Identifier: Apache-2.0
// Random 64-byte reads over growing windows, beside the latencies that pcie-bench measured.
// docs/iommu_calibration.md
#include <gtest/gtest.h>

#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::iotlb_reach_test {
namespace {

struct Measured {
  unsigned window_kib;
  double ns;
};
// Broadwell E5-2630v4, Gen3 x8, 4 KiB pages (published_numbers 2.1).
constexpr Measured kMeasured[] = {{16, 432},     {256, 433.1},   {512, 456.5},
                                  {1024, 588.6}, {1536, 632.7},  {2048, 654.7},
                                  {4096, 691.6}, {16384, 713.5}, {65536, 754.8}};

/// Mean latencies in ns, in the order of the table above.
std::vector<double> latencies(const std::string& page) {
  std::vector<Simulation> runs;
  for (const Measured& row : kMeasured) {
    runs.push_back(
        {"calibrations/broadwell_iommu.yaml",
         {"workload.buffer_size=" + std::to_string(row.window_kib) + "KiB", "iommu.page=" + page}});
  }
  std::vector<double> means;
  for (const nlohmann::ordered_json& result : simulate_in_children(runs)) {
    for (const nlohmann::ordered_json& latency :
         result.value("latency", nlohmann::ordered_json())) {
      if (latency.at("name") == "dma_read") {
        means.push_back(latency.at("mean").get<double>());
      }
    }
  }
  return means;
}

TEST(IotlbReach, SmallPagesLoseWhatWasMeasured) {
  const std::vector<double> means = latencies("4KiB");
  ASSERT_EQ(means.size(), std::size(kMeasured));
  for (std::size_t i = 0; i < means.size(); ++i) {
    EXPECT_NEAR(means[i], kMeasured[i].ns, 0.1 * kMeasured[i].ns)
        << kMeasured[i].window_kib << " KiB";
  }
  const double hit = means.front();
  EXPECT_NEAR(hit, 432, 1);
  EXPECT_NEAR(means[1], hit, 0.5) << "64 pages";
  EXPECT_GE(means[2] - hit, 15) << "128 pages";
  EXPECT_LE(means[2] - hit, 40) << "128 pages";
  EXPECT_NEAR(means.back() - hit, 322.8, 5) << "a walk";
}

TEST(IotlbReach, SuperpagesLoseNothingAtAnyWindow) {
  const std::vector<double> means = latencies("2MiB");
  ASSERT_EQ(means.size(), std::size(kMeasured));
  for (std::size_t i = 0; i < means.size(); ++i) {
    EXPECT_NEAR(means[i], means.front(), 0.1) << kMeasured[i].window_kib << " KiB";
  }
}

}  // namespace
}  // namespace flitwise::iotlb_reach_test
