// SPDX-License-Identifier: Apache-2.0
// Negotiation, partitions and the DHI capability. [DHI D5, D6]
#include "dhi/negotiation.h"

#include <gtest/gtest.h>

#include "config_space/dhi_dvsec.h"
#include "dhi/dhi_message.h"

namespace flitwise::negotiation_test {
namespace {

constexpr HandleEnd kHost{true, true, 12, 0};
constexpr HandleEnd kDevice{true, true, 8, 0};
constexpr std::uint8_t kAllBytes = 0xf;

TEST(Negotiation, D5_HandlesOnlyWhereBothEndsAnnounceAndEnable) {
  const HandleRange range = HandleRange::of_bits(8);
  EXPECT_TRUE(negotiate(kHost, kDevice, range, true).is_active());
  HandleEnd end = kDevice;
  end.is_supported = false;
  EXPECT_EQ(negotiate(kHost, end, range, true).outcome, NegotiationOutcome::kNotSupported);
  EXPECT_EQ(negotiate(end, kDevice, range, true).outcome, NegotiationOutcome::kNotSupported);
  end = kDevice;
  end.is_enabled = false;
  EXPECT_EQ(negotiate(kHost, end, range, true).outcome, NegotiationOutcome::kNotEnabled);
  EXPECT_EQ(negotiate(end, kDevice, range, true).outcome, NegotiationOutcome::kNotEnabled);
}

TEST(Negotiation, D5_D23_EverySwitchOnTheWayMustPassHandles) {
  const Negotiated refused = negotiate(kHost, kDevice, HandleRange::of_bits(8), false);
  EXPECT_EQ(refused.outcome, NegotiationOutcome::kHopNotAware);
  EXPECT_STREQ(name_of(refused.outcome), "hop_not_aware");
}

// [DHI-16] [DHI D6]
TEST(Negotiation, D6_RangeMustFitTheNarrowerEnd) {
  const auto outcome = [](unsigned bits, std::uint16_t lower, std::uint16_t upper) {
    HandleEnd device = kDevice;
    device.bits = bits;
    return negotiate(kHost, device, {Dhi{lower}, Dhi{upper}}, true).outcome;
  };
  EXPECT_EQ(outcome(2, 0, 3), NegotiationOutcome::kActive);
  EXPECT_EQ(outcome(2, 0, 4), NegotiationOutcome::kBadRange);
  EXPECT_EQ(outcome(12, 4095, 4095), NegotiationOutcome::kActive);
  EXPECT_EQ(outcome(12, 0, 4096), NegotiationOutcome::kBadRange);
  EXPECT_EQ(outcome(8, 5, 4), NegotiationOutcome::kBadRange);
  EXPECT_EQ(outcome(1, 0, 1), NegotiationOutcome::kBadRange);
  EXPECT_EQ(outcome(13, 0, 1), NegotiationOutcome::kBadRange);
  EXPECT_EQ(negotiate(kHost, kDevice, HandleRange::of_bits(8), true).bits, 8U);
}

// [DHI-27]
TEST(Negotiation, D4_DifferentEpochsAreNeverSilentlyAccepted) {
  HandleEnd device = kDevice;
  device.epoch = 1;
  EXPECT_EQ(negotiate(kHost, device, HandleRange::of_bits(8), true).outcome,
            NegotiationOutcome::kEpochMismatch);
}

TEST(Negotiation, D2_D6_SharedTableIsCutIntoContiguousRangesThatDoNotMeet) {
  const auto ranges = partition_handles(4096, {8, 8, 8});
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0], (HandleRange{Dhi{0}, Dhi{84}}));
  EXPECT_EQ(ranges[1], (HandleRange{Dhi{85}, Dhi{169}}));
  EXPECT_EQ(ranges[2], (HandleRange{Dhi{170}, Dhi{254}}));
  EXPECT_EQ(partition_handles(4096, {12})[0], HandleRange::of_bits(12));
  EXPECT_EQ(partition_handles(4, {12, 12, 12, 12})[3], (HandleRange{Dhi{3}, Dhi{3}}));
  for (const HandleRange& range : partition_handles(4096, std::vector<unsigned>(5, 2))) {
    EXPECT_EQ(range.size(), 0U) << "4 handles for 5 devices";
  }
  EXPECT_TRUE(partition_handles(16, {}).empty());
}

