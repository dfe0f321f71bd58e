// SPDX-License-Identifier: Apache-2.0
// Names of refusals.
#include "dhi/handle_types.h"

namespace flitwise {

const char* name_of(HandleStatus status) {
  switch (status) {
    case HandleStatus::kOk:
      return "ok";
    case HandleStatus::kBusOutsidePort:
      return "bus_outside_port";
    case HandleStatus::kRequesterMismatch:
      return "requester_mismatch";
    case HandleStatus::kHandleOutOfRange:
      return "handle_out_of_range";
    case HandleStatus::kPasidNotGranted:
      return "pasid_not_granted";
    case HandleStatus::kTrustNotGranted:
      return "trust_not_granted";
    case HandleStatus::kCapabilityNotGranted:
      return "capability_not_granted";
    case HandleStatus::kHandleInUse:
      return "handle_in_use";
    case HandleStatus::kEpochMismatch:
      return "epoch_mismatch";
    case HandleStatus::kNoValidEntry:
      return "no_valid_entry";
    case HandleStatus::kFunctionNotGranted:
      return "function_not_granted";
    case HandleStatus::kMalformed:
      return "malformed";
    case HandleStatus::kHandleBusy:
      return "handle_busy";
    case HandleStatus::kDomainHasHandle:
      return "domain_has_handle";
    case HandleStatus::kNotSoftwareManaged:
      return "not_software_managed";
  }
  return "?";
}

}  // namespace flitwise
