// SPDX-License-Identifier: Apache-2.0
// Requests against the rights of a translation.
#include "iommu/rights.h"

namespace flitwise {

FaultReason first_stage_fault(const Rights& rights, const AccessWish& wish) {
  if (!rights.reaches(wish.privileged)) {
    return FaultReason::kUserSupervisor;
  }
  if (wish.write && !rights.first_allows_write(wish.privileged)) {
    return FaultReason::kNoWrite;
  }
  if (wish.execute && !rights.execute) {
    return FaultReason::kNoExecute;
  }
  return FaultReason::kNone;
}

FaultReason second_stage_fault(const Rights& rights, const AccessWish& wish,
                               bool zero_length_read) {
  const bool read_ok =
      rights.second_read || (wish.zero_length && zero_length_read && rights.second_write);
  const bool is_denied = (wish.read && !read_ok) || (wish.write && !rights.second_write);
  return is_denied ? FaultReason::kSecondStagePermission : FaultReason::kNone;
}

FaultReason rights_fault(const Rights& rights, const AccessWish& wish, bool zero_length_read) {
  const FaultReason first = first_stage_fault(rights, wish);
  return first != FaultReason::kNone ? first : second_stage_fault(rights, wish, zero_length_read);
}

}  // namespace flitwise
