// SPDX-License-Identifier: Apache-2.0
/// Why the translation agent refuses a request: the scalable-mode fault reasons. [IOM-4.1]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

/// The numbers stand in FRCD.FR. kNone is no fault. 43, 75 to 77, 7c, 86 and 90 are not raised.
/// [IOM-4.1]
enum class FaultReason : std::uint8_t {
  kNone = 0,
  kRootAddressInvalid = 0x30,
  kPasidInLegacyMode = 0x31,
  kPageRequestInLegacyMode = 0x32,
  kRootAccess = 0x38,
  kRootNotPresent = 0x39,
  kRootReserved = 0x3a,
  kContextAccess = 0x40,
  kContextNotPresent = 0x41,
  kContextReserved = 0x42,
  kDeviceTlbDisabled = 0x44,
  kPasidDisabled = 0x45,
  kPasidTooLarge = 0x46,
  kPageRequestDisabled = 0x47,
  kRidPasidInvalid = 0x48,
  kPasidDirectoryAccess = 0x50,
  kPasidDirectoryNotPresent = 0x51,
  kPasidDirectoryReserved = 0x52,
  kPasidEntryAccess = 0x58,
  kPasidEntryNotPresent = 0x59,
  kPasidEntryReserved = 0x5a,
  kPasidEntryInvalid = 0x5b,
  kExecuteDisabled = 0x5c,
  kSupervisorDisabled = 0x5d,
  kFirstStageAccess = 0x70,
  kFirstStageNotPresent = 0x71,
  kFirstStageReserved = 0x72,
  kFirstStageTopAccess = 0x73,
  kNestedTableTooHigh = 0x74,
  kSecondStageAccess = 0x78,
  kSecondStagePermission = 0x79,
  kSecondStageReserved = 0x7a,
  kSecondStagePointerInvalid = 0x7b,
  kNotCanonical = 0x80,
  kUserSupervisor = 0x81,
  kNoExecute = 0x82,
  kAddressTooHigh = 0x83,
  kSecondStageAddressTooHigh = 0x84,
  kNoWrite = 0x85,
  kInterruptRange = 0x87,
  kFirstStageUpdateFailed = 0x91,
  // Ours: no public source tells how Secure ATS reports. [IOM-4.3]
  kPermissionDenied = 0xf0,
  kPermissionTrust = 0xf1,
  kPermissionReserved = 0xf2,
  kPermissionAccess = 0xf3,
};

/// The permission table refuses the request, or could not be asked. [IOM-4.3]
constexpr bool is_permission_fault(FaultReason reason) {
  return reason >= FaultReason::kPermissionDenied && reason <= FaultReason::kPermissionAccess;
}

/// False where FPD of the entries does not keep the fault from being recorded. [IOM-9.2]
bool is_qualified(FaultReason reason);

/// Number recorded with `iommu.legacy_codes`: that of the legacy table where it has the condition.
/// A second-stage permission fault has two, by whether the access was a write. [IOM-3.1]
std::uint8_t legacy_code(FaultReason reason, bool is_write);

/// Completion status of a Translation Request that meets the fault; kSC means an entry with R=W=0.
/// [IOM-7.1]
CplStatus ats_answer(FaultReason reason);

}  // namespace flitwise
