// SPDX-License-Identifier: Apache-2.0
// Headers, register behaviours, chains and what writes mean (docs/config_space.md).
#include "config_space/config_space.h"

#include <gtest/gtest.h>

#include <vector>

#include "config_space/capabilities.h"
#include "config_space/functions.h"
#include "flitwise/tlp.h"
#include "unit/config_space/support.h"

namespace flitwise::config_space_test {
namespace {

using test::extended_at;
using test::pcie_at;

constexpr std::uint64_t kBarSize = 64 << 10;

ConfigSpace endpoint() {
  ConfigSpace space = ConfigSpace::type0({}, {kBarSize, 0, std::uint64_t{8} << 30});
  space.add(power_management_capability());
  space.add(msix_capability({}));
  space.add(pcie_capability({}));
  space.add(aer_capability(false));
  space.add(ari_capability());
  SriovOptions sriov;
  sriov.total_vfs = 300;
  sriov.vf_bars = {kBarSize, 0, 0};
  space.add(sriov_capability(sriov));
  return space;
}

TEST(ConfigSpace, IdsAreReadOnly) {
  ConfigSpace space = endpoint();
  const std::uint32_t ids = space.read(cfg::kVendorId);
  EXPECT_FALSE(space.write(cfg::kVendorId, ~ids).any());
  EXPECT_EQ(space.read(cfg::kVendorId), ids);
}

TEST(ConfigSpace, ByteEnablesSelectTheBytesWritten) {
  ConfigSpace space = ConfigSpace::type1({});
  space.write(cfg::kBusNumbers, 0x00332211, 0x2);
  EXPECT_EQ(space.read(cfg::kBusNumbers), 0x00002200U);
  space.write(cfg::kBusNumbers, 0x00332211, 0xd);
  EXPECT_EQ(space.read(cfg::kBusNumbers), 0x00332211U);
  EXPECT_FALSE(space.write(cfg::kBusNumbers, 0, 0).any());
}

TEST(ConfigSpace, BarShowsItsSizeWhenWrittenWithOnes) {
  ConfigSpace space = endpoint();
  space.write(cfg::kBar0, 0xffffffff);
  space.write(cfg::kBar0 + 4, 0xffffffff);
  EXPECT_EQ(space.read(cfg::kBar0), 0xffff000cU);
  EXPECT_EQ(space.read(cfg::kBar0 + 4), 0xffffffffU);
  space.write(cfg::kBar0 + 8, 0xffffffff);
  EXPECT_EQ(space.read(cfg::kBar0 + 8), 0U);
  space.write(cfg::kBar0 + 16, 0xffffffff);
  space.write(cfg::kBar0 + 20, 0xffffffff);
  EXPECT_EQ(space.read(cfg::kBar0 + 16), 0x0000000cU);
  EXPECT_EQ(space.read(cfg::kBar0 + 20), 0xfffffffeU);
}

TEST(ConfigSpace, BarMovesAndSaysSo) {
  ConfigSpace space = endpoint();
  EXPECT_TRUE(space.write(cfg::kBar0 + 4, 0x100).routing_changed);
  EXPECT_TRUE(space.write(cfg::kBar0, 0x20000).routing_changed);
  EXPECT_FALSE(space.write(cfg::kBar0, 0x20000).any());
  EXPECT_EQ(space.bar(0).base, 0x10000020000U);
  EXPECT_EQ(space.bar(0).size, kBarSize);
  EXPECT_EQ(space.bar(1).size, 0U);
  EXPECT_EQ(space.bar(2).size, std::uint64_t{8} << 30);
  EXPECT_EQ(space.bar(3).size, 0U);
  EXPECT_FALSE(space.bar(1).contains(0));
}

TEST(ConfigSpace, CommandEnablesAreSeen) {
  ConfigSpace space = endpoint();
  EXPECT_FALSE(space.bus_master_enabled());
  EXPECT_TRUE(space.write(cfg::kCommand, cfg::kCommandBusMaster | cfg::kCommandMemorySpace)
                  .command_changed);
  EXPECT_TRUE(space.bus_master_enabled());
  EXPECT_TRUE(space.memory_space_enabled());
}

TEST(ConfigSpace, StandardChainListsEveryCapabilityOnce) {
  const ConfigSpace space = endpoint();
  EXPECT_NE(space.read(cfg::kCommand) & cfg::kStatusCapabilityList, 0U);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t at = space.read(cfg::kCapabilityPointer) & 0xff; at != 0;) {
    const std::uint32_t header = space.read(static_cast<std::uint16_t>(at));
    ids.push_back(header & 0xff);
    at = header >> 8 & 0xff;
  }
  EXPECT_EQ(ids,
            (std::vector<std::uint32_t>{cfg::kCapPowerManagement, cfg::kCapMsix, cfg::kCapPcie}));
}

TEST(ConfigSpace, ExtendedChainListsEveryCapabilityOnce) {
  const ConfigSpace space = endpoint();
  std::vector<std::uint32_t> ids;
  for (std::uint32_t at = cfg::kExtendedStart; at != 0;) {
    const std::uint32_t header = space.read(static_cast<std::uint16_t>(at));
    ids.push_back(header & 0xffff);
    at = header >> 20;
  }
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{cfg::kExtAer, cfg::kExtAri, cfg::kExtSriov}));
}

