// SPDX-License-Identifier: Apache-2.0
/// What the entries of a walk grant together, and whether that is enough for a request.
#pragma once

#include <cstdint>

#include "iommu/fault.h"

namespace flitwise {

/// What a request wants to do with the page.
struct AccessWish {
  bool read = false;
  bool write = false;
  bool execute = false;      ///< ER of the PASID prefix
  bool privileged = false;   ///< PMR of the PASID prefix
  bool zero_length = false;  ///< a read of no bytes
};

/// AND over all levels, each stage on its own. An IOTLB keeps this, so that a hit judges as the
/// walk did. [IOM-2.11]
struct Rights {
  bool user = true;           ///< U/S of the first stage
  bool first_write = true;    ///< R/W of the first stage
  bool execute = true;        ///< no XD in the first stage
  bool write_protect = true;  ///< WPE: R/W binds privileged requests too
  bool second_read = true;
  bool second_write = true;

  constexpr bool reaches(bool privileged) const { return user || privileged; }
  constexpr bool first_allows_write(bool privileged) const {
    return first_write || (privileged && !write_protect);
  }
  constexpr bool allows_read(bool privileged) const { return reaches(privileged) && second_read; }
  constexpr bool allows_write(bool privileged) const {
    return reaches(privileged) && first_allows_write(privileged) && second_write;
  }
  constexpr bool allows_execute(bool privileged) const {
    return allows_read(privileged) && execute;
  }
};

/// Fault of the first stage, in the order U/S, write, execute; kNone if it grants all. The same
/// below a second stage. [PAS-19, PAS-21, PAS-33]
constexpr FaultReason first_stage_fault(const Rights& rights, const AccessWish& wish) {
  if (!rights.reaches(wish.privileged)) {
    return FaultReason::kUserSupervisor;
  }
  if (wish.write && !rights.first_allows_write(wish.privileged)) {
    return FaultReason::kNoWrite;
  }
  return wish.execute && !rights.execute ? FaultReason::kNoExecute : FaultReason::kNone;
}

/// kSecondStagePermission if the second stage does not grant it; a zero-length read may go where
/// writes may: ZLR. [PAS-26, PAS-27]
constexpr FaultReason second_stage_fault(const Rights& rights, const AccessWish& wish) {
  const bool read_ok = rights.second_read || (wish.zero_length && rights.second_write);
  const bool is_denied = (wish.read && !read_ok) || (wish.write && !rights.second_write);
  return is_denied ? FaultReason::kSecondStagePermission : FaultReason::kNone;
}

/// Both, the first stage first.
constexpr FaultReason rights_fault(const Rights& rights, const AccessWish& wish) {
  const FaultReason first = first_stage_fault(rights, wish);
  return first != FaultReason::kNone ? first : second_stage_fault(rights, wish);
}

}  // namespace flitwise
