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
FaultType fault_type_of(const WalkRequest& request);
AddressType address_type_of(WalkKind kind);
std::uint64_t record_low(const FaultRecord& record);
std::uint64_t record_high(const FaultRecord& record);  ///< with F=0

/// Fills the records of a register file in turn.
class FaultLog {
 public:
  /// collapses_by_source: a fault of a function that has a pending record is dropped without
  /// overflow, as one known implementation does. [IOM-9.4]
  explicit FaultLog(bool collapses_by_source = false) : collapses_by_source_(collapses_by_source) {}

  struct Outcome {
    bool is_recorded = false;
    std::optional<IommuInterrupt> interrupt;
  };
  /// Records it, or sets PFO where the next record is still taken; while PFO is set nothing is
  /// recorded. [PAS-37]
  Outcome report(const FaultRecord& record, IommuRegisters& registers);

  std::uint64_t dropped() const { return dropped_; }
  void reset() { next_ = 0; }

 private:
  bool has_pending(Bdf source, const IommuRegisters& registers) const;

  bool collapses_by_source_;
  unsigned next_ = 0;
  std::uint64_t dropped_ = 0;
  static constexpr unsigned kMaxRecords = 256;
  Bdf sources_[kMaxRecords] = {};
};

}  // namespace flitwise
