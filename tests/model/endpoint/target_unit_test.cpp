// SPDX-License-Identifier: Apache-2.0
// The device's side of configuration and MMIO, request by request. docs/host_software.md
#include "endpoint/target_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "endpoint/device_registers.h"
#include "model/endpoint/device_fakes.h"
#include "tlp/tlp_check.h"

namespace flitwise::target_unit_test {
namespace {

constexpr std::uint64_t kBar = std::uint64_t{1} << 40;
constexpr std::array<std::uint8_t, 4> kData = {1, 2, 3, 4};
constexpr std::uint64_t kVfBar = kBar + (std::uint64_t{1} << 20);

/// Keeps what is written, and the reads until the test answers them.
struct FakeOwner final : RegionOwner {
  struct Write {
    MmioPlace place;
    std::vector<std::uint8_t> bytes;
    Time when{};
  };
  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override {
    writes.push_back({place, {bytes, bytes + size}, now});
  }
  bool is_told_early() const override { return is_early; }
  void mmio_read(const MmioRead& read, BarAccess& to, Time /*now*/) override {
    reads.push_back(read);
    replies = &to;
  }
  /// The function, offset and size of the only write.
  std::tuple<unsigned, std::uint64_t, std::size_t> only_write() const {
    EXPECT_EQ(writes.size(), 1U);
    const Write& one = writes.at(0);
    return {one.place.function, one.place.offset, one.bytes.size()};
  }

  std::vector<Write> writes;
  std::vector<MmioRead> reads;
  BarAccess* replies = nullptr;
  bool is_early = false;
};

/// Keeps what software has told the device.
struct FakeSoftware final : SoftwareEffects {
  void numbered(std::uint8_t number) override { bus = number; }
  void command_written(unsigned /*function*/) override {}
  void controlled(const DeviceControl& /*control*/) override {}
  void ecrc_controlled(const EcrcControl& control) override { ecrc = control; }
  void negotiated(const Negotiated& negotiated, bool /*is_software_managed*/) override {
    outcome = negotiated;
  }
  void function_level_reset(unsigned function) override { in_reset = function; }
  bool is_in_reset(unsigned function) const override { return in_reset == function; }
  void translation_written(unsigned /*function*/) override {}
  void interrupts_written() override {}

  unsigned bus = 0;
  EcrcControl ecrc;
  std::optional<Negotiated> outcome;
  std::optional<unsigned> in_reset;
};

/// Sends requests and collects what comes back, with the time at which it may leave.
class TargetUnitTest : public testing::Test {
 protected:
  TargetUnitTest()
      : config_(with_functions(4)),
        sizer_(config_.link, config_.message, config_.device.dhi.bits),
        unit_(config_.device, config_.link, {pool_, sizer_, functions_, control_, output_, events_},
              software_),
        registers_(4, config_.device.functions.bar_size, register_hooks()) {
    registers_.claim(unit_.map());
  }

  static Config with_functions(unsigned count) {
    Config config;
    config.device.functions.count = count;
    return config;
  }
  DeviceRegisters::Hooks register_hooks() {
    return {[this](const HandleCommand& command) { commands_.push_back(command); },
            [this] { ++context_stops_; }};
  }
  /// Of all functions.
  void claim(std::uint64_t offset, std::uint64_t bytes) {
    unit_.map().claim({offset, bytes, 0, 4}, owner_, 7);
  }

