// SPDX-License-Identifier: Apache-2.0
// Layout and order of fault records.
#include "iommu/fault_log.h"

#include "common/page.h"
#include "iommu/word_bits.h"

namespace flitwise {

namespace {
// Positions that no open source confirms. [IOM-9.1]
constexpr unsigned kUnverifiedExecute = 29, kUnverifiedPrivileged = 30, kUnverifiedAtomic = 60;

constexpr unsigned kFaultHasPasid = 31, kReason = 32, kFaultPasid = 40, kIsRead = 62;
}  // namespace

std::uint64_t record_low(const FaultRecord& record) {
  return record.address & kPageAddress;
}

std::uint64_t record_high(const FaultRecord& record) {
  const std::uint64_t pasid =
      record.pasid.has_value() ? std::uint64_t{to_int(*record.pasid)} << kFaultPasid : 0;
  return record.source.value | bit_if(record.is_execute, kUnverifiedExecute) |
         bit_if(record.is_privileged, kUnverifiedPrivileged) |
         bit_if(record.pasid.has_value(), kFaultHasPasid) | std::uint64_t{record.code} << kReason |
         pasid | bit_if(record.is_atomic, kUnverifiedAtomic) | bit_if(!record.is_write, kIsRead);
}

bool FaultLog::has_pending(Bdf source, const IommuRegisters& registers) const {
  for (unsigned i = 0; i < registers.fault_record_count(); ++i) {
    if (registers.fault_record_is_taken(i) && sources_[i] == source) {
      return true;
    }
  }
  return false;
}

FaultLog::Outcome FaultLog::report(const FaultRecord& record, IommuRegisters& registers) {
  const bool is_overflowed = (registers.fault_status() & fault_status::kOverflow) != 0;
  const bool is_collapsed = collapses_by_source_ && has_pending(record.source, registers);
  if (is_overflowed || is_collapsed) {
    ++dropped_;
    return {};
  }
  if (registers.fault_record_is_taken(next_)) {
    ++dropped_;
    return {false, registers.raise_fault(fault_status::kOverflow)};
  }
  const unsigned index = next_;
  next_ = (next_ + 1) % registers.fault_record_count();
  sources_[index] = record.source;
  return {true, registers.set_fault_record(index, record_low(record), record_high(record))};
}

}  // namespace flitwise
