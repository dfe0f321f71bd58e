// SPDX-License-Identifier: Apache-2.0
// The whole stream: count, ops, addresses, sizes, seeds, and what a NIC makes of a message.
#include "workload/workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <vector>

#include "flitwise/error.h"
#include "workload/nic_profile.h"

namespace flitwise::workload_test {
namespace {

std::vector<WorkItem> all_items(const WorkloadConfig& config, std::uint64_t seed = 1,
                                std::uint64_t warmup = 0, const DeviceConfig& device = {}) {
  const auto workload = Workload::make(config, device, seed, warmup);
  std::vector<WorkItem> items;
  WorkItem item;
  while (workload->next(item)) {
    items.push_back(item);
  }
  EXPECT_FALSE(workload->next(item));
  return items;
}

std::string refusal(const WorkloadConfig& config, std::uint64_t warmup = 0) {
  try {
    Workload::make(config, DeviceConfig{}, 1, warmup);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

bool same(const WorkItem& a, const WorkItem& b) {
  return a.at == b.at && a.domain == b.domain && a.op == b.op && a.address == b.address &&
         a.bytes == b.bytes && a.ends_context == b.ends_context;
}

bool same(const std::vector<WorkItem>& a, const std::vector<WorkItem>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const WorkItem& x, const WorkItem& y) { return same(x, y); });
}

/// Everything random at once.
WorkloadConfig busy_config() {
  WorkloadConfig config;
  config.kind = WorkloadKind::kReadWrite;
  config.sizes = "google_rpc_2008";
  config.requests = 5'000;
  config.domains = 16;
  config.domain_choice = DomainChoice::kChurn;
  config.churn = 0.01;
  config.arrival = Arrival::kPoisson;
  return config;
}

TEST(Workload, GivesWarmupAndCountedRequests) {
  WorkloadConfig config;
  config.requests = 100;
  EXPECT_EQ(all_items(config, 1, 20).size(), 120U);
  config.requests = 0;
  EXPECT_TRUE(all_items(config).empty());
}

TEST(Workload, FixedRequestsStandAloneAndFollowEachOtherInTheRing) {
  WorkloadConfig config;
  config.requests = 5;
  config.domains = 2;
  config.payload = 3000;
  config.buffer_size = 8192;
  const std::vector<WorkItem> items = all_items(config);
  const std::uint64_t base = config.buffer_base;
  // 3000 B start at multiples of 4096; the ring holds two.
  const std::uint64_t expected[] = {base, base + 8192, base + 4096, base + 8192 + 4096, base};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(items[i].address, expected[i]) << i;
    EXPECT_EQ(items[i].bytes, 3000U);
    EXPECT_EQ(items[i].op, Op::kWrite);
    EXPECT_EQ(items[i].at, Time{0});
    EXPECT_TRUE(items[i].ends_message);
    EXPECT_FALSE(items[i].depends_on_previous || items[i].ends_context);
  }
}

TEST(Workload, NoRequestUpToOnePageCrossesAPageAndAllStartOnADword) {
  for (const std::uint64_t payload : {1U, 3U, 4U, 5U, 63U, 64U, 65U, 192U, 513U, 4095U, 4096U}) {
    WorkloadConfig config;
    config.payload = payload;
    config.requests = 10'000;
    for (const WorkItem& item : all_items(config)) {
      ASSERT_EQ(item.address % 4, 0U);
      ASSERT_EQ(item.address / 4096, (item.address + item.bytes - 1) / 4096) << payload;
    }
  }
}

TEST(Workload, EveryRequestStaysInsideTheBufferOfItsDomain) {
  WorkloadConfig config = busy_config();
  config.sizes = "facebook_hadoop_2015";
  for (const WorkItem& item : all_items(config)) {
    const std::uint64_t ring = config.buffer_base + to_int(item.domain) * config.buffer_size;
    ASSERT_GE(item.address, ring);
    ASSERT_LE(item.address + item.bytes, ring + config.buffer_size);
  }
}

TEST(Workload, KindSetsTheMixOfReadsAndWrites) {
  for (const auto& [kind, share] :
       {std::pair{WorkloadKind::kPostedWrite, 0.0}, std::pair{WorkloadKind::kRead, 1.0},
        std::pair{WorkloadKind::kReadWrite, 0.3}}) {
    WorkloadConfig config;
    config.kind = kind;
    config.read_fraction = 0.3;
    config.requests = 20'000;
    double reads = 0;
    for (const WorkItem& item : all_items(config)) {
      reads += item.op == Op::kRead ? 1 : 0;
    }
    EXPECT_NEAR(reads / 20'000, share, 5 * std::sqrt(share * (1 - share) / 20'000));
  }
}

TEST(Workload, SameSeedSameStreamOtherSeedOtherStream) {
  const WorkloadConfig config = busy_config();
  EXPECT_TRUE(same(all_items(config, 1), all_items(config, 1)));
  EXPECT_FALSE(same(all_items(config, 1), all_items(config, 2)));
}

TEST(Workload, SizesDoNotDisturbDomainsArrivalsOrOps) {
  const WorkloadConfig drawn = busy_config();
  WorkloadConfig fixed = drawn;
  fixed.sizes.clear();
  const std::vector<WorkItem> a = all_items(drawn);
  const std::vector<WorkItem> b = all_items(fixed);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i].domain == b[i].domain && a[i].at == b[i].at && a[i].op == b[i].op) << i;
  }
}

