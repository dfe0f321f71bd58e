// SPDX-License-Identifier: Apache-2.0
/// Which faults get into the fault records, and the layout of a record. [IOM-9.1]
#pragma once

#include <cstdint>
#include <optional>

#include "flitwise/ids.h"
#include "flitwise/tlp.h"
#include "iommu/fault.h"
#include "iommu/registers.h"
#include "iommu/walk.h"

namespace flitwise {

/// What the refused request was: T1 in bit 1, T2 in bit 0. [IOM-9.1]
enum class FaultType : std::uint8_t { kWrite = 0, kPageRequest = 1, kRead = 2, kAtomic = 3 };

/// What software is told about a refused request.
struct FaultRecord {
  std::uint8_t code = 0;  ///< reason as recorded, after legacy_code() if that is asked for
  Bdf source;
  OptionalId<Pasid> pasid;
  std::uint64_t address = 0;  ///< its page is recorded
  FaultType type = FaultType::kRead;
  AddressType at = AddressType::kUntranslated;
  bool is_privileged = false, is_execute = false;  ///< PRIV, EXE
};
/// What the request has met, with the number of the legacy table where that is asked for.
FaultRecord fault_record_of(const WalkRequest& request, FaultReason reason, bool is_legacy);
/// The two quadwords of a fault recording register, whether F is set or not.
FaultRecord read_fault_record(std::uint64_t low, std::uint64_t high);
FaultType fault_type_of(const WalkRequest& request);
AddressType address_type_of(WalkKind kind);

/// Fills the records of a register file in turn.
class FaultLog {
 public:
  /// Records it, or sets PFO where the next record is still taken; while PFO is set nothing is
  /// recorded. [PAS-37]
  std::optional<IommuInterrupt> report(const FaultRecord& record, IommuRegisters& registers);

 private:
  unsigned next_ = 0;
};

}  // namespace flitwise