TEST(DhiDvsec, D5_CapabilityStandsWhereTheLayoutSays) {
  const DhiDvsec dvsec(DhiCapability{});
  EXPECT_EQ(dvsec.read(dvsec::kHeader1), 0x01c0'f17dU);
  EXPECT_EQ(dvsec.read(dvsec::kHeader2), 0x0000'0001U);
  EXPECT_EQ(dvsec.read(dvsec::kCapability), 0x0000'0fc1U);
  EXPECT_EQ(dvsec.read(0x1c), 0U);
  EXPECT_EQ(dvsec.read(0x02), 0U);
}

TEST(DhiDvsec, D5_D6_SoftwareEnablesAndGivesTheRange) {
  DeviceConfig device;
  device.dhi.bits = 6;
  DhiDvsec dvsec(DhiCapability::of(device));
  EXPECT_FALSE(dvsec.end().is_enabled);
  EXPECT_EQ(dvsec.end().bits, 6U);
  EXPECT_EQ(dvsec.range(), HandleRange::of_bits(6)) << "all handles until software says otherwise";
  EXPECT_TRUE(dvsec.write(dvsec::kControl, 0x0005'0001, kAllBytes));
  EXPECT_TRUE(dvsec.end().is_enabled);
  EXPECT_EQ(dvsec.end().epoch, 5);
  EXPECT_FALSE(dvsec.write(dvsec::kControl, 0x0005'0001, kAllBytes)) << "nothing changed";
  EXPECT_TRUE(dvsec.write(dvsec::kRange, 0x002f'0020, kAllBytes));
  EXPECT_EQ(dvsec.range(), (HandleRange{Dhi{0x20}, Dhi{0x2f}}));
  const Negotiated negotiated = negotiate(kHost, dvsec.end(), dvsec.range(), true);
  EXPECT_EQ(negotiated.outcome, NegotiationOutcome::kEpochMismatch);
  dvsec.reset();
  EXPECT_FALSE(dvsec.end().is_enabled);
}

TEST(DhiDvsec, D5_ByteEnablesAndReservedBitsAreRespected) {
  DhiDvsec dvsec(DhiCapability{});
  EXPECT_TRUE(dvsec.write(dvsec::kControl, 0xffff'ffff, 0x4));
  EXPECT_EQ(dvsec.read(dvsec::kControl), 0x00ff'0000U);
  EXPECT_TRUE(dvsec.write(dvsec::kControl, 0xffff'ffff, kAllBytes));
  EXPECT_EQ(dvsec.read(dvsec::kControl), 0x00ff'0003U);
  EXPECT_TRUE(dvsec.write(dvsec::kRange, 0xffff'ffff, kAllBytes));
  EXPECT_EQ(dvsec.read(dvsec::kRange), 0x0fff'0fffU);
  EXPECT_FALSE(dvsec.write(dvsec::kCapability, 0, kAllBytes));
  EXPECT_EQ(dvsec.read(dvsec::kCapability), 0x0000'0fc1U);
}

TEST(DhiDvsec, D5_UnsupportedCannotBeEnabled) {
  DhiCapability capability;
  capability.is_supported = false;
  DhiDvsec dvsec(capability);
  EXPECT_FALSE(dvsec.write(dvsec::kControl, 1, kAllBytes));
  EXPECT_FALSE(dvsec.end().is_enabled);
}

TEST(DhiDvsec, D12_SoftwareChoosesWhoManagesHandles) {
  DhiDvsec dvsec(DhiCapability{});
  EXPECT_FALSE(dvsec.is_software_managed());
  dvsec.write(dvsec::kControl, 2, kAllBytes);
  EXPECT_TRUE(dvsec.is_software_managed());
}

TEST(DhiDvsec, D5_StatusShowsTheOutcome) {
  DhiDvsec dvsec(DhiCapability{});
  EXPECT_EQ(dvsec.read(dvsec::kStatus), 0x0000'0020U);  // nobody has enabled it
  HandleEnd device = kDevice;
  HandleEnd host = kHost;
  host.epoch = device.epoch = 7;
  dvsec.set_outcome(negotiate(host, device, HandleRange::of_bits(8), true));
  EXPECT_EQ(dvsec.read(dvsec::kStatus), 0x0007'0001U);
  device.is_enabled = false;
  dvsec.set_outcome(negotiate(host, device, HandleRange::of_bits(8), true));
  EXPECT_EQ(dvsec.read(dvsec::kStatus), 0x0000'0020U);
}

TEST(PartitionHandles, D2_DevicesOfDifferentWidthGetRangesApartThatTheyCanHold) {
  const std::vector<HandleRange> ranges = partition_handles(4096, {8, 4, 8});
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[1], (HandleRange{Dhi{0}, Dhi{15}}));
  EXPECT_EQ(ranges[0], (HandleRange{Dhi{16}, Dhi{135}}));
  EXPECT_EQ(ranges[2], (HandleRange{Dhi{136}, Dhi{255}}));
}

TEST(PartitionHandles, D6_ADeviceForWhichNothingIsLeftGetsAnEmptyRange) {
  const std::vector<HandleRange> ranges = partition_handles(4, {2, 4});
  EXPECT_EQ(ranges[0].size(), 4U);
  EXPECT_EQ(ranges[1].size(), 0U);
}

}  // namespace
}  // namespace flitwise::negotiation_test