  auto errors(const char* kind) const {
    return std::count(events_.counted.begin(), events_.counted.end(), kind);
  }
  /// Everything that leaves because of this packet.
  std::vector<PacketRef> send(const PacketRef& packet) {
    unit_.receive(packet, now_);
    std::vector<PacketRef> out;
    while (!unit_.is_quiet()) {
      now_ += Time::from_ns(2);
      unit_.work(now_);
      unit_.drain(now_, [&](Packet& sent) {
        (sent.tlp.type == TlpType::kMsg ? messages_ : out).push_back(PacketRef(&sent));
        return true;
      });
    }
    return out;
  }
  PacketRef request(TlpType type) {
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->tlp.type = type;
    packet->tlp.length_dw = 1;
    packet->tlp.first_be = 0xf;
    packet->tlp.tag = 7;
    return packet;
  }
  PacketRef config_write(Bdf target, unsigned offset, std::uint32_t value, bool is_type1 = false) {
    PacketRef packet = request(is_type1 ? TlpType::kCfgWr1 : TlpType::kCfgWr0);
    packet->tlp.completer_id = target;
    packet->tlp.register_offset = static_cast<std::uint16_t>(offset);
    for (unsigned byte = 0; byte < 4; ++byte) {
      packet->payload.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
    }
    return packet;
  }
  PacketRef config_read(Bdf target, unsigned offset) {
    PacketRef packet = request(TlpType::kCfgRd0);
    packet->tlp.completer_id = target;
    packet->tlp.register_offset = static_cast<std::uint16_t>(offset);
    return packet;
  }
  PacketRef memory(TlpType type, std::uint64_t address, unsigned length_dw) {
    PacketRef packet = request(type);
    packet->tlp.address = address;
    packet->tlp.is_4dw = true;
    packet->tlp.length_dw = static_cast<std::uint16_t>(length_dw);
    packet->tlp.last_be = length_dw > 1 ? 0xf : 0;
    if (type == TlpType::kMWr) {
      packet->payload.assign(std::size_t{length_dw} * 4, 0x5a);
    }
    return packet;
  }
  void open_bars() {
    const Bdf pf = Bdf::of(1, 0, 0);
    const unsigned sriov = *unit_.space(0).find_extended(cfg::kExtSriov);
    send(config_write(pf, cfg::kBar0 + 4, kBar >> 32));
    send(config_write(pf, sriov + cfg::sriov::kVfBar0, kVfBar & 0xffff'ffff));
    send(config_write(pf, sriov + cfg::sriov::kVfBar0 + 4, kVfBar >> 32));
    send(config_write(pf, sriov + cfg::sriov::kNumVfs, 3));
    send(config_write(pf, sriov + cfg::sriov::kControl,
                      cfg::sriov::kVfEnable | cfg::sriov::kVfMemorySpace));
    send(config_write(pf, cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster));
  }

  /// Advisory Non-Fatal is masked after reset. [LNK-12.9]
  void unmask_advice(unsigned function) {
    const unsigned aer = *unit_.space(function).find_extended(cfg::kExtAer);
    unit_.space(function).write(static_cast<std::uint16_t>(aer + cfg::aer::kCorrectableMask), 0);
  }

  const Config config_;
  PacketPool pool_;
  const PacketSizer sizer_;
  test::RunningFunctions functions_{test::device_of(4)};
  RequestControl control_{128, 128, false, false};
  FakeSoftware software_;
  test::FakeOutput output_;
  test::FakeEvents events_;
  std::vector<HandleCommand> commands_;
  unsigned context_stops_ = 0;
  FakeOwner owner_;
  std::vector<PacketRef> messages_;
  Time now_{};
  TargetUnit unit_;
  DeviceRegisters registers_;
};

TEST_F(TargetUnitTest, AConfigurationReadGivesTheRegisterAfterTheMmioDelay) {
  const std::vector<PacketRef> out = send(config_read(Bdf::of(1, 0, 0), cfg::kVendorId));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]->tlp.type, TlpType::kCplD);
  EXPECT_EQ(out[0]->tlp.tag, 7);
  EXPECT_EQ(out[0]->payload[0] | out[0]->payload[1] << 8, FunctionIds{}.vendor);
  EXPECT_EQ(now_, config_.device.timing.mmio);
}

TEST_F(TargetUnitTest, AWriteOfType0TellsTheBusNumber) {
  send(config_write(Bdf::of(5, 0, 0), cfg::kCommand, 0));
  EXPECT_EQ(software_.bus, 5U);
}

TEST_F(TargetUnitTest, VirtualFunctionsAnswerOnlyOnceEnabled) {
  EXPECT_EQ(send(config_read(Bdf::of(1, 0, 2), 0))[0]->tlp.status, CplStatus::kUR);
  open_bars();
  EXPECT_EQ(send(config_read(Bdf::of(1, 0, 2), 0))[0]->tlp.status, CplStatus::kSC);
  EXPECT_EQ(send(config_read(Bdf::of(1, 0, 4), 0))[0]->tlp.status, CplStatus::kUR);
}

TEST_F(TargetUnitTest, MemoryIsUnsupportedBeforeMemorySpaceIsEnabled) {
  const std::vector<PacketRef> out = send(memory(TlpType::kMRd, 0x1000, 1));
  EXPECT_EQ(out.at(0)->tlp.status, CplStatus::kUR);
  EXPECT_TRUE(send(memory(TlpType::kMWr, 0x1000, 1)).empty());
  EXPECT_EQ(errors("unsupported_request"), 2);
}

TEST_F(TargetUnitTest, EachFunctionHasItsOwnBar) {
  open_bars();
  claim(0x80, 0x40);
  send(memory(TlpType::kMWr, kVfBar + 2 * 0x10000 + 0x80, 2));
  EXPECT_EQ(owner_.only_write(), std::make_tuple(3U, 0x80U, 8U));
  EXPECT_EQ(owner_.writes[0].place.region, 7U);
  send(memory(TlpType::kMWr, kVfBar + 2 * 0x10000 + 0x40, 2));
  EXPECT_EQ(send(memory(TlpType::kMRd, kVfBar + 2 * 0x10000 + 0x40, 1)).at(0)->payload[0], 0x5a);
  EXPECT_EQ(send(memory(TlpType::kMRd, kVfBar + 0x40, 1)).at(0)->payload[0], 0);
}

TEST_F(TargetUnitTest, ByteEnablesSayWhichBytesAreWritten) {
  open_bars();
  const PacketRef packet = memory(TlpType::kMWr, kBar + 0x40, 1);
  packet->tlp.first_be = 0x6;
  send(packet);
  claim(0x80, 0x40);
  const PacketRef to_owner = memory(TlpType::kMWr, kBar + 0x80, 1);
  to_owner->tlp.first_be = 0x6;
  send(to_owner);
  EXPECT_EQ(owner_.only_write(), std::make_tuple(0U, 0x81U, 2U));
  const std::vector<PacketRef> out = send(memory(TlpType::kMRd, kBar + 0x40, 1));
  EXPECT_EQ(out.at(0)->payload, (std::vector<std::uint8_t>{0, 0x5a, 0x5a, 0}));
}

// [LNK-9.10]
TEST_F(TargetUnitTest, ALongReadIsCutAtRcbAndMps) {
  open_bars();
  const std::vector<PacketRef> out = send(memory(TlpType::kMRd, kBar + 0x1040, 240));
  ASSERT_EQ(out.size(), 4U);
  unsigned dws = 0;
  for (const PacketRef& packet : out) {
    EXPECT_LE(packet->tlp.length_dw * 4U, config_.link.mps);
    dws += packet->tlp.length_dw;
  }
  EXPECT_EQ(dws, 240U);
  EXPECT_EQ((0x1040 + out[0]->tlp.length_dw * 4) % 128, 0);
}

// No engine has doorbells there.
TEST_F(TargetUnitTest, TheUpperHalfOfABarReadsZero) {
  open_bars();
  send(memory(TlpType::kMWr, kBar + 0x8008, 2));
  EXPECT_EQ(send(memory(TlpType::kMRd, kBar + 0x8008, 1)).at(0)->payload[0], 0);
}

TEST_F(TargetUnitTest, AWriteOverSeveralRegionsGivesEachOwnerItsBytes) {
  open_bars();
  claim(0x1008, 8);
  const PacketRef packet = memory(TlpType::kMWr, kBar + 0x1000, 6);
  std::iota(packet->payload.begin(), packet->payload.end(), std::uint8_t{0});
  send(packet);
  EXPECT_EQ(owner_.only_write(), std::make_tuple(0U, 0x1008U, 8U));
  EXPECT_EQ(owner_.writes[0].bytes.at(0), 8);
  EXPECT_EQ(send(memory(TlpType::kMRd, kBar + 0x1010, 1)).at(0)->payload[0], 16);
}

// At the edge of the clock at which it takes effect.
TEST_F(TargetUnitTest, AnOwnerMayBeToldOfAWriteAheadOfItsTime) {
  open_bars();
  claim(0x1000, 64);
  owner_.is_early = true;
  now_ = Time::from_us(1) + Time{1};
  EXPECT_FALSE(unit_.receive(memory(TlpType::kMWr, kBar + 0x1000, 6), now_));
  EXPECT_TRUE(unit_.is_quiet());
  const Time due = next_edge(now_ + config_.device.timing.pipeline, config_.device.timing.clock);
  EXPECT_EQ(owner_.only_write(), std::make_tuple(0U, 0x1000U, 24U));
  EXPECT_EQ(owner_.writes[0].when.fs, due.fs);
}

TEST_F(TargetUnitTest, OfAWriteThatIsNotAllItsOwnOrStandsBehindOthersAnOwnerIsToldInTime) {
  open_bars();
  claim(0x1000, 64);
  owner_.is_early = true;
  EXPECT_TRUE(unit_.receive(memory(TlpType::kMWr, kBar + 0x1038, 6), now_));
  EXPECT_TRUE(unit_.receive(memory(TlpType::kMWr, kBar + 0x1000, 6), now_));
  EXPECT_TRUE(owner_.writes.empty());
  unit_.work(now_ + Time::from_us(1));
  EXPECT_EQ(owner_.writes.size(), 2U);
}

TEST_F(TargetUnitTest, APoisonedOrMalformedWriteIsToldToNobodyEarly) {
  open_bars();
  claim(0x1000, 64);
  owner_.is_early = true;
  const PacketRef poisoned = memory(TlpType::kMWr, kBar + 0x1000, 6);
  poisoned->tlp.is_poisoned = true;
  send(poisoned);
  const PacketRef malformed = memory(TlpType::kMWr, kBar + 0x1000, 6);
  malformed->malformed = TlpViolation::kExceedsMps;
  send(malformed);
  EXPECT_TRUE(owner_.writes.empty());
}

TEST_F(TargetUnitTest, AReadIsAnsweredWhenTheLastOwnerHasAnswered) {
  open_bars();
  send(memory(TlpType::kMWr, kBar + 0x1000, 1));
  claim(0x1004, 4);
  unit_.receive(memory(TlpType::kMRd, kBar + 0x1000, 2), now_);
  now_ += Time::from_us(1);
  unit_.work(now_);
  ASSERT_EQ(owner_.reads.size(), 1U);
  EXPECT_EQ(unit_.next_work(now_), Time::never());
  EXPECT_FALSE(unit_.is_quiet());
  EXPECT_EQ(unit_.waiting(), "1 reads wait for their data");

  now_ += Time::from_us(1);
  owner_.replies->answer(owner_.reads[0], kData.data(), now_);
  EXPECT_THAT(output_.wakes, testing::ElementsAre(now_));
  std::vector<PacketRef> out;
  unit_.drain(now_, [&](Packet& sent) {
    out.push_back(PacketRef(&sent));
    return true;
  });
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]->payload, (std::vector<std::uint8_t>{0x5a, 0x5a, 0x5a, 0x5a, 1, 2, 3, 4}));
  EXPECT_TRUE(unit_.is_quiet());
}

