// SPDX-License-Identifier: Apache-2.0
// Fault reasons: names, legacy numbers, and what they mean to records and Translation Requests.
#include "iommu/fault.h"

namespace flitwise {

namespace {

const char* name_of_structure_fault(FaultReason reason) {
  switch (reason) {
    case FaultReason::kNone:
      return "none";
    case FaultReason::kRootAddressInvalid:
      return "root_address_invalid";
    case FaultReason::kPasidInLegacyMode:
      return "pasid_in_legacy_mode";
    case FaultReason::kPageRequestInLegacyMode:
      return "page_request_in_legacy_mode";
    case FaultReason::kRootAccess:
      return "root_access";
    case FaultReason::kRootNotPresent:
      return "root_not_present";
    case FaultReason::kRootReserved:
      return "root_reserved";
    case FaultReason::kContextAccess:
      return "context_access";
    case FaultReason::kContextNotPresent:
      return "context_not_present";
    case FaultReason::kContextReserved:
      return "context_reserved";
    case FaultReason::kContextInvalid:
      return "context_invalid";
    case FaultReason::kDeviceTlbDisabled:
      return "device_tlb_disabled";
    case FaultReason::kPasidDisabled:
      return "pasid_disabled";
    case FaultReason::kPasidTooLarge:
      return "pasid_too_large";
    case FaultReason::kPageRequestDisabled:
      return "page_request_disabled";
    case FaultReason::kRidPasidInvalid:
      return "rid_pasid_invalid";
    case FaultReason::kPasidDirectoryAccess:
      return "pasid_directory_access";
    case FaultReason::kPasidDirectoryNotPresent:
      return "pasid_directory_not_present";
    case FaultReason::kPasidDirectoryReserved:
      return "pasid_directory_reserved";
    case FaultReason::kPasidEntryAccess:
      return "pasid_entry_access";
    case FaultReason::kPasidEntryNotPresent:
      return "pasid_entry_not_present";
    case FaultReason::kPasidEntryReserved:
      return "pasid_entry_reserved";
    case FaultReason::kPasidEntryInvalid:
      return "pasid_entry_invalid";
    case FaultReason::kExecuteDisabled:
      return "execute_disabled";
    case FaultReason::kSupervisorDisabled:
      return "supervisor_disabled";
    default:
      return nullptr;
  }
}

const char* name_of_paging_fault(FaultReason reason) {
  switch (reason) {
    case FaultReason::kFirstStageAccess:
      return "first_stage_access";
    case FaultReason::kFirstStageNotPresent:
      return "first_stage_not_present";
    case FaultReason::kFirstStageReserved:
      return "first_stage_reserved";
    case FaultReason::kFirstStageTopAccess:
      return "first_stage_top_access";
    case FaultReason::kNestedTableTooHigh:
      return "nested_table_too_high";
    case FaultReason::kNestedTopRead:
      return "nested_top_read";
    case FaultReason::kNestedTableRead:
      return "nested_table_read";
    case FaultReason::kNestedWrite:
      return "nested_write";
    case FaultReason::kSecondStageAccess:
      return "second_stage_access";
    case FaultReason::kSecondStagePermission:
      return "second_stage_permission";
    case FaultReason::kSecondStageReserved:
      return "second_stage_reserved";
    case FaultReason::kSecondStagePointerInvalid:
      return "second_stage_pointer_invalid";
    case FaultReason::kSecondStageUpdateUnsnooped:
      return "second_stage_update_unsnooped";
    case FaultReason::kNotCanonical:
      return "not_canonical";
    case FaultReason::kUserSupervisor:
      return "user_supervisor";
    case FaultReason::kNoExecute:
      return "no_execute";
    case FaultReason::kAddressTooHigh:
      return "address_too_high";
    case FaultReason::kSecondStageAddressTooHigh:
      return "second_stage_address_too_high";
    case FaultReason::kNoWrite:
      return "no_write";
    case FaultReason::kNoRead:
      return "no_read";
    case FaultReason::kInterruptRange:
      return "interrupt_range";
    case FaultReason::kFirstStageUpdateUnsnooped:
      return "first_stage_update_unsnooped";
    case FaultReason::kFirstStageUpdateFailed:
      return "first_stage_update_failed";
    case FaultReason::kPermissionDenied:
      return "permission_denied";
    case FaultReason::kPermissionTrust:
      return "permission_trust";
    case FaultReason::kPermissionReserved:
      return "permission_reserved";
    case FaultReason::kPermissionAccess:
      return "permission_access";
    default:
      return "unknown";
  }
}

}  // namespace

const char* name_of(FaultReason reason) {
  const char* name = name_of_structure_fault(reason);
  return name != nullptr ? name : name_of_paging_fault(reason);
}

bool is_qualified(FaultReason reason) {
  switch (reason) {
    case FaultReason::kNone:
    case FaultReason::kRootAddressInvalid:
    case FaultReason::kPasidInLegacyMode:
    case FaultReason::kPageRequestInLegacyMode:
    case FaultReason::kRootAccess:
    case FaultReason::kRootNotPresent:
    case FaultReason::kRootReserved:
    case FaultReason::kContextAccess:
    case FaultReason::kContextReserved:
    case FaultReason::kPasidDirectoryAccess:
    case FaultReason::kPasidEntryAccess:
      return false;
    default:
      return true;
  }
}

std::uint8_t legacy_code(FaultReason reason, bool is_write) {
  switch (reason) {
    case FaultReason::kRootNotPresent:
      return 0x1;
    case FaultReason::kContextNotPresent:
      return 0x2;
    case FaultReason::kContextInvalid:
    case FaultReason::kSecondStagePointerInvalid:
      return 0x3;
    case FaultReason::kNestedTableTooHigh:
    case FaultReason::kAddressTooHigh:
    case FaultReason::kSecondStageAddressTooHigh:
      return 0x4;
    case FaultReason::kSecondStagePermission:
      return is_write ? 0x5 : 0x6;
    case FaultReason::kSecondStageAccess:
      return 0x7;
    case FaultReason::kRootAccess:
      return 0x8;
    case FaultReason::kContextAccess:
      return 0x9;
    case FaultReason::kRootReserved:
      return 0xa;
    case FaultReason::kContextReserved:
      return 0xb;
    case FaultReason::kSecondStageReserved:
      return 0xc;
    case FaultReason::kDeviceTlbDisabled:
      return 0xd;
    default:
      return static_cast<std::uint8_t>(reason);
  }
}

AtsAnswer ats_answer(FaultReason reason) {
  switch (reason) {
    case FaultReason::kRootAddressInvalid:
    case FaultReason::kPasidInLegacyMode:
    case FaultReason::kPageRequestInLegacyMode:
    case FaultReason::kRootNotPresent:
    case FaultReason::kRootReserved:
    case FaultReason::kContextNotPresent:
    case FaultReason::kContextReserved:
    case FaultReason::kContextInvalid:
    case FaultReason::kDeviceTlbDisabled:
    case FaultReason::kPasidDisabled:
    case FaultReason::kPasidTooLarge:
    case FaultReason::kPageRequestDisabled:
    case FaultReason::kRidPasidInvalid:
    case FaultReason::kExecuteDisabled:
    case FaultReason::kSupervisorDisabled:
      return AtsAnswer::kUnsupportedRequest;
    case FaultReason::kRootAccess:
    case FaultReason::kContextAccess:
    case FaultReason::kPasidDirectoryAccess:
    case FaultReason::kPasidDirectoryReserved:
    case FaultReason::kPasidEntryAccess:
    case FaultReason::kPasidEntryReserved:
    case FaultReason::kPasidEntryInvalid:
    case FaultReason::kFirstStageAccess:
    case FaultReason::kFirstStageTopAccess:
    case FaultReason::kSecondStageAccess:
    case FaultReason::kSecondStagePointerInvalid:
    case FaultReason::kSecondStageUpdateUnsnooped:
    case FaultReason::kFirstStageUpdateUnsnooped:
    case FaultReason::kFirstStageUpdateFailed:
      return AtsAnswer::kCompleterAbort;
    default:
      return AtsAnswer::kSuccess;
  }
}

}  // namespace flitwise
