// SPDX-License-Identifier: Apache-2.0
// Fault reasons: names, legacy numbers, and what they mean to records and Translation Requests.
#include "iommu/fault.h"

#include <array>

namespace flitwise {
namespace {

using R = FaultReason;

constexpr bool kQualified = true, kNot = false;
constexpr CplStatus kSuccess = CplStatus::kSC, kUr = CplStatus::kUR, kCa = CplStatus::kCA;

struct Facts {
  FaultReason reason;
  const char* name;
  bool is_qualified;
  CplStatus answer;
  std::uint8_t legacy = 0, legacy_of_write = 0;  // 0: the number of the reason, of other accesses
};
constexpr Facts kFacts[] = {
    {R::kNone, "unknown", kQualified, kSuccess},  // a number without a reason
    {R::kNone, "none", kNot, kSuccess},
    {R::kRootAddressInvalid, "root_address_invalid", kNot, kUr},
    {R::kPasidInLegacyMode, "pasid_in_legacy_mode", kNot, kUr},
    {R::kPageRequestInLegacyMode, "page_request_in_legacy_mode", kNot, kUr},
    {R::kRootAccess, "root_access", kNot, kCa, 0x8},
    {R::kRootNotPresent, "root_not_present", kNot, kUr, 0x1},
    {R::kRootReserved, "root_reserved", kNot, kUr, 0xa},
    {R::kContextAccess, "context_access", kNot, kCa, 0x9},
    {R::kContextNotPresent, "context_not_present", kQualified, kUr, 0x2},
    {R::kContextReserved, "context_reserved", kNot, kUr, 0xb},
    {R::kContextInvalid, "context_invalid", kQualified, kUr, 0x3},
    {R::kDeviceTlbDisabled, "device_tlb_disabled", kQualified, kUr, 0xd},
    {R::kPasidDisabled, "pasid_disabled", kQualified, kUr},
    {R::kPasidTooLarge, "pasid_too_large", kQualified, kUr},
    {R::kPageRequestDisabled, "page_request_disabled", kQualified, kUr},
    {R::kRidPasidInvalid, "rid_pasid_invalid", kQualified, kUr},
    {R::kPasidDirectoryAccess, "pasid_directory_access", kNot, kCa},
    {R::kPasidDirectoryNotPresent, "pasid_directory_not_present", kQualified, kSuccess},
    {R::kPasidDirectoryReserved, "pasid_directory_reserved", kQualified, kCa},
    {R::kPasidEntryAccess, "pasid_entry_access", kNot, kCa},
    {R::kPasidEntryNotPresent, "pasid_entry_not_present", kQualified, kSuccess},
    {R::kPasidEntryReserved, "pasid_entry_reserved", kQualified, kCa},
    {R::kPasidEntryInvalid, "pasid_entry_invalid", kQualified, kCa},
    {R::kExecuteDisabled, "execute_disabled", kQualified, kUr},
    {R::kSupervisorDisabled, "supervisor_disabled", kQualified, kUr},
    {R::kFirstStageAccess, "first_stage_access", kQualified, kCa},
    {R::kFirstStageNotPresent, "first_stage_not_present", kQualified, kSuccess},
    {R::kFirstStageReserved, "first_stage_reserved", kQualified, kSuccess},
    {R::kFirstStageTopAccess, "first_stage_top_access", kQualified, kCa},
    {R::kNestedTableTooHigh, "nested_table_too_high", kQualified, kSuccess, 0x4},
    {R::kNestedTopRead, "nested_top_read", kQualified, kSuccess},
    {R::kNestedTableRead, "nested_table_read", kQualified, kSuccess},
    {R::kNestedWrite, "nested_write", kQualified, kSuccess},
    {R::kSecondStageAccess, "second_stage_access", kQualified, kCa, 0x7},
    {R::kSecondStagePermission, "second_stage_permission", kQualified, kSuccess, 0x6, 0x5},
    {R::kSecondStageReserved, "second_stage_reserved", kQualified, kSuccess, 0xc},
    {R::kSecondStagePointerInvalid, "second_stage_pointer_invalid", kQualified, kCa, 0x3},
    {R::kSecondStageUpdateUnsnooped, "second_stage_update_unsnooped", kQualified, kCa},
    {R::kNotCanonical, "not_canonical", kQualified, kSuccess},
    {R::kUserSupervisor, "user_supervisor", kQualified, kSuccess},
    {R::kNoExecute, "no_execute", kQualified, kSuccess},
    {R::kAddressTooHigh, "address_too_high", kQualified, kSuccess, 0x4},
    {R::kSecondStageAddressTooHigh, "second_stage_address_too_high", kQualified, kSuccess, 0x4},
    {R::kNoWrite, "no_write", kQualified, kSuccess},
    {R::kNoRead, "no_read", kQualified, kSuccess},
    {R::kInterruptRange, "interrupt_range", kQualified, kSuccess},
    {R::kFirstStageUpdateUnsnooped, "first_stage_update_unsnooped", kQualified, kCa},
    {R::kFirstStageUpdateFailed, "first_stage_update_failed", kQualified, kCa},
    {R::kPermissionDenied, "permission_denied", kQualified, kSuccess},
    {R::kPermissionTrust, "permission_trust", kQualified, kSuccess},
    {R::kPermissionReserved, "permission_reserved", kQualified, kSuccess},
    {R::kPermissionAccess, "permission_access", kQualified, kSuccess},
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

const char* name_of(FaultReason reason) {
  return facts_of(reason).name;
}

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