TEST_F(TargetUnitTest, LNK_10_6_AReadIsForgottenWithTheLink) {
  open_bars();
  claim(0x1000, 4);
  unit_.receive(memory(TlpType::kMRd, kBar + 0x1000, 1), now_);
  unit_.work(now_ + Time::from_us(1));
  unit_.discard();
  EXPECT_TRUE(unit_.is_quiet());
  owner_.replies->answer(owner_.reads.at(0), kData.data(), now_);
  EXPECT_TRUE(unit_.is_quiet());
}

TEST_F(TargetUnitTest, TheOrderToStopAContextReadsBackUntilItIsDone) {
  open_bars();
  const std::uint64_t order = ContextStop{Bdf::of(1, 0, 2), Pasid{5}}.encode();
  const PacketRef packet = memory(TlpType::kMWr, kBar + ContextStop::kOffset, 2);
  std::memcpy(packet->payload.data(), &order, sizeof order);
  send(packet);
  EXPECT_EQ(context_stops_, 1U);
  ASSERT_TRUE(registers_.context_stop());
  EXPECT_EQ(registers_.context_stop()->function, Bdf::of(1, 0, 2));
  EXPECT_EQ(registers_.context_stop()->pasid, Pasid{5});
  const auto top = [&] {
    return send(memory(TlpType::kMRd, kBar + ContextStop::kOffset + 4, 1)).at(0)->payload[3] >> 7;
  };
  EXPECT_EQ(top(), 1);
  registers_.context_stopped();
  EXPECT_EQ(top(), 0);
}

