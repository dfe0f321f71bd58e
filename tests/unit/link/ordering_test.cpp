// SPDX-License-Identifier: Apache-2.0
// The ordering table, cell by cell.
#include "link/ordering.h"

#include <gtest/gtest.h>

#include <vector>

namespace flitwise::ordering_test {
namespace {

using Types = std::vector<TlpType>;
const Types kPosted{TlpType::kMWr, TlpType::kMsg, TlpType::kMsgD};
const Types kReads{TlpType::kMRd, TlpType::kMRdLk, TlpType::kIORd, TlpType::kCfgRd0,
                   TlpType::kCfgRd1};
const Types kWithData{TlpType::kIOWr, TlpType::kCfgWr0, TlpType::kCfgWr1, TlpType::kFetchAdd,
                      TlpType::kSwap, TlpType::kCas,    TlpType::kDMWr};
const Types kCompletions{TlpType::kCpl, TlpType::kCplD, TlpType::kCplLk, TlpType::kCplDLk};

Tlp of(TlpType type) {
  Tlp tlp;
  tlp.type = type;
  tlp.requester_id = Bdf::of(1, 0, 0);
  tlp.completer_id = Bdf::of(1, 0, 0);
  return tlp;
}

enum class Attribute { kNone, kRo, kIdoSame, kIdoRid, kIdoPasid, kIdoLonePasid };

Tlp with(Tlp tlp, Attribute attribute) {
  tlp.relaxed_ordering = attribute == Attribute::kRo;
  tlp.id_based_ordering = attribute != Attribute::kNone && attribute != Attribute::kRo;
  if (attribute == Attribute::kIdoRid) {
    tlp.requester_id = tlp.completer_id = Bdf::of(1, 0, 1);
  } else if (attribute == Attribute::kIdoPasid || attribute == Attribute::kIdoLonePasid) {
    tlp.has_pasid = true;
    tlp.pasid = Pasid{7};
  }
  return tlp;
}

void expect_cell(const Types& later, const Types& earlier, Attribute attribute, Passing expected) {
  for (const TlpType row : later) {
    for (const TlpType column : earlier) {
      Tlp ahead = of(column);
      if (attribute == Attribute::kIdoPasid) {
        ahead.has_pasid = true;
        ahead.pasid = Pasid{8};
      }
      EXPECT_EQ(passing(with(of(row), attribute), ahead), expected)
          << "row " << static_cast<int>(row) << " column " << static_cast<int>(column)
          << " attribute " << static_cast<int>(attribute);
    }
  }
}

TEST(Ordering, LNK_9_1_PostedPassesPostedOnlyByRoOrByIdoOfAnotherIdentity) {
  expect_cell(kPosted, kPosted, Attribute::kNone, Passing::kNo);
  expect_cell(kPosted, kPosted, Attribute::kRo, Passing::kMay);
  expect_cell(kPosted, kPosted, Attribute::kIdoSame, Passing::kNo);
  expect_cell(kPosted, kPosted, Attribute::kIdoRid, Passing::kMay);
  expect_cell(kPosted, kPosted, Attribute::kIdoPasid, Passing::kMay);
  expect_cell(kPosted, kPosted, Attribute::kIdoLonePasid, Passing::kNo);
}

TEST(Ordering, LNK_9_2_PostedMustPassNonPosted) {
  expect_cell(kPosted, kReads, Attribute::kNone, Passing::kMust);
  expect_cell(kPosted, kWithData, Attribute::kNone, Passing::kMust);
}

TEST(Ordering, LNK_9_3_PostedMayPassCompletions) {
  expect_cell(kPosted, kCompletions, Attribute::kNone, Passing::kMay);
}

TEST(Ordering, LNK_9_4_ReadPassesPostedOnlyByIdoOfAnotherIdentity) {
  expect_cell(kReads, kPosted, Attribute::kNone, Passing::kNo);
  expect_cell(kReads, kPosted, Attribute::kRo, Passing::kNo);
  expect_cell(kReads, kPosted, Attribute::kIdoSame, Passing::kNo);
  expect_cell(kReads, kPosted, Attribute::kIdoRid, Passing::kMay);
  expect_cell(kReads, kPosted, Attribute::kIdoPasid, Passing::kMay);
  expect_cell(kReads, kPosted, Attribute::kIdoLonePasid, Passing::kNo);
}

TEST(Ordering, LNK_9_5_NonPostedWithDataPassesPostedByRoOrIdo) {
  expect_cell(kWithData, kPosted, Attribute::kNone, Passing::kNo);
  expect_cell(kWithData, kPosted, Attribute::kRo, Passing::kMay);
  expect_cell(kWithData, kPosted, Attribute::kIdoSame, Passing::kNo);
  expect_cell(kWithData, kPosted, Attribute::kIdoRid, Passing::kMay);
}

TEST(Ordering, LNK_9_5_NonPostedMayPassNonPostedAndCompletions) {
  for (const Types* row : {&kReads, &kWithData}) {
    for (const Types* column : {&kReads, &kWithData, &kCompletions}) {
      expect_cell(*row, *column, Attribute::kNone, Passing::kMay);
    }
  }
}

TEST(Ordering, LNK_9_6_CompletionPassesPostedByRoOrIdoOfAnotherCompleter) {
  expect_cell(kCompletions, kPosted, Attribute::kNone, Passing::kNo);
  expect_cell(kCompletions, kPosted, Attribute::kRo, Passing::kMay);
  expect_cell(kCompletions, kPosted, Attribute::kIdoSame, Passing::kNo);
  expect_cell(kCompletions, kPosted, Attribute::kIdoRid, Passing::kMay);
}

TEST(Ordering, LNK_9_6_CompletionOfAnIoOrCfgWriteMayPassPosted) {
  EXPECT_EQ(passing(of(TlpType::kCpl), of(TlpType::kMWr), true), Passing::kMay);
  EXPECT_EQ(passing(of(TlpType::kCpl), of(TlpType::kMWr), false), Passing::kNo);
  EXPECT_EQ(passing(of(TlpType::kMWr), of(TlpType::kMWr), true), Passing::kNo);
  EXPECT_EQ(passing(of(TlpType::kCpl), of(TlpType::kCpl), true), Passing::kNo);
}

TEST(Ordering, LNK_9_7_CompletionMustPassNonPosted) {
  expect_cell(kCompletions, kReads, Attribute::kNone, Passing::kMust);
  expect_cell(kCompletions, kWithData, Attribute::kNone, Passing::kMust);
}

TEST(Ordering, LNK_9_7_CompletionsOfOneTransactionKeepTheirOrder) {
  expect_cell(kCompletions, kCompletions, Attribute::kNone, Passing::kNo);
  expect_cell(kCompletions, kCompletions, Attribute::kRo, Passing::kNo);
  expect_cell(kCompletions, kCompletions, Attribute::kIdoSame, Passing::kNo);
}

TEST(Ordering, LNK_9_7_CompletionsOfDifferentTransactionsNeedNot) {
  const Tlp earlier = of(TlpType::kCplD);
  Tlp other_tag = earlier;
  other_tag.tag = 0x100;
  EXPECT_EQ(passing(other_tag, earlier), Passing::kMay);
  Tlp other_requester = earlier;
  other_requester.requester_id = Bdf::of(2, 0, 0);
  EXPECT_EQ(passing(other_requester, earlier), Passing::kMay);
}

TEST(Ordering, LNK_9_1_IdoNeedsTheLaterTlpToHaveIt) {
  Tlp earlier = with(of(TlpType::kMWr), Attribute::kIdoRid);
  EXPECT_EQ(passing(of(TlpType::kMWr), earlier), Passing::kNo);
}

TEST(Ordering, LNK_9_1_EqualPasidsAreOneIdentity) {
  Tlp earlier = with(of(TlpType::kMWr), Attribute::kIdoPasid);
  Tlp later = earlier;
  EXPECT_EQ(passing(later, earlier), Passing::kNo);
  later.pasid = Pasid{8};
  EXPECT_EQ(passing(later, earlier), Passing::kMay);
}

// Only two PASIDs that differ take requests of one function apart.
TEST(Ordering, LNK_9_1_PasidBesideNoneProvesNothing) {
  Tlp earlier = with(of(TlpType::kMWr), Attribute::kIdoPasid);
  Tlp later = with(of(TlpType::kMWr), Attribute::kIdoSame);
  EXPECT_EQ(passing(later, earlier), Passing::kNo);
  EXPECT_EQ(passing(earlier, later), Passing::kNo);
}

TEST(Ordering, LNK_1_7_HandlesAreComparedInPlaceOfTheFullIdentity) {
  Tlp earlier = of(TlpType::kMWr);
  earlier.id_is_handle = true;
  earlier.requester_id = Bdf{5};
  Tlp later = earlier;
  later.id_based_ordering = true;
  EXPECT_EQ(passing(later, earlier), Passing::kNo);
  later.requester_id = Bdf{6};
  EXPECT_EQ(passing(later, earlier), Passing::kMay);
}

TEST(Ordering, LNK_1_7_AHandleBesideAFullIdentityProvesNoDifference) {
  Tlp handle = of(TlpType::kMWr);
  handle.id_is_handle = true;
  handle.requester_id = Bdf{5};
  handle.id_based_ordering = true;
  Tlp full = of(TlpType::kMWr);
  full.id_based_ordering = true;
  EXPECT_EQ(passing(handle, full), Passing::kNo);
  EXPECT_EQ(passing(full, handle), Passing::kNo);
}

TEST(Ordering, LNK_9_1_IdoTellsDomainsApartInEveryFormOfIdentity) {
  for (const DhiForm dhi_form :
       {DhiForm::kRidDirect, DhiForm::kRidFabric, DhiForm::kTag, DhiForm::kPrefix}) {
    const IdentityForm form{Identity::kDhi, dhi_form, 8};
    const auto write_of = [&form](unsigned domain) {
      Tlp tlp;
      tlp.type = TlpType::kMWr;
      tlp.id_based_ordering = true;
      apply_identity(tlp, form, {Bdf::of(1, 0, 0), Pasid{domain}},
                     Dhi{static_cast<std::uint16_t>(domain)});
      return tlp;
    };
    EXPECT_EQ(passing(write_of(1), write_of(2), form), Passing::kMay);
    EXPECT_EQ(passing(write_of(1), write_of(1), form), Passing::kNo);
    Tlp completion = of(TlpType::kCplD);
    completion.id_based_ordering = true;
    EXPECT_EQ(passing(completion, write_of(1), form), Passing::kNo);
  }
}

TEST(Ordering, LNK_9_6_CompletionIsComparedByItsCompleterInEveryForm) {
  const IdentityForm form;
  Tlp completion = of(TlpType::kCplD);
  completion.id_based_ordering = true;
  EXPECT_EQ(passing(completion, of(TlpType::kMWr), form), Passing::kNo);
  completion.completer_id = Bdf::of(1, 0, 3);
  EXPECT_EQ(passing(completion, of(TlpType::kMWr), form), Passing::kMay);
}

TEST(Ordering, D8_NoOrderBetweenTrafficClasses) {
  Tlp later = of(TlpType::kMWr);
  later.tc = 3;
  EXPECT_EQ(passing(later, of(TlpType::kMWr)), Passing::kMay);
  later.type = TlpType::kMRd;
  EXPECT_EQ(passing(later, of(TlpType::kMWr)), Passing::kMay);
}

}  // namespace
}  // namespace flitwise::ordering_test