TEST(Workload, UnusableValuesAreRefusedAllInOneGo) {
  WorkloadConfig config;
  config.payload = 128 << 10;
  config.buffer_base = 1;
  config.arrival = Arrival::kCbr;
  config.rate_mrps = 0;
  EXPECT_EQ(refusal(config),
            "config: workload.buffer_base: is 1 bytes; expected a multiple of 4KiB\n"
            "config: workload.payload: is 131072 bytes; expected 1 to workload.buffer_size "
            "(65536 bytes)\n"
            "config: workload.rate: is 0; expected more than 0 for open arrivals");
  WorkloadConfig hostile;
  hostile.kind = WorkloadKind::kHostile;
  EXPECT_NE(refusal(hostile).find("workload.kind"), std::string::npos);
}

class NicProfileTest : public testing::Test {
 protected:
  NicProfileTest() {
    config_.kind = WorkloadKind::kNic;
    config_.payload = 1500;
    config_.requests = 1;
    device_.functions.count = 2;
  }
  std::vector<WorkItem> message(double transmit_share) {
    config_.read_fraction = transmit_share;
    return all_items(config_, 1, 0, device_);
  }
  WorkloadConfig config_;
  DeviceConfig device_;
};

TEST_F(NicProfileTest, TransmitIsDoorbellDescriptorPayloadCompletionInterrupt) {
  const std::vector<WorkItem> items = message(1);
  ASSERT_EQ(items.size(), 5U);
  const Op ops[] = {Op::kDoorbell, Op::kRead, Op::kRead, Op::kWrite, Op::kMsi};
  const std::uint32_t bytes[] = {8, 64, 1500, 64, 4};
  const bool depends[] = {false, true, true, true, false};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(items[i].op, ops[i]) << i;
    EXPECT_EQ(items[i].bytes, bytes[i]) << i;
    EXPECT_EQ(items[i].depends_on_previous, depends[i]) << i;
    EXPECT_EQ(items[i].ends_message, i == 4) << i;
  }
}

TEST_F(NicProfileTest, ReceiveIsDescriptorPayloadCompletionInterrupt) {
  const std::vector<WorkItem> items = message(0);
  ASSERT_EQ(items.size(), 4U);
  const Op ops[] = {Op::kRead, Op::kWrite, Op::kWrite, Op::kMsi};
  const std::uint32_t bytes[] = {64, 1500, 64, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(items[i].op, ops[i]) << i;
    EXPECT_EQ(items[i].bytes, bytes[i]) << i;
    EXPECT_FALSE(items[i].depends_on_previous) << i;
    EXPECT_EQ(items[i].ends_message, i == 3) << i;
  }
}

TEST_F(NicProfileTest, BytesOfAMixAreThoseOfItsMessages) {
  config_.requests = 4'000;
  config_.sizes = "google_rpc_2008";
  std::map<Op, std::uint64_t> bytes;
  std::map<Op, std::uint64_t> counts;
  std::uint64_t messages = 0;
  for (const WorkItem& item : message(0.5)) {
    bytes[item.op] += item.bytes;
    ++counts[item.op];
    messages += item.ends_message ? 1 : 0;
  }
  EXPECT_EQ(messages, 4'000U);
  const std::uint64_t transmits = counts[Op::kDoorbell];
  EXPECT_NEAR(static_cast<double>(transmits), 2'000, 160);
  EXPECT_EQ(bytes[Op::kDoorbell], transmits * 8);
  EXPECT_EQ(counts[Op::kMsi], 4'000U);
  EXPECT_EQ(bytes[Op::kMsi], 16'000U);
  // Reads: two for each transmit, one for each receive. Writes: one and two.
  EXPECT_EQ(counts[Op::kRead], transmits * 2 + (4'000 - transmits));
  EXPECT_EQ(counts[Op::kWrite], transmits + 2 * (4'000 - transmits));
}

TEST_F(NicProfileTest, RingsOfADomainAdvanceByOneEntryAndWrap) {
  config_.requests = NicProfile::kRingEntries + 1;
  const std::vector<WorkItem> items = message(1);
  const std::uint64_t first = items[1].address;
  EXPECT_EQ(items[5 + 1].address, first + 64);
  EXPECT_EQ(items[5 * NicProfile::kRingEntries + 1].address, first);
  EXPECT_EQ(items[5 + 3].address, items[3].address + 64);
}

TEST_F(NicProfileTest, NoTwoBuffersOverlap) {
  config_.requests = 3'000;
  config_.domains = 5;
  std::map<std::uint64_t, unsigned> owner;  // by page
  for (const WorkItem& item : message(0.5)) {
    if (item.op != Op::kRead && item.op != Op::kWrite) {
      continue;
    }
    const unsigned domain = to_int(item.domain);
    ASSERT_EQ(owner.emplace(item.address >> 12, domain).first->second, domain);
  }
}

TEST_F(NicProfileTest, DoorbellsOfDomainsOfOneFunctionDiffer) {
  config_.requests = 8;
  config_.domains = 4;  // functions 0 1 0 1
  const std::vector<WorkItem> items = message(1);
  const std::uint64_t half = device_.functions.bar_size / 2;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(items[5 * i].address, half + 8 * (i / 2)) << i;
  }
}

TEST_F(NicProfileTest, ContextEndsWithTheLastItemOfAMessage) {
  config_.requests = 500;
  config_.domain_choice = DomainChoice::kChurn;
  config_.churn = 0.2;
  int ends = 0;
  for (const WorkItem& item : message(0.5)) {
    if (item.ends_context) {
      EXPECT_TRUE(item.ends_message);
      ++ends;
    }
  }
  EXPECT_NEAR(ends, 100, 45);
}

}  // namespace
}  // namespace flitwise::workload_test