TEST_F(TargetUnitTest, D12_TheHandleBlockTakesCommands) {
  open_bars();
  const PacketRef packet = memory(TlpType::kMWr, kBar + handle_register::kHandle, 5);
  packet->payload.assign(20, 0);
  packet->payload[0] = 9;
  packet->payload[16] = handle_register::kDeallocOne;
  send(packet);
  ASSERT_EQ(commands_.size(), 1U);
  EXPECT_EQ(std::get<DeallocMessage>(commands_[0]).dhi, Dhi{9});
  EXPECT_EQ(send(memory(TlpType::kMRd, kBar + handle_register::kHandle, 1)).at(0)->payload[0], 9);
}

TEST_F(TargetUnitTest, D5_EnablingTheDvsecActivatesHandlesWithItsRange) {
  const unsigned start = *unit_.space(0).find_extended(cfg::kExtDvsec);
  send(config_write(Bdf::of(1, 0, 0), start + dvsec::kRange, 15U << 16));
  send(config_write(Bdf::of(1, 0, 0), start + dvsec::kControl, dvsec::kEnable | 3U << 16));
  ASSERT_TRUE(software_.outcome);
  EXPECT_TRUE(software_.outcome->is_active());
  EXPECT_EQ(to_int(software_.outcome->range.upper), 15);
  EXPECT_EQ(software_.outcome->epoch, 3);
}