TEST(ConfigSpace, EmptyExtendedChainReadsNull) {
  EXPECT_EQ(ConfigSpace::type0({}, {}).read(cfg::kExtendedStart), 0U);
}

TEST(ConfigSpace, ReservedAndUnknownRegistersReadZero) {
  ConfigSpace space = endpoint();
  EXPECT_FALSE(space.write(0xffc, 0xffffffff).any());
  EXPECT_EQ(space.read(0xffc), 0U);
  space.write(cfg::kCommand, 0xffffffff);
  EXPECT_EQ(space.read(cfg::kCommand) & 0xffff & ~0x546U, 0U);
}

TEST(ConfigSpace, FlrIsAnEffectAndReadsZero) {
  ConfigSpace space = endpoint();
  const std::uint16_t at = pcie_at(space, cfg::pcie::kDeviceControl);
  EXPECT_TRUE(space.write(at, cfg::pcie::kInitiateFlr).flr_started);
  EXPECT_EQ(space.read(at) & cfg::pcie::kInitiateFlr, 0U);
  EXPECT_FALSE(space.write(at, cfg::pcie::kInitiateFlr, 0x1).flr_started);
}

TEST(ConfigSpace, FlrKeepsMpsAndErrorStatusAndClearsTheRest) {
  ConfigSpace space = endpoint();
  space.write(cfg::kCommand, cfg::kCommandBusMaster);
  space.write(pcie_at(space, cfg::pcie::kDeviceControl), 1U << cfg::pcie::kMpsShift);
  report_error(space, {cfg::aer::Uncorrectable::kMalformedTlp});
  space.reset(ResetKind::kFunctionLevel);
  EXPECT_FALSE(space.bus_master_enabled());
  EXPECT_EQ(device_control(space).mps, 256U);
  EXPECT_EQ(device_control(space).mrrs, 512U);
  const std::uint16_t status = extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus);
  EXPECT_NE(space.read(status), 0U);
  space.reset(ResetKind::kConventional);
  EXPECT_EQ(device_control(space).mps, 128U);
  EXPECT_NE(space.read(status), 0U);
}

TEST(PcieCapability, DeviceControlIsDecoded) {
  ConfigSpace space = endpoint();
  EXPECT_EQ(device_control(space).tag_bits, 5U);
  EXPECT_TRUE(device_control(space).relaxed_ordering);
  const std::uint32_t value =
      cfg::pcie::kExtendedTag | 2U << cfg::pcie::kMpsShift | 5U << cfg::pcie::kMrrsShift;
  EXPECT_TRUE(space.write(pcie_at(space, cfg::pcie::kDeviceControl), value).device_control_changed);
  DeviceControl control = device_control(space);
  EXPECT_EQ(control.mps, 512U);
  EXPECT_EQ(control.mrrs, 4096U);
  EXPECT_EQ(control.tag_bits, 8U);
  EXPECT_FALSE(control.relaxed_ordering);
  space.write(pcie_at(space, cfg::pcie::kDeviceControl2),
              cfg::pcie::kTenBitRequester | cfg::pcie::kIdoRequest | 0x5);
  control = device_control(space);
  EXPECT_EQ(control.tag_bits, 10U);
  EXPECT_TRUE(control.id_based_ordering);
}

