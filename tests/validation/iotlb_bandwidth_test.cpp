// SPDX-License-Identifier: Apache-2.0
// Many random 64-byte reads at a time over growing windows, beside the bandwidth that pcie-bench
// measured. docs/iommu_calibration.md
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::iotlb_bandwidth_test {
namespace {

struct Measured {
  unsigned window_kib;
  double gbps;
};
// Broadwell E5-2630v4, Gen3 x8, 4 KiB pages, host warm:
// pcie-bench/data, nfp6000-1.2GHz_bdw-...-iommu-nosp/bw_dma_win_sweep_rd_rnd_64.dat
constexpr Measured kMeasured[] = {{16, 32.084},   {256, 32.431},   {512, 22.342},
                                  {1024, 15.193}, {1536, 13.039},  {2048, 12.126},
                                  {4096, 10.921}, {16384, 10.149}, {65536, 9.829}};

std::vector<double> goodputs(const std::string& config, const std::vector<std::string>& sets) {
  std::vector<Simulation> runs;
  for (const Measured& row : kMeasured) {
    Simulation run{config, {"workload.buffer_size=" + std::to_string(row.window_kib) + "KiB"}};
    run.sets.insert(run.sets.end(), sets.begin(), sets.end());
    runs.push_back(std::move(run));
  }
  std::vector<double> found;
  for (const nlohmann::ordered_json& result : simulate_in_children(runs)) {
    if (!result.contains("links")) {
      ADD_FAILURE() << result.value("failed", "no result");
      return {};
    }
    found.push_back(result.at("links")[0].at("down").at("goodput_gbps").get<double>());
  }
  return found;
}

TEST(IotlbBandwidth, SmallPagesLoseWhatWasMeasuredAtEveryWindow) {
  const std::vector<double> found = goodputs("calibrations/broadwell_iommu_bandwidth.yaml", {});
  ASSERT_EQ(found.size(), std::size(kMeasured));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], kMeasured[i].gbps, 0.07 * kMeasured[i].gbps)
        << kMeasured[i].window_kib << " KiB";
  }
}

TEST(IotlbBandwidth, SuperpagesLoseNothingAtAnyWindow) {
  const std::vector<double> found =
      goodputs("calibrations/broadwell_iommu_bandwidth.yaml", {"iommu.page=2MiB"});
  ASSERT_EQ(found.size(), std::size(kMeasured));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], found.front(), 0.005 * found.front())
        << kMeasured[i].window_kib << " KiB";
  }
}

// The capacity that fits the latencies puts the knee of this curve too far out.
TEST(IotlbBandwidth, TheCapacityOfTheLatenciesMissesTheKnee) {
  const std::vector<double> found =
      goodputs("calibrations/broadwell_iommu_bandwidth.yaml", {"iommu.iotlb.entries=118"});
  ASSERT_EQ(found.size(), std::size(kMeasured));
  EXPECT_GT(found[2], 1.2 * kMeasured[2].gbps);
}

}  // namespace
}  // namespace flitwise::iotlb_bandwidth_test