TEST_F(TargetUnitTest, PoisonedAndMalformedWritesChangeNothingAndAreBooked) {
  open_bars();
  claim(0x40, 8);
  const PacketRef poisoned = memory(TlpType::kMWr, kBar + 0x40, 1);
  poisoned->tlp.is_poisoned = true;
  send(poisoned);
  const PacketRef malformed = memory(TlpType::kMWr, kBar + 0x40, 2);
  malformed->tlp.last_be = 0;
  send(malformed);
  EXPECT_TRUE(owner_.writes.empty());
  EXPECT_EQ(errors("poisoned_tlp"), 1);
  EXPECT_EQ(errors("malformed_tlp"), 1);
}

TEST_F(TargetUnitTest, OtherRequestsAreUnsupported) {
  open_bars();
  EXPECT_EQ(send(request(TlpType::kIORd)).at(0)->tlp.status, CplStatus::kUR);
  const PacketRef atomic = memory(TlpType::kFetchAdd, kBar + 0x40, 1);
  atomic->payload.assign(4, 1);
  EXPECT_EQ(send(atomic).at(0)->tlp.status, CplStatus::kUR);
}

TEST_F(TargetUnitTest, AnErrorIsReportedOnlyWhereSoftwareAskedForIt) {
  send(memory(TlpType::kMWr, 0x1000, 1));
  EXPECT_TRUE(messages_.empty());
  const unsigned pcie = *unit_.space(0).find(cfg::kCapPcie);
  send(config_write(Bdf::of(1, 0, 0), pcie + cfg::pcie::kDeviceControl,
                    cfg::pcie::kReportUnsupported | cfg::pcie::kReportNonFatal));
  send(memory(TlpType::kMWr, 0x1000, 1));
  ASSERT_EQ(messages_.size(), 1U);
  EXPECT_EQ(messages_[0]->tlp.message_code, msg::kErrNonFatal);
}

