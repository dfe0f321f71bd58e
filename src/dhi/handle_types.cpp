// SPDX-License-Identifier: Apache-2.0
// Names of refusals.
#include "dhi/handle_types.h"

#include "common/name_table.h"

namespace flitwise {

const char* name_of(HandleStatus status) {
  static constexpr const char* kNames[] = {"ok",
                                           "bus_outside_port",
                                           "requester_mismatch",
                                           "handle_out_of_range",
                                           "pasid_not_granted",
                                           "trust_not_granted",
                                           "capability_not_granted",
                                           "handle_in_use",
                                           "epoch_mismatch",
                                           "no_valid_entry",
                                           "function_not_granted",
                                           "malformed",
                                           "handle_busy",
                                           "domain_has_handle",
                                           "not_software_managed"};
  return name_in(kNames, status);
}

}  // namespace flitwise
