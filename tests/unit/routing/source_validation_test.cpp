// SPDX-License-Identifier: Apache-2.0
// What a downstream port lets through: buses, handles, and what a legacy switch leaks.
#include "routing/request_rules.h"

#include <gtest/gtest.h>

namespace flitwise::source_validation_test {
namespace {

class SourceValidation : public testing::Test {
 protected:
  SourceValidation() {
    port_.secondary = 3;
    port_.subordinate = 4;
    port_.source_validation = true;
    form_.identity = Identity::kDhi;
    form_.dhi_form = DhiForm::kRidFabric;
    form_.handle_bits = 8;
    handles_.add({3, 3}, {Dhi{16}, Dhi{31}});
  }
  static Tlp from(Bdf requester) {
    Tlp tlp;
    tlp.type = TlpType::kMWr;
    tlp.requester_id = requester;
    return tlp;
  }
  Tlp with_handle(unsigned handle, Bdf bdf = Bdf::of(3, 0, 0)) const {
    Tlp tlp;
    tlp.type = TlpType::kMWr;
    apply_identity(tlp, form_, {bdf, Pasid{1}}, Dhi{static_cast<std::uint16_t>(handle)});
    return tlp;
  }
  SourceVerdict check(const Tlp& tlp, SwitchMode mode = SwitchMode::kHandleAware) const {
    return check_source(tlp, port_, mode, form_, handles_);
  }
  Bridge port_;
  IdentityForm form_;
  HandleOwners handles_;
};

TEST_F(SourceValidation, D14_BusOfTheRequesterIdLiesBehindThePort) {
  EXPECT_EQ(check(from(Bdf::of(3, 0, 0))), SourceVerdict::kPass);
  EXPECT_EQ(check(from(Bdf::of(4, 31, 7))), SourceVerdict::kPass);
  EXPECT_EQ(check(from(Bdf::of(2, 0, 0))), SourceVerdict::kForeignBus);
  EXPECT_EQ(check(from(Bdf::of(5, 0, 0))), SourceVerdict::kForeignBus);
}

TEST_F(SourceValidation, UnassignedPortOwnsNoBus) {
  port_.secondary = port_.subordinate = 0;
  EXPECT_EQ(check(from(Bdf::of(0, 0, 0))), SourceVerdict::kForeignBus);
}

TEST_F(SourceValidation, CompletionsAreNotChecked) {
  Tlp tlp = from(Bdf::of(9, 0, 0));
  tlp.type = TlpType::kCplD;
  EXPECT_EQ(check(tlp), SourceVerdict::kPass);
}

TEST_F(SourceValidation, SwitchedOffLetsForeignBusesThrough) {
  port_.source_validation = false;
  EXPECT_EQ(check(from(Bdf::of(9, 0, 0))), SourceVerdict::kPass);
}

TEST_F(SourceValidation, D23_AwareSwitchChecksTheRangeOfHandles) {
  EXPECT_EQ(check(with_handle(16)), SourceVerdict::kPass);
  EXPECT_EQ(check(with_handle(31)), SourceVerdict::kPass);
  EXPECT_EQ(check(with_handle(15)), SourceVerdict::kForeignHandle);
  EXPECT_EQ(check(with_handle(32)), SourceVerdict::kForeignHandle);
  handles_ = {};
  EXPECT_EQ(check(with_handle(16)), SourceVerdict::kForeignHandle);
}

TEST_F(SourceValidation, S1_LegacySwitchTakesTheHandleForABdf) {
  EXPECT_EQ(check(with_handle(16), SwitchMode::kLegacy), SourceVerdict::kForeignBus);
  port_.source_validation = false;
  EXPECT_EQ(check(with_handle(99), SwitchMode::kLegacy), SourceVerdict::kUncheckedHandle);
}

TEST_F(SourceValidation, S1_LegacySwitchLeaksHandlesThatLookLikeItsBuses) {
  form_.handle_bits = 12;
  // Handle 300h reads as 03:00.0, which lies behind the port whoever owns the handle.
  EXPECT_EQ(check(with_handle(0x300), SwitchMode::kLegacy), SourceVerdict::kUncheckedHandle);
  EXPECT_EQ(check(with_handle(0x300)), SourceVerdict::kForeignHandle);
}

TEST_F(SourceValidation, D23_TagFormKeepsTheBdfAndBothAreChecked) {
  form_.dhi_form = DhiForm::kTag;
  EXPECT_EQ(check(with_handle(16)), SourceVerdict::kPass);
  EXPECT_EQ(check(with_handle(40)), SourceVerdict::kForeignHandle);
  EXPECT_EQ(check(with_handle(16, Bdf::of(9, 0, 0))), SourceVerdict::kForeignBus);
  EXPECT_EQ(check(with_handle(40), SwitchMode::kLegacy), SourceVerdict::kUncheckedHandle);
}

TEST_F(SourceValidation, D16_ErrorsOfTheSwitchGoToTheOwnerOfTheHandle) {
  HandleOwners& owners = handles_;
  owners.learn(Dhi{20}, Bdf::of(3, 0, 1), true);
  owners.learn(Dhi{40}, Bdf::of(3, 0, 2), true);
  EXPECT_EQ(completion_target(with_handle(20), form_, &owners), Bdf::of(3, 0, 1));
  EXPECT_EQ(completion_target(with_handle(40), form_, &owners), (Bdf{40}));
  EXPECT_EQ(completion_target(with_handle(20), form_, nullptr), (Bdf{20}));
  EXPECT_EQ(completion_target(from(Bdf::of(3, 0, 4)), form_, &owners), Bdf::of(3, 0, 4));
  owners.learn(Dhi{20}, Bdf::of(3, 0, 1), false);
  EXPECT_EQ(completion_target(with_handle(20), form_, &owners), (Bdf{20}));
  owners.learn(Dhi{16}, Bdf::of(3, 0, 1), true);
  owners.forget_all(Bdf::of(3, 0, 0));
  EXPECT_EQ(owners.owner_of(Dhi{16}), std::nullopt);
}

// Two devices behind one port of a switch.
TEST_F(SourceValidation, S1_ADeviceChangesNoOwnerOfAnothersHandles) {
  handles_.add({4, 4}, {Dhi{32}, Dhi{47}});
  const Bdf owner = Bdf::of(4, 0, 1), other = Bdf::of(3, 0, 1);
  handles_.learn(Dhi{40}, owner, true);
  handles_.learn(Dhi{40}, other, true);
  EXPECT_EQ(handles_.owner_of(Dhi{40}), owner);
  handles_.learn(Dhi{40}, other, false);
  handles_.forget_all(other);
  EXPECT_EQ(handles_.owner_of(Dhi{40}), owner);
}

}  // namespace
}  // namespace flitwise::source_validation_test