TEST(PcieCapability, LNK_9_28_AVfHasInitiateFlrAloneInDeviceControl) {
  ConfigSpace vf = virtual_function_space({});
  const std::uint16_t at = pcie_at(vf, cfg::pcie::kDeviceControl);
  EXPECT_EQ(vf.read(at), 0U);
  EXPECT_FALSE(vf.write(at, 0x7fff).device_control_changed);
  EXPECT_EQ(vf.read(at), 0U);
  EXPECT_TRUE(vf.write(at, cfg::pcie::kInitiateFlr).flr_started);
  const std::uint16_t second = pcie_at(vf, cfg::pcie::kDeviceControl2);
  EXPECT_FALSE(vf.write(second, 0xffff).device_control_changed);
  EXPECT_EQ(vf.read(second), 0U);
  report_error(vf, {cfg::aer::Uncorrectable::kCompletionTimeout});
  EXPECT_NE(vf.read(at) >> 16, 0U) << "Device Status is its own";
}

TEST(PcieCapability, UnsupportedTagSizesCannotBeEnabled) {
  ConfigSpace space = ConfigSpace::type0({}, {});
  PcieOptions options;
  options.extended_tag = options.ten_bit_tag = false;
  space.add(pcie_capability(options));
  space.write(pcie_at(space, cfg::pcie::kDeviceControl), cfg::pcie::kExtendedTag);
  space.write(pcie_at(space, cfg::pcie::kDeviceControl2), cfg::pcie::kTenBitRequester);
  EXPECT_EQ(device_control(space).tag_bits, 5U);
}

TEST(PcieCapability, LinkShowsSpeedAndWidth) {
  PcieOptions options;
  options.link = {4, 8};
  ConfigSpace space = ConfigSpace::type0({}, {});
  space.add(pcie_capability(options));
  const std::uint32_t status = space.read(pcie_at(space, cfg::pcie::kLinkControl)) >> 16;
  EXPECT_EQ(status & 0xf, 4U);
  EXPECT_EQ(status >> 4 & 0x3f, 8U);
  EXPECT_EQ(space.read(pcie_at(space, cfg::pcie::kLinkCap2)), 0x1eU);
}

TEST(Aer, StatusIsClearedByWritingOnes) {
  ConfigSpace space = endpoint();
  report_error(space, {cfg::aer::Uncorrectable::kUnsupportedRequest});
  report_error(space, {cfg::aer::Uncorrectable::kCompletionTimeout});
  const std::uint16_t at = extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus);
  EXPECT_EQ(space.read(at), 1U << 20 | 1U << 14);
  EXPECT_TRUE(space.write(at, 1U << 20).error_status_cleared);
  EXPECT_EQ(space.read(at), 1U << 14);
  EXPECT_FALSE(space.write(at, 0).any());
}

TEST(Aer, MessageFollowsSeverityAndEnables) {
  ConfigSpace space = endpoint();
  EXPECT_EQ(report_error(space, {cfg::aer::Uncorrectable::kMalformedTlp}), std::nullopt);
  const std::uint16_t control = pcie_at(space, cfg::pcie::kDeviceControl);
  space.write(control, cfg::pcie::kReportFatal | cfg::pcie::kReportNonFatal);
  EXPECT_EQ(report_error(space, {cfg::aer::Uncorrectable::kMalformedTlp}), msg::kErrFatal);
  EXPECT_EQ(report_error(space, {cfg::aer::Uncorrectable::kCompletionTimeout}), msg::kErrNonFatal);
  space.write(control, cfg::pcie::kReportCorrectable);
  EXPECT_EQ(report_error(space, cfg::aer::Correctable::kReplayNumRollover), msg::kErrCor);
  EXPECT_EQ(report_error(space, cfg::aer::Correctable::kAdvisoryNonFatal), std::nullopt);
}

