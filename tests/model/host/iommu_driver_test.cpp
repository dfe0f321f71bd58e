// SPDX-License-Identifier: Apache-2.0
// The driver of the translation agent between stand-ins for bridge and agent: what it writes, and
// in which order.
#include "host/iommu_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "host/host_memory.h"
#include "host_fakes.h"
#include "iommu/agent_queues.h"

namespace flitwise::iommu_driver_test {
namespace {

using namespace test;
namespace reg = iommu_register;

constexpr std::uint64_t kPage = 4096, kFrames = 0x10'0000, kBuffer = 0x4000;
// As of the agent: invalidations of single pages, and one fault record, at 200h.
constexpr std::uint64_t kCapabilities =
    std::uint64_t{0x3f} << 48 | std::uint64_t{1} << 39 | std::uint64_t{0x20} << 24;
constexpr DeviceIdentity kDomain(Bdf{0x100}, Pasid{1});

HostConfig config_of_test() {
  HostConfig config;
  config.iommu_driver.enabled = true;
  config.iommu_driver.unmap_rate = 1;
  return config;
}

class IommuDriverTest : public ::testing::Test {
 protected:
  IommuDriverTest() {
    port.socket.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    registers = {{reg::kCap, kCapabilities}, {reg::kGsts, global_bit::kQueue}};
    access.value_of = [this](std::uint64_t address) { return registers[address % kPage]; };
  }
  /// One domain of one page, mapped or not, and the driver is ready.
  void start(bool is_mapped) {
    DriverPages pages(PageFrames(kFrames, 12, 32), 12,
                      [this](std::uint64_t at, std::uint64_t value) { entries[at] = value; });
    DriverDomain domain;
    domain.identity = kDomain;
    domain.address = kBuffer;
    domain.has_device_tlb = true;
    pages.add_domain(domain);
    pages.add_page(kEntry, false);
    if (is_mapped) {
      pages.map(0);
    }
    driver.take_over(std::move(pages));
    driver.start();
    access.run();
  }
  /// Of the descriptors in the ring, in their order.
  std::vector<unsigned> types() {
    std::vector<unsigned> all;
    for (std::uint64_t at = kInvalidationQueue; port.peek_u64(at) != 0; at += 32) {
      const std::uint64_t low = port.peek_u64(at);
      all.push_back(static_cast<unsigned>((low >> 9 & 7) << 4 | (low & 15)));
    }
    return all;
  }
  IommuResult counted() {
    RunResult result;
    result.rows<IommuResult>().emplace_back();
    driver.report(result);
    errors = result.errors;
    latencies = result.rows<LatencyResult>();
    return result.rows<IommuResult>().back();
  }
  static constexpr std::uint64_t kEntry = 0x8000;

  std::map<std::uint64_t, std::uint64_t> registers, entries;
  std::map<std::string, std::uint64_t> errors;  // and latencies: counted()
  std::vector<LatencyResult> latencies;
  FakeHostAccess access;
  HostMemory memory{"memory", config_of_test()};
  MemoryPort port{"memory_port"};
  IommuDriver driver{"iommu_driver", config_of_test(), IommuConfig(), 1, access, port};
};

TEST_F(IommuDriverTest, QueueIsEnabledOnceItsRegistersAreSet) {
  EXPECT_FALSE(driver.is_ready());
  start(true);
  EXPECT_TRUE(driver.is_ready());
  const auto written = [this](std::uint32_t offset) {
    return std::find_if(access.writes.begin(), access.writes.end(),
                        [offset](const FakeHostAccess::Write& one) {
                          return one.address == kAgentRegisters + offset;
                        });
  };
  ASSERT_NE(written(reg::kGcmd), access.writes.end());
  EXPECT_LT(written(reg::kIqa), written(reg::kGcmd));
  EXPECT_LT(written(reg::kPqa), written(reg::kGcmd));
}

// [INV-35] [IQU-16]
TEST_F(IommuDriverTest, INV_35_PageIsFreeOnceTheWaitBehindBothInvalidationsIsOver) {
  start(true);
  EXPECT_NE(entries[kEntry], 0U);
  driver.begin([] { return true; });
  access.run();
  EXPECT_EQ(entries[kEntry], 0U);
  EXPECT_EQ(types(), (std::vector<unsigned>{6, 3, 5}));
  EXPECT_EQ(port.peek_u64(kInvalidationQueue + 64) >> 5 & 3, 3U);  // status, behind a fence
  EXPECT_FALSE(driver.is_quiet());
  port.poke_u64(kWaitStatus, 1);
  driver.status_is_coming();
  access.run();
  EXPECT_TRUE(driver.is_quiet());
  EXPECT_EQ(counted().unmaps, 1U);
  EXPECT_EQ(latencies.at(0).count, 1U);
}

// [PRI-02]
TEST_F(IommuDriverTest, PRI_02_GroupIsAnsweredOnceItsPagesAreMapped) {
  start(false);
  PageRequest request;
  request.function = kDomain.bdf;
  request.pasid = kDomain.pasid;
  request.page = kBuffer;
  request.read = request.is_last = true;
  const PageRequestRecord record = encode_page_request(request);
  port.poke(kPageRequestQueue, record.data(), record.size());
  registers[reg::kPqt] = kPageRequestRecordBytes;
  driver.interrupted(IommuEvent::kPageRequest);
  EXPECT_EQ(entries[kEntry], 0U);
  access.run();
  EXPECT_NE(entries[kEntry], 0U);
  EXPECT_EQ(types(), std::vector<unsigned>{9});
  EXPECT_EQ(counted().page_requests_served, 1U);
  EXPECT_TRUE(driver.is_quiet());
}

// [IOM-9.1]
TEST_F(IommuDriverTest, IOM_9_1_PageOfAFaultIsMappedForTheNextRequest) {
  start(false);
  const std::uint64_t record = 0x20 * 16;
  registers[reg::kFsts] = fault_status::kPending;
  registers[record] = kBuffer;
  registers[record + 8] = std::uint64_t{0x8000'0071} << 32 | std::uint64_t{1} << 40 |
                          std::uint64_t{1} << 31 | kDomain.bdf.value;
  registers[record + 24] = registers[record + 8];  // behind the last record
  access.value_of = [this](std::uint64_t address) {
    const std::uint64_t value = registers[address % kPage];
    if (address % kPage == reg::kFsts) {
      registers[reg::kFsts] = 0;
    }
    return value;
  };
  driver.interrupted(IommuEvent::kFault);
  access.run();
  EXPECT_EQ(entries[kEntry], 0U);
  sc_core::sc_start(to_sc_time(Time::from_us(2)));
  EXPECT_NE(entries[kEntry], 0U);
  EXPECT_EQ(counted().faults_taken, 1U);
  EXPECT_EQ(errors.at("iommu_driver_fault_71"), 1U);
}

}  // namespace
}  // namespace flitwise::iommu_driver_test
