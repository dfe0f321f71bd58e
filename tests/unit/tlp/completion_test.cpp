// SPDX-License-Identifier: Apache-2.0
// Completions from their requests, and what counts as an interrupt.
#include "tlp/splitter.h"

#include <gtest/gtest.h>

#include "tlp/message_use.h"

namespace flitwise::completion_test {
namespace {

Tlp read_of(TlpType type) {
  Tlp tlp;
  tlp.type = type;
  tlp.tc = 3;
  tlp.relaxed_ordering = true;
  tlp.no_snoop = true;
  tlp.tag = 0x2a5;
  tlp.requester_id = Bdf::of(4, 2, 1);
  tlp.address = 0x1044;
  tlp.length_dw = 3;
  tlp.first_be = 0xc;
  tlp.last_be = 0x1;
  return tlp;
}

// [LNK-2.5] [LNK-9.12] [LNK-9.13]
TEST(Completion, LNK_9_12_TakesOverWhatNamesTheRequestAndSaysWhatIsOwed) {
  const Tlp request = read_of(TlpType::kMRd);
  Tlp completion;
  start_completion(completion, request);
  end_without_data(completion, request, CplStatus::kCA);
  EXPECT_EQ(completion.type, TlpType::kCpl);
  EXPECT_EQ(completion.tc, 3);
  EXPECT_TRUE(completion.relaxed_ordering);
  EXPECT_FALSE(completion.id_based_ordering);
  EXPECT_TRUE(completion.no_snoop);
  EXPECT_EQ(completion.tag, 0x2a5);
  EXPECT_EQ(completion.requester_id, Bdf::of(4, 2, 1));
  EXPECT_EQ(completion.status, CplStatus::kCA);
  EXPECT_EQ(completion.byte_count, 12 - 2 - 3);
  EXPECT_EQ(completion.lower_address, 0x46);
}

// [LNK-9.21]
TEST(Completion, LNK_9_21_LockedReadIsAnsweredByALockedCompletion) {
  Tlp completion;
  start_completion(completion, read_of(TlpType::kMRdLk));
  EXPECT_EQ(completion.type, TlpType::kCplLk);
  start_completion(completion, read_of(TlpType::kFetchAdd));
  EXPECT_EQ(completion.type, TlpType::kCpl);
}

Tlp interrupt() {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.address = 0xfee0'0000;
  tlp.length_dw = 1;
  tlp.first_be = 0xf;
  return tlp;
}

// [LNK-9.22]
TEST(Interrupt, LNK_9_22_IsAPlainWriteOfOneDwIntoTheWindow) {
  EXPECT_TRUE(is_interrupt(interrupt()));
  const auto with = [](auto change) {
    Tlp tlp = interrupt();
    change(tlp);
    return is_interrupt(tlp);
  };
  EXPECT_TRUE(with([](Tlp& tlp) { tlp.address = 0xfeef'fffc; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.address = 0xfef0'0000; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.address = 0xfedf'fffc; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.address += std::uint64_t{1} << 32; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.type = TlpType::kMRd; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.length_dw = 2; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.first_be = 0x3; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.has_pasid = true; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.id_is_handle = true; }));
  EXPECT_FALSE(with([](Tlp& tlp) { tlp.at = AddressType::kTranslated; }));
}

// [LNK-9.22]
TEST(Interrupt, LNK_9_22_WindowIsTouchedByWhatReachesIntoIt) {
  Tlp tlp = interrupt();
  tlp.address = 0xfedf'fff8;
  tlp.length_dw = 2;
  EXPECT_FALSE(touches_interrupt_window(tlp));
  tlp.length_dw = 3;
  EXPECT_TRUE(touches_interrupt_window(tlp));
  tlp.address = ~std::uint64_t{3};
  EXPECT_FALSE(touches_interrupt_window(tlp));
}

}  // namespace
}  // namespace flitwise::completion_test