TEST(Aer, HeaderLogKeepsTheFirstErrorUntilItIsCleared) {
  ConfigSpace space = endpoint();
  report_error(space, {cfg::aer::Uncorrectable::kUnsupportedRequest, {1, 2, 3, 4}});
  report_error(space, {cfg::aer::Uncorrectable::kMalformedTlp, {5, 6, 7, 8}});
  const std::uint16_t log = extended_at(space, cfg::kExtAer, cfg::aer::kHeaderLog);
  EXPECT_EQ(space.read(log), 1U);
  EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kControl)) & 0x1f, 20U);
  space.write(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus), 1U << 20);
  report_error(space, {cfg::aer::Uncorrectable::kMalformedTlp, {5, 6, 7, 8}});
  EXPECT_EQ(space.read(log), 5U);
}

TEST(Aer, RootPortKeepsTheFirstSource) {
  ConfigSpace port = ConfigSpace::type1({});
  port.add(aer_capability(true));
  note_error_message(port, msg::kErrFatal, Bdf::of(3, 0, 0));
  note_error_message(port, msg::kErrNonFatal, Bdf::of(4, 0, 0));
  note_error_message(port, msg::kErrCor, Bdf::of(5, 0, 0));
  EXPECT_EQ(port.read(extended_at(port, cfg::kExtAer, cfg::aer::kRootStatus)), 0x7dU);
  EXPECT_EQ(port.read(extended_at(port, cfg::kExtAer, cfg::aer::kErrorSource)), 0x03000500U);
}

TEST(Sriov, VfsAppearWithTheEnableAndHaveTheirOwnIds) {
  ConfigSpace pf = endpoint();
  const Bdf id = Bdf::of(2, 0, 0);
  EXPECT_EQ(virtual_functions(pf).count, 0U);
  pf.write(extended_at(pf, cfg::kExtSriov, cfg::sriov::kNumVfs), 270);
  EXPECT_TRUE(pf.write(extended_at(pf, cfg::kExtSriov, cfg::sriov::kControl),
                       cfg::sriov::kVfEnable | cfg::sriov::kVfMemorySpace)
                  .routing_changed);
  const VirtualFunctions vfs = virtual_functions(pf);
  EXPECT_EQ(vfs.count, 270U);
  EXPECT_TRUE(vfs.memory_space_enabled);
  EXPECT_EQ(vfs.bdf(id, 0), (Bdf{0x0201}));
  EXPECT_EQ(vfs.bdf(id, 255), (Bdf{0x0300}));
  EXPECT_EQ(vfs.index_of(id, Bdf{0x030e}), 269U);
  EXPECT_EQ(vfs.index_of(id, Bdf{0x030f}), std::nullopt);
  EXPECT_EQ(vfs.index_of(id, id), std::nullopt);
}

TEST(Sriov, VfBarCoversAllVfs) {
  ConfigSpace pf = endpoint();
  const std::uint16_t bar = extended_at(pf, cfg::kExtSriov, cfg::sriov::kVfBar0);
  pf.write(extended_at(pf, cfg::kExtSriov, cfg::sriov::kNumVfs), 3);
  pf.write(extended_at(pf, cfg::kExtSriov, cfg::sriov::kControl), cfg::sriov::kVfEnable);
  EXPECT_TRUE(pf.write(bar, 0x40000).routing_changed);
  EXPECT_EQ(vf_bar(pf, 0).base, 0x40000U);
  EXPECT_EQ(vf_bar(pf, 0).size, 3 * kBarSize);
  EXPECT_EQ(vf_bar(pf, 1).size, 0U);
}

TEST(Sriov, NumVfsBeyondTotalEnablesNoMoreThanThereAre) {
  ConfigSpace pf = endpoint();
  pf.write(extended_at(pf, cfg::kExtSriov, cfg::sriov::kNumVfs), 0xffff);
  pf.write(extended_at(pf, cfg::kExtSriov, cfg::sriov::kControl), cfg::sriov::kVfEnable);
  EXPECT_EQ(virtual_functions(pf).count, 300U);
}