// [LNK-9.19]
TEST_F(TargetUnitTest, TheHeaderLogHoldsTheHeaderAsItWasOnTheWire) {
  open_bars();
  unmask_advice(0);
  const PacketRef wide = memory(TlpType::kMRd, 0x12'3456'7000, 2);
  wide->tlp.requester_id = Bdf::of(0, 1, 0);
  send(wide);
  const unsigned log = *unit_.space(0).find_extended(cfg::kExtAer) + cfg::aer::kHeaderLog;
  const auto logged = [&](unsigned dw) {
    return unit_.space(0).read(static_cast<std::uint16_t>(log + 4 * dw));
  };
  EXPECT_EQ(logged(0), 0x2000'0002U);
  EXPECT_EQ(logged(1), 0x0008'07ffU);
  EXPECT_EQ(logged(2), 0x12U);
  EXPECT_EQ(logged(3), 0x3456'7000U);
}

TEST_F(TargetUnitTest, TheHeaderLogOfAHeaderOfThreeDwEndsWithZero) {
  open_bars();
  unmask_advice(0);
  const PacketRef narrow = memory(TlpType::kMRd, 0x1000, 1);
  narrow->tlp.is_4dw = false;
  send(narrow);
  const unsigned log = *unit_.space(0).find_extended(cfg::kExtAer) + cfg::aer::kHeaderLog;
  EXPECT_EQ(unit_.space(0).read(static_cast<std::uint16_t>(log)), 0x0000'0001U);
  EXPECT_EQ(unit_.space(0).read(static_cast<std::uint16_t>(log + 8)), 0x1000U);
  EXPECT_EQ(unit_.space(0).read(static_cast<std::uint16_t>(log + 12)), 0U);
}

// [LNK-9.19]
TEST_F(TargetUnitTest, AnErrorOfAVirtualFunctionIsBookedThereAndReportedAsThePfAllows) {
  open_bars();
  const unsigned pcie = *unit_.space(0).find(cfg::kCapPcie);
  send(config_write(Bdf::of(1, 0, 0), pcie + cfg::pcie::kDeviceControl,
                    cfg::pcie::kReportUnsupported | cfg::pcie::kReportCorrectable));
  unmask_advice(2);
  const PacketRef atomic = memory(TlpType::kFetchAdd, kVfBar + 0x10000 + 0x40, 1);
  atomic->payload.assign(4, 1);
  send(atomic);
  const auto status_of = [&](unsigned function) {
    const unsigned aer = *unit_.space(function).find_extended(cfg::kExtAer);
    return unit_.space(function).read(
        static_cast<std::uint16_t>(aer + cfg::aer::kUncorrectableStatus));
  };
  EXPECT_EQ(status_of(0), 0U);
  EXPECT_EQ(status_of(2), 1U << 20);
  ASSERT_EQ(messages_.size(), 1U);
  EXPECT_EQ(messages_[0]->tlp.requester_id, Bdf::of(1, 0, 2));
  EXPECT_EQ(messages_[0]->tlp.message_code, msg::kErrCor);
}

TEST_F(TargetUnitTest, LNK_12_4_PmeTurnOffIsAnsweredWithPmeToAck) {
  open_bars();
  const PacketRef turn_off = pool_.make(PacketKind::kTlp);
  turn_off->tlp.type = TlpType::kMsg;
  turn_off->tlp.routing = MsgRouting::kBroadcast;
  turn_off->tlp.message_code = msg::kPmeTurnOff;
  EXPECT_TRUE(send(turn_off).empty());
  ASSERT_EQ(messages_.size(), 1U);
  EXPECT_EQ(messages_[0]->tlp.message_code, msg::kPmeToAck);
  EXPECT_EQ(messages_[0]->tlp.routing, MsgRouting::kGathered);
  EXPECT_EQ(messages_[0]->tlp.requester_id, Bdf::of(1, 0, 0));
  EXPECT_TRUE(events_.counted.empty());
}

TEST_F(TargetUnitTest, LNK_12_5_TheSlotPowerLimitIsCapturedAndOutlivesAnFlr) {
  open_bars();
  const PacketRef limit = pool_.make(PacketKind::kTlp);
  limit->tlp.type = TlpType::kMsgD;
  limit->tlp.routing = MsgRouting::kLocal;
  limit->tlp.message_code = msg::kSetSlotPowerLimit;
  limit->tlp.length_dw = 1;
  limit->payload = {0xfa, 0x01, 0, 0};  // 250 x 0.1 W
  send(limit);
  const auto at =
      static_cast<std::uint16_t>(*unit_.space(0).find(cfg::kCapPcie) + cfg::pcie::kDeviceCap);
  EXPECT_EQ(unit_.space(0).read(at) >> 18 & 0x3ffU, 0x1faU);
  unit_.reset(0, ResetKind::kFunctionLevel);
  EXPECT_EQ(unit_.space(0).read(at) >> 18 & 0x3ffU, 0x1faU);
  unit_.reset(0, ResetKind::kConventional);
  EXPECT_EQ(unit_.space(0).read(at) >> 18 & 0x3ffU, 0U);
}

TEST_F(TargetUnitTest, LNK_12_6_SoftwareEnablesEcrcAtThePf) {
  open_bars();
  const unsigned control = *unit_.space(0).find_extended(cfg::kExtAer) + cfg::aer::kControl;
  send(config_write(Bdf::of(1, 0, 0), control, cfg::aer::kEcrcCheckEnable));
  EXPECT_TRUE(software_.ecrc.checks);
  EXPECT_FALSE(software_.ecrc.generates);
  send(config_write(Bdf::of(1, 0, 0), control, cfg::aer::kEcrcGenerationEnable));
  EXPECT_FALSE(software_.ecrc.checks);
  EXPECT_TRUE(software_.ecrc.generates);
}

TEST_F(TargetUnitTest, LNK_12_10_ATimeoutIsBookedWhereTheRequestCameFrom) {
  open_bars();
  unit_.report_timeout(2, now_);
  const unsigned aer = *unit_.space(2).find_extended(cfg::kExtAer);
  EXPECT_EQ(unit_.space(2).read(static_cast<std::uint16_t>(aer + cfg::aer::kUncorrectableStatus)),
            1U << 14);
  EXPECT_EQ(unit_.space(0).read(static_cast<std::uint16_t>(aer + cfg::aer::kUncorrectableStatus)),
            0U);
}

TEST_F(TargetUnitTest, LNK_9_24_TheCompleterIsTheFunctionThatWasAsked) {
  open_bars();
  const auto completer_of = [&](const PacketRef& request) {
    return send(request).at(0)->tlp.completer_id;
  };
  EXPECT_EQ(completer_of(memory(TlpType::kMRd, kBar + 0x40, 1)), Bdf::of(1, 0, 0));
  EXPECT_EQ(completer_of(memory(TlpType::kMRd, kVfBar + 0x40, 1)), Bdf::of(1, 0, 1));
  EXPECT_EQ(completer_of(memory(TlpType::kMRd, kVfBar + 2 * 0x10000 + 0x40, 1)), Bdf::of(1, 0, 3));
  const PacketRef atomic = memory(TlpType::kFetchAdd, kVfBar + 0x10000 + 0x40, 1);
  atomic->payload.assign(4, 1);
  EXPECT_EQ(completer_of(atomic), Bdf::of(1, 0, 2)) << "refused";
  EXPECT_EQ(completer_of(memory(TlpType::kMRd, 0x1000, 1)), Bdf::of(1, 0, 0)) << "nobody's";
  EXPECT_EQ(completer_of(config_read(Bdf::of(1, 0, 3), 0)), Bdf::of(1, 0, 3));
}

TEST_F(TargetUnitTest, WhatWaitsForTheLinkIsNamed) {
  EXPECT_EQ(unit_.waiting(), "");
  unit_.receive(config_read(Bdf::of(1, 0, 0), cfg::kVendorId), now_);
  EXPECT_EQ(unit_.waiting(), "1 requests wait to be served");
  now_ += Time::from_ns(1000);
  unit_.work(now_);
  unit_.drain(now_, [](Packet&) { return false; });
  EXPECT_EQ(unit_.waiting(), "1 answers wait for room in the link's queues");
}

TEST_F(TargetUnitTest, D4_AFunctionInResetAsksForARetry) {
  const unsigned pcie = *unit_.space(0).find(cfg::kCapPcie);
  EXPECT_EQ(send(config_write(Bdf::of(1, 0, 0), pcie + cfg::pcie::kDeviceControl,
                              cfg::pcie::kInitiateFlr))
                .at(0)
                ->tlp.status,
            CplStatus::kSC);
  EXPECT_EQ(software_.in_reset, 0U);
  EXPECT_EQ(send(config_read(Bdf::of(1, 0, 0), 0)).at(0)->tlp.status, CplStatus::kRRS);
}

}  // namespace
}  // namespace flitwise::target_unit_test
