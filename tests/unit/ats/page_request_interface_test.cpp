// SPDX-License-Identifier: Apache-2.0
// The Page Request Interface. Catalogue ids in the names.
#include "ats/page_request_interface.h"

#include <gtest/gtest.h>

#include <vector>

#include "flitwise/error.h"

namespace flitwise::page_request_interface_test {
namespace {

constexpr Bdf kPf = Bdf::of(1, 0, 0), kVf = Bdf::of(1, 0, 1);
constexpr PageWish kRead{0x1234'5678, true, false, false, false};

class PageRequests : public testing::Test {
 protected:
  explicit PageRequests(const PageRequestConfig& config = {1000, true, true}) : pri(config) {
    pri.write_allocation(1000);
    pri.write_control(true, false);
  }

  /// A group whose requests are all out.
  std::uint16_t group(unsigned pages = 1, Bdf function = kPf, OptionalId<Pasid> pasid = {}) {
    const std::uint16_t index = pri.open_group(function, pasid, pages);
    for (unsigned page = 0; page < pages; ++page) {
      last = pri.next_request(index, kRead);
    }
    return index;
  }
  PrgOutcome answer(std::uint16_t index, unsigned code = 0, Bdf function = kPf,
                    OptionalId<Pasid> pasid = {}) {
    return pri.respond({{}, function, index, static_cast<std::uint8_t>(code), pasid});
  }

  /// So many credits are free, and no more.
  bool has_free(unsigned credits) const {
    return pri.can_open(credits) && !pri.can_open(credits + 1);
  }

  PageRequestInterface pri;
  PageRequest last;
};

TEST_F(PageRequests, PRI_01_ASingleRequestIsTheLastOfItsGroup) {
  const std::uint16_t index = group();
  EXPECT_TRUE(last.is_last && last.read && !last.write);
  EXPECT_EQ(last.page, 0x1234'5000U);
  EXPECT_EQ(last.function, kPf);
  EXPECT_EQ(last.prg_index, index);
  EXPECT_EQ(answer(index), PrgOutcome::kSuccess);
  EXPECT_TRUE(has_free(1000));
}

TEST_F(PageRequests, PRI_02_OneResponseForAGroupOfThree) {
  const std::uint16_t index = pri.open_group(kPf, {}, 3);
  EXPECT_FALSE(pri.next_request(index, kRead).is_last);
  EXPECT_FALSE(pri.next_request(index, kRead).is_last);
  EXPECT_TRUE(pri.next_request(index, kRead).is_last);
  EXPECT_THROW(pri.next_request(index, kRead), SimulationError);
  EXPECT_TRUE(has_free(997));
  EXPECT_EQ(answer(index), PrgOutcome::kSuccess);
  EXPECT_TRUE(has_free(1000));
}

TEST_F(PageRequests, PRI_03_GroupsInterleave) {
  const std::uint16_t one = pri.open_group(kPf, {}, 2), two = pri.open_group(kPf, {}, 2);
  EXPECT_NE(one, two);
  pri.next_request(one, kRead);
  pri.next_request(two, kRead);
  EXPECT_EQ(pri.next_request(two, kRead).prg_index, two);
  EXPECT_EQ(answer(one), PrgOutcome::kUnexpected);  // Its last request is not out yet.
  EXPECT_EQ(answer(two), PrgOutcome::kSuccess);
  pri.next_request(one, kRead);
  EXPECT_EQ(answer(one), PrgOutcome::kSuccess);
}

TEST_F(PageRequests, PRI_06_AStopMarkerTakesNoCreditAndLeavesGroupsAlone) {
  const std::uint16_t index = group(1, kPf, Pasid{7});
  const PageRequest marker = PageRequestInterface::stop_marker(kPf, Pasid{7});
  EXPECT_TRUE(marker.is_stop_marker());
  EXPECT_TRUE(has_free(999));
  EXPECT_EQ(pri.outstanding_groups(), 1U);
  EXPECT_EQ(answer(index, 0, kPf, Pasid{7}), PrgOutcome::kSuccess);
  EXPECT_EQ(pri.outstanding_groups(), 0U);
}

TEST_F(PageRequests, PRI_07_AStopMarkerCarriesItsPasid) {
  const Tlp tlp = page_request_tlp(PageRequestInterface::stop_marker(kPf, Pasid{7}));
  EXPECT_TRUE(tlp.has_pasid);
  EXPECT_TRUE(page_request_of(tlp).is_stop_marker());
}

TEST_F(PageRequests, PRI_09_InvalidRequestEndsTheGroupAlone) {
  const std::uint16_t index = group();
  EXPECT_EQ(answer(index, 1), PrgOutcome::kInvalidRequest);
  EXPECT_TRUE(pri.can_open(1));
  EXPECT_FALSE(pri.has_response_failure());
}

TEST_F(PageRequests, PRI_10_UnusedCodesFail) {
  EXPECT_EQ(answer(group(), 7), PrgOutcome::kFailure);
  EXPECT_TRUE(pri.has_response_failure());
}

TEST_F(PageRequests, PRI_11_AFailureTurnsTheInterfaceOffUntilItIsEnabledAnew) {
  const std::uint16_t one = group(), two = group();
  EXPECT_EQ(answer(one, 0xf), PrgOutcome::kFailure);
  EXPECT_TRUE(pri.has_response_failure());
  EXPECT_FALSE(pri.can_open(1));
  EXPECT_EQ(answer(two), PrgOutcome::kIgnored);
  EXPECT_FALSE(pri.has_unexpected_index());
  pri.write_status(true, false);
  EXPECT_FALSE(pri.has_response_failure());
  EXPECT_FALSE(pri.can_open(1));  // Clearing the bit is not enabling.
  pri.write_control(false, false);
  EXPECT_TRUE(pri.is_stopped());
  pri.write_control(true, false);
  EXPECT_TRUE(pri.can_open(1000));
}

TEST_F(PageRequests, PRI_11_AFailureNeedNotNameAGroup) {
  group();
  EXPECT_EQ(answer(500, 0xf), PrgOutcome::kFailure);
  pri.write_control(false, false);
  pri.write_control(true, false);
  EXPECT_TRUE(has_free(1000));
}

TEST_F(PageRequests, PRI_12_NoMoreRequestsThanAllocated) {
  group(999);
  EXPECT_TRUE(pri.can_open(1));
  EXPECT_FALSE(pri.can_open(2));
  const std::uint16_t index = group();
  EXPECT_FALSE(pri.can_open(1));
  EXPECT_THROW(pri.open_group(kPf, {}, 1), SimulationError);
  answer(index);
  EXPECT_TRUE(pri.can_open(1));
}

TEST_F(PageRequests, PRI_20_StoppedComesWhenAllIsAnswered) {
  const std::uint16_t one = group(), two = pri.open_group(kPf, {}, 2);
  pri.next_request(two, kRead);
  pri.write_control(false, false);
  EXPECT_FALSE(pri.is_enabled());
  EXPECT_FALSE(pri.is_stopped());
  EXPECT_FALSE(pri.can_open(1));
  answer(one);
  EXPECT_FALSE(pri.is_stopped());
  EXPECT_TRUE(pri.next_request(two, kRead).is_last);  // Queued before: still goes.
  answer(two);
  EXPECT_TRUE(pri.is_stopped());
}

TEST_F(PageRequests, PRI_20_WithNothingOutItStopsAtOnce) {
  pri.write_control(false, false);
  EXPECT_TRUE(pri.is_stopped());
}

TEST_F(PageRequests, PRI_21_AFailureWhileStoppingStopsAtOnce) {
  const std::uint16_t one = group();
  group();
  pri.write_control(false, false);
  EXPECT_EQ(answer(one, 0xf), PrgOutcome::kFailure);
  EXPECT_TRUE(pri.is_stopped());
}

TEST_F(PageRequests, PRI_22_ResetDoesNothingWhileEnabled) {
  group(5);
  pri.write_control(true, true);
  EXPECT_TRUE(has_free(995));
  EXPECT_TRUE(pri.is_enabled());
}

TEST_F(PageRequests, PRI_23_ResetClearsCreditsAndGroups) {
  const std::uint16_t index = group(5);
  pri.write_control(false, false);
  EXPECT_FALSE(pri.is_stopped());
  pri.write_control(false, true);
  EXPECT_TRUE(pri.is_stopped());
  EXPECT_EQ(answer(index), PrgOutcome::kUnexpected);
  pri.write_control(true, false);
  EXPECT_TRUE(has_free(1000));
}

TEST_F(PageRequests, PRI_23_ResetActsInTheWriteThatDisables) {
  group(5);
  pri.write_control(false, true);
  EXPECT_TRUE(pri.is_stopped());
  EXPECT_EQ(pri.outstanding_groups(), 0U);
}

TEST_F(PageRequests, PRI_24_EnablingBeforeStoppedIsRefused) {
  const std::uint16_t index = group();
  pri.write_control(false, false);
  EXPECT_TRUE(pri.write_control(true, false));
  EXPECT_FALSE(pri.is_enabled());
  answer(index);
  EXPECT_FALSE(pri.write_control(true, false));
  EXPECT_TRUE(pri.is_enabled());
}

TEST_F(PageRequests, PRI_24_EnablingClearsTheFlags) {
  answer(3);
  EXPECT_TRUE(pri.has_unexpected_index());
  pri.write_control(false, false);
  EXPECT_TRUE(pri.has_unexpected_index());
  pri.write_control(true, false);
  EXPECT_FALSE(pri.has_unexpected_index() || pri.has_response_failure() || pri.is_stopped());
}

TEST_F(PageRequests, PRI_25_TheAllocationStandsWhileEnabled) {
  EXPECT_TRUE(pri.write_allocation(5));
  EXPECT_EQ(pri.allocation(), 1000U);
}

TEST_F(PageRequests, PRI_26_AnAllocationAboveTheCapacityIsCut) {
  pri.write_control(false, false);
  EXPECT_TRUE(pri.write_allocation(2000));
  EXPECT_EQ(pri.allocation(), 1000U);
}

TEST(PageRequestCapacity, PRI_26_OrKeptAndStillNotExceeded) {
  PageRequestInterface pri({10, true, false});
  pri.write_allocation(20);
  pri.write_control(true, false);
  EXPECT_EQ(pri.allocation(), 20U);
  EXPECT_TRUE(pri.can_open(10));
  EXPECT_FALSE(pri.can_open(11));
}

TEST_F(PageRequests, PRI_27_OneGroupMayUseAllCredits) {
  EXPECT_TRUE(pri.can_open(1000));
  const std::uint16_t index = group(1000);
  EXPECT_FALSE(pri.can_open(1));
  answer(index);
  EXPECT_TRUE(pri.can_open(1000));
}

TEST_F(PageRequests, PRI_28_IndicesMayRunOutBeforeCredits) {
  std::vector<std::uint16_t> indices;
  for (int i = 0; i < 512; ++i) {
    indices.push_back(group());
  }
  EXPECT_FALSE(pri.can_open(1));
  answer(indices[100]);
  EXPECT_TRUE(has_free(489));
  EXPECT_EQ(group(), indices[100]);
}

TEST_F(PageRequests, PRI_29_AnUnknownIndexIsUnexpected) {
  const std::uint16_t index = group();
  EXPECT_EQ(answer(static_cast<std::uint16_t>(index + 1)), PrgOutcome::kUnexpected);
  EXPECT_TRUE(pri.has_unexpected_index());
  EXPECT_EQ(pri.outstanding_groups(), 1U);
  pri.write_status(false, true);
  EXPECT_FALSE(pri.has_unexpected_index());
}

TEST_F(PageRequests, PRI_30_AnIndexMayComeAgainAfterItsResponse) {
  std::uint16_t index = group();
  answer(index);
  for (int i = 0; i < 511; ++i) {
    answer(group());
  }
  EXPECT_EQ(group(2), index);
  EXPECT_EQ(answer(index), PrgOutcome::kSuccess);
  EXPECT_EQ(answer(index), PrgOutcome::kUnexpected);
}

TEST_F(PageRequests, PRI_31_AnIndexThatIsOutIsNotTakenAgain) {
  const std::uint16_t first = group();
  for (int i = 0; i < 511; ++i) {
    EXPECT_NE(group(), first);
  }
  EXPECT_THROW(pri.open_group(kPf, {}, 1), SimulationError);
}

TEST_F(PageRequests, PRI_32_TheSamePageMayBeAskedForTwice) {
  const std::uint16_t one = group(2), two = group();
  EXPECT_EQ(answer(two), PrgOutcome::kSuccess);
  EXPECT_EQ(answer(one), PrgOutcome::kSuccess);
}

TEST_F(PageRequests, PRI_33_RequestsDoNotRelaxTheirOrder) {
  group();
  EXPECT_FALSE(last.relaxed_ordering);
}

TEST_F(PageRequests, PRI_34_AVirtualFunctionsFailureIsSeenInThePhysicalOne) {
  const std::uint16_t index = group(1, kVf);
  EXPECT_EQ(last.function, kVf);
  EXPECT_EQ(answer(index, 0, kPf), PrgOutcome::kUnexpected);  // not the function that asked
  EXPECT_TRUE(pri.has_unexpected_index());
  EXPECT_EQ(answer(index, 0xf, kVf), PrgOutcome::kFailure);
  EXPECT_TRUE(pri.has_response_failure());
}

TEST_F(PageRequests, PRI_35_StoppedWaitsForVirtualFunctions) {
  const std::uint16_t index = group(1, kVf);
  pri.write_control(false, false);
  EXPECT_FALSE(pri.is_stopped());
  answer(index, 0, kVf);
  EXPECT_TRUE(pri.is_stopped());
}

TEST_F(PageRequests, PRI_36_TheResponseNamesThePasidThatIsRequired) {
  const std::uint16_t index = group(1, kPf, Pasid{3});
  EXPECT_EQ(answer(index), PrgOutcome::kUnexpected);
  EXPECT_EQ(answer(index, 0, kPf, Pasid{4}), PrgOutcome::kUnexpected);
  EXPECT_EQ(answer(index, 0, kPf, Pasid{3}), PrgOutcome::kSuccess);
}

TEST(PageRequestPasid, PRI_36_OrGoesWithout) {
  PageRequestInterface pri({10, false, true});
  pri.write_allocation(10);
  pri.write_control(true, false);
  const std::uint16_t index = pri.open_group(kPf, Pasid{3}, 1);
  pri.next_request(index, kRead);
  EXPECT_EQ(pri.respond({{}, kPf, index, 0, {}}), PrgOutcome::kSuccess);
}

// [DHI D22] [DHI-42]
TEST(PageRequestPasid, D22_ByHandleTheIndexAloneDecides) {
  PageRequestInterface pri({10, true, true});
  pri.write_allocation(10);
  pri.write_control(true, false);
  const std::uint16_t index = pri.open_group(kPf, Pasid{3}, 1);
  PrgResponse response{{}, Bdf{0x1234}, index, 0, {}, true};
  EXPECT_EQ(pri.respond(response), PrgOutcome::kUnexpected) << "its request is not out";
  pri.next_request(index, kRead);
  EXPECT_EQ(pri.respond(response), PrgOutcome::kSuccess);
  EXPECT_EQ(pri.respond(response), PrgOutcome::kUnexpected) << "once";
}

TEST_F(PageRequests, PRI_38_AfterAResetResponsesAreUnexpected) {
  const std::uint16_t index = group();
  pri.reset();
  EXPECT_FALSE(pri.is_enabled());
  EXPECT_TRUE(pri.is_stopped());
  EXPECT_EQ(pri.allocation(), 0U);
  EXPECT_EQ(answer(index), PrgOutcome::kUnexpected);
  EXPECT_TRUE(pri.has_unexpected_index());
}

TEST_F(PageRequests, PRI_38_AVirtualFunctionsResetTakesItsGroupsAlone) {
  const std::uint16_t of_vf = group(3, kVf), of_pf = group(2);
  pri.forget(kVf);
  EXPECT_TRUE(has_free(998));
  EXPECT_EQ(answer(of_vf, 0, kVf), PrgOutcome::kUnexpected);
  EXPECT_EQ(answer(of_pf), PrgOutcome::kSuccess);
}

TEST(PageRequestReset, CFG_09_StoppedAndNoFlags) {
  const PageRequestInterface pri({10, true, true});
  EXPECT_TRUE(pri.is_stopped());
  EXPECT_FALSE(pri.is_enabled() || pri.has_response_failure() || pri.has_unexpected_index());
  EXPECT_EQ(pri.allocation(), 0U);
}

TEST_F(PageRequests, PRI_08_SuccessFreesTheGroupForTheNextTry) {
  EXPECT_EQ(answer(group()), PrgOutcome::kSuccess);
  EXPECT_EQ(pri.outstanding_groups(), 0U);
  EXPECT_TRUE(pri.can_open(1000));
}

}  // namespace
}  // namespace flitwise::page_request_interface_test
