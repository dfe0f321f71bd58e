// SPDX-License-Identifier: Apache-2.0
// The host's use of handles, message by message: store times and epochs. [DHI D3] [DHI D16]
#include "root_complex/host_handles.h"

#include <gtest/gtest.h>

#include <vector>

namespace flitwise::host_handles_test {
namespace {

constexpr Bdf kFunction = Bdf::of(1, 0, 0);
constexpr BusRange kBuses{1, 1};
constexpr Dhi kDhi{7};
constexpr Time kNow = Time::from_us(1);
constexpr Time kByHandle = Time::from_ns(50);
constexpr Time kByDomain = Time::from_ns(70);

class HostHandlesTest : public ::testing::Test {
 protected:
  void make(DhiForm form = DhiForm::kRidDirect, std::uint8_t epoch = 0) {
    Config config;
    config.link.identity = Identity::kDhi;
    config.link.dhi_form = form;
    config.host.dhi.storage.timing.by_handle = kByHandle;
    config.host.dhi.storage.timing.by_domain = kByDomain;
    handles_ = std::make_unique<HostHandles>(config.host.dhi, form, nullptr, pool_);
    handles_->table().add_partition({kBuses, HandleRange::of_bits(4), epoch});
    form_ = {Identity::kDhi, form, 4};
  }
  Time alloc(Dhi dhi, Time now, std::uint8_t epoch = 0) {
    PacketRef packet = pool_.make(PacketKind::kTlp);
    write_dhi_message(*packet, kFunction,
                      AllocMessage{dhi, {kFunction, Pasid{1}, false, false}, false, 0, epoch});
    return handles_->receive(*packet, kBuses, false, now, answers_);
  }
  static Tlp message(std::uint8_t code) {
    Tlp tlp;
    tlp.type = TlpType::kMsgD;
    tlp.message_code = code;
    return tlp;
  }
  HostHandles::Lookup look_up(Dhi dhi, Time now) {
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->tlp.type = TlpType::kMWr;
    apply_identity(packet->tlp, form_, {kFunction, Pasid{1}, false, false}, dhi);
    return handles_->resolve(*packet, *handle_of(packet->tlp, form_), kBuses, now, answers_);
  }

  PacketPool pool_;
  std::vector<PacketRef> answers_;
  std::unique_ptr<HostHandles> handles_;
  IdentityForm form_;
};

// [DHI D3] [DHI D8]
TEST_F(HostHandlesTest, D3_UseWaitsUntilItsEntryIsWritten) {
  make();
  EXPECT_EQ(alloc(kDhi, kNow), kByHandle);
  const Time soon = kNow + Time::from_ns(20);
  EXPECT_EQ(look_up(kDhi, soon).latency, Time::from_ns(30) + kByHandle);
  EXPECT_TRUE(look_up(kDhi, soon).resolution);
  EXPECT_EQ(look_up(kDhi, kNow + kByHandle).latency, kByHandle);
}

// [DHI D3]
TEST_F(HostHandlesTest, D3_OtherHandlesDoNotWaitForAStore) {
  make();
  alloc(Dhi{1}, kNow);
  alloc(kDhi, kNow + kByHandle);
  EXPECT_EQ(look_up(Dhi{1}, kNow + kByHandle).latency, kByHandle);
}

// [DHI D3] [DHI D21]
TEST_F(HostHandlesTest, D21_SearchByDomainTakesItsOwnTime) {
  make();
  alloc(kDhi, kNow);
  const Tlp response = message(msg::kPrgResponse);
  const HostHandles::Name known = handles_->name_for(response, {kFunction, Pasid{1}, false, false});
  EXPECT_EQ(known.dhi, kDhi);
  EXPECT_EQ(known.latency, kByDomain);
  EXPECT_FALSE(handles_->name_for(response, {kFunction, Pasid{2}, false, false}).dhi);
}

// A message by handle may reach a device after the handle has gone to another domain: the host is
// told whose Invalidate Request that was, and sends it again in full. [DHI D21]
TEST_F(HostHandlesTest, D21_AnInvalidationWhoseHandleChangesHandsGoesAgainInFull) {
  make();
  std::vector<std::uint8_t> strayed;
  handles_->on_strayed([&](Bdf, std::uint8_t itag) { strayed.push_back(itag); });
  alloc(kDhi, kNow);
  Tlp request = message(msg::kInvalidateRequest);
  request.tag = 3;
  const DeviceIdentity first{kFunction, Pasid{1}, false, false};
  EXPECT_EQ(handles_->name_for(request, first).dhi, kDhi);
  PacketRef packet = pool_.make(PacketKind::kTlp);
  write_dhi_message(*packet, kFunction,
                    AllocMessage{kDhi, {kFunction, Pasid{2}, false, false}, false, 0, 0});
  handles_->receive(*packet, kBuses, false, kNow, answers_);
  EXPECT_EQ(strayed, std::vector<std::uint8_t>{3});
  handles_->name_in_full(kFunction, 3);
  const HostHandles::Name again = handles_->name_for(request, first);
  EXPECT_TRUE(again.is_full);
  EXPECT_FALSE(again.dhi);
}

// [DHI D16]
TEST_F(HostHandlesTest, D16_ErrorCarriesTheEpochOfTheDevice) {
  make(DhiForm::kPrefix, 9);
  EXPECT_FALSE(look_up(kDhi, kNow).resolution);
  ASSERT_EQ(answers_.size(), 1U);
  const Packet& answer = *answers_[0];
  const DhiMessage message =
      parse_dhi_message(answer.tlp, answer.payload.data(), answer.payload.size());
  ASSERT_TRUE(std::holds_alternative<HandleErrorMessage>(message));
  EXPECT_EQ(std::get<HandleErrorMessage>(message).epoch, 9);
  EXPECT_EQ(std::get<HandleErrorMessage>(message).dhi, kDhi);
}

// [DHI-02] [DHI D16]
TEST_F(HostHandlesTest, D16_ErrorGoesToTheOneDeviceWhereTheRequesterIdIsTheHandle) {
  make(DhiForm::kRidDirect, 9);
  EXPECT_FALSE(look_up(Dhi{200}, kNow).resolution);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0]->tlp.message_dw2 >> 16, Bdf::of(1, 0, 0).value);
  const DhiMessage message =
      parse_dhi_message(answers_[0]->tlp, answers_[0]->payload.data(), answers_[0]->payload.size());
  EXPECT_EQ(std::get<HandleErrorMessage>(message).epoch, 9);
}

// [DHI D2] [DHI D16]
TEST_F(HostHandlesTest, D16_ErrorBehindASwitchGoesToTheDeviceThatHasTheHandle) {
  make(DhiForm::kRidFabric);
  handles_->table().add_partition({{2, 3}, {Dhi{16}, Dhi{31}}, 4});
  const auto look_up_below = [&](Dhi dhi) {
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->tlp.type = TlpType::kMWr;
    answers_.clear();
    handles_->resolve(*packet, dhi, {1, 3}, kNow, answers_);
  };
  look_up_below(Dhi{17});
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0]->tlp.message_dw2 >> 16, Bdf::of(2, 0, 0).value);
  look_up_below(Dhi{32});
  EXPECT_TRUE(answers_.empty()) << "nobody has it";
}

}  // namespace
}  // namespace flitwise::host_handles_test
