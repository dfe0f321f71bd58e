// SPDX-License-Identifier: Apache-2.0
// Fault reasons: legacy numbers, and what they mean to records and Translation Requests.
#include "iommu/fault.h"

#include <array>

namespace flitwise {
namespace {

using R = FaultReason;

constexpr bool kQualified = true, kNot = false;
constexpr CplStatus kSuccess = CplStatus::kSC, kUr = CplStatus::kUR, kCa = CplStatus::kCA;

struct Facts {
  FaultReason reason = R::kNone;
  bool is_qualified = kQualified;
  CplStatus answer = kSuccess;
  std::uint8_t legacy = 0, legacy_of_write = 0;  // 0: the number of the reason, of other accesses
};
constexpr Facts kFacts[] = {
    {},  // all that have no row
    {R::kNone, kNot, kSuccess},
    {R::kRootAddressInvalid, kNot, kUr},
    {R::kPasidInLegacyMode, kNot, kUr},
    {R::kPageRequestInLegacyMode, kNot, kUr},
    {R::kRootAccess, kNot, kCa, 0x8},
    {R::kRootNotPresent, kNot, kUr, 0x1},
    {R::kRootReserved, kNot, kUr, 0xa},
    {R::kContextAccess, kNot, kCa, 0x9},
    {R::kContextNotPresent, kQualified, kUr, 0x2},
    {R::kContextReserved, kNot, kUr, 0xb},
    {R::kDeviceTlbDisabled, kQualified, kUr, 0xd},
    {R::kPasidDisabled, kQualified, kUr},
    {R::kPasidTooLarge, kQualified, kUr},
    {R::kPageRequestDisabled, kQualified, kUr},
    {R::kRidPasidInvalid, kQualified, kUr},
    {R::kPasidDirectoryAccess, kNot, kCa},
    {R::kPasidDirectoryReserved, kQualified, kCa},
    {R::kPasidEntryAccess, kNot, kCa},
    {R::kPasidEntryReserved, kQualified, kCa},
    {R::kPasidEntryInvalid, kQualified, kCa},
    {R::kExecuteDisabled, kQualified, kUr},
    {R::kSupervisorDisabled, kQualified, kUr},
    {R::kFirstStageAccess, kQualified, kCa},
    {R::kFirstStageTopAccess, kQualified, kCa},
    {R::kNestedTableTooHigh, kQualified, kSuccess, 0x4},
    {R::kSecondStageAccess, kQualified, kCa, 0x7},
    {R::kSecondStagePermission, kQualified, kSuccess, 0x6, 0x5},
    {R::kSecondStageReserved, kQualified, kSuccess, 0xc},
    {R::kSecondStagePointerInvalid, kQualified, kCa, 0x3},
    {R::kAddressTooHigh, kQualified, kSuccess, 0x4},
    {R::kSecondStageAddressTooHigh, kQualified, kSuccess, 0x4},
    {R::kFirstStageUpdateFailed, kQualified, kCa},
};

constexpr auto kRowOfNumber = [] {
  std::array<std::uint8_t, 256> rows{};
  for (std::uint8_t row = 1; row < sizeof kFacts / sizeof kFacts[0]; ++row) {
    rows[static_cast<std::uint8_t>(kFacts[row].reason)] = row;
  }
  return rows;
}();

const Facts& facts_of(FaultReason reason) {
  return kFacts[kRowOfNumber[static_cast<std::uint8_t>(reason)]];
}

}  // namespace

bool is_qualified(FaultReason reason) {
  return facts_of(reason).is_qualified;
}

std::uint8_t legacy_code(FaultReason reason, bool is_write) {
  const Facts& facts = facts_of(reason);
  const std::uint8_t code =
      is_write && facts.legacy_of_write != 0 ? facts.legacy_of_write : facts.legacy;
  return code != 0 ? code : static_cast<std::uint8_t>(reason);
}

CplStatus ats_answer(FaultReason reason) {
  return facts_of(reason).answer;
}

}  // namespace flitwise