TEST(Dvsec, D5_BodyBelongsToItsOwner) {
  std::uint32_t control = 0;
  ConfigSpace space = endpoint();
  RegisterOwner owner;
  owner.read = [&](std::uint16_t offset) -> std::uint32_t {
    return offset == 0x04 ? 0x01c0f17d : offset == 0x08 ? 0x1 : offset == 0x10 ? control : 0;
  };
  owner.write = [&](std::uint16_t offset, std::uint32_t value, std::uint8_t enables,
                    WriteEffect& effect) {
    if (offset == 0x10 && enables == 0xf) {
      control = value;
      effect.dhi_control_changed = true;
    }
  };
  owner.reset = [&](ResetKind) { control = 0; };
  const std::uint16_t start = space.add(dvsec_capability(0x1c, owner));
  EXPECT_EQ(find_dvsec(space, 0xf17d, 1), start);
  EXPECT_EQ(find_dvsec(space, 0xf17d, 2), std::nullopt);
  const auto at = static_cast<std::uint16_t>(start + 0x10);
  EXPECT_TRUE(space.write(at, 9).dhi_control_changed);
  EXPECT_EQ(space.read(at), 9U);
  EXPECT_FALSE(space.write(start, 0xffffffff).any());
  EXPECT_EQ(space.read(start) & 0xffff, cfg::kExtDvsec);
  space.reset(ResetKind::kFunctionLevel);
  EXPECT_EQ(control, 0U);
}

TEST(Type1, BridgeControlStartsASecondaryBusReset) {
  ConfigSpace port = ConfigSpace::type1({});
  EXPECT_TRUE(port.write(cfg::kBridgeControlDw, cfg::kSecondaryBusReset).secondary_bus_reset);
  EXPECT_FALSE(port.write(cfg::kBridgeControlDw, 0).secondary_bus_reset);
}

TEST(Type1, WindowsAndBusNumbersSayThatTheyChanged) {
  ConfigSpace port = ConfigSpace::type1({});
  EXPECT_TRUE(port.write(cfg::kBusNumbers, 0x020100).bus_numbers_changed);
  EXPECT_TRUE(port.write(cfg::kMemoryWindow, 0x20001000).routing_changed);
  EXPECT_TRUE(port.write(cfg::kPrefetchLimitUpper, 1).routing_changed);
  EXPECT_EQ(port.read(cfg::kPrefetchWindow) & 0x000f000f, 0x00010001U);
}

TEST(MsixAndPm, ControlsKeepWhatIsWritten) {
  ConfigSpace space = endpoint();
  space.write(*space.find(cfg::kCapMsix), cfg::msix::kEnable);
  EXPECT_NE(space.read(*space.find(cfg::kCapMsix)) & cfg::msix::kEnable, 0U);
  EXPECT_EQ(space.read(*space.find(cfg::kCapMsix)) >> 16 & 0x7ff, 31U);
  const auto power =
      static_cast<std::uint16_t>(*space.find(cfg::kCapPowerManagement) + cfg::pm::kControlStatus);
  space.write(power, 3);
  EXPECT_EQ(space.read(power) & 3U, 3U);
}

TEST(Acs, EgressControlVectorHasABitForEachPeer) {
  ConfigSpace port = ConfigSpace::type1({});
  const std::uint16_t start = port.add(acs_capability(40));
  EXPECT_EQ(port.read(static_cast<std::uint16_t>(start + cfg::acs::kControl)) >>
                    cfg::acs::kVectorSizeShift &
                0xffU,
            40U);
  const auto vector = static_cast<std::uint16_t>(start + cfg::acs::kEgressVector);
  EXPECT_TRUE(port.write(vector, 0xffffffff).routing_changed);
  port.write(static_cast<std::uint16_t>(vector + 4), 0xffffffff);
  EXPECT_EQ(port.read(vector), 0xffffffffU);
  EXPECT_EQ(port.read(static_cast<std::uint16_t>(vector + 4)), 0xffU);
}

TEST(Acs, ControlTakesOnlyWhatIsSupported) {
  ConfigSpace port = ConfigSpace::type1({});
  const std::uint16_t start = port.add(acs_capability());
  const auto at = static_cast<std::uint16_t>(start + cfg::acs::kControl);
  EXPECT_TRUE(port.write(at, 0xffff0000).routing_changed);
  EXPECT_EQ(port.read(at) >> 16, port.read(at) & 0xffff);
}

}  // namespace
}  // namespace flitwise::config_space_test
