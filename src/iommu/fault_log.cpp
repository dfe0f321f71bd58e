// SPDX-License-Identifier: Apache-2.0
// Layout and order of fault records.
#include "iommu/fault_log.h"

#include "common/page.h"
#include "iommu/word_bits.h"

namespace flitwise {

namespace {
// Places in the high half. [IOM-9.1]
constexpr unsigned kFaultType2 = 28, kFaultPrivileged = 29, kFaultExecute = 30, kFaultHasPasid = 31,
                   kReason = 32, kFaultPasid = 40, kFaultAddressType = 60, kFaultType1 = 62;
}  // namespace

// A Translation Request is a read, whatever it wishes. model: a Page Request has AT 0.
FaultType fault_type_of(const WalkRequest& request) {
  switch (request.kind) {
    case WalkKind::kTranslationRequest:
      return FaultType::kRead;
    case WalkKind::kPageRequest:
      return FaultType::kPageRequest;
    case WalkKind::kUntranslated:
    case WalkKind::kTranslated:
      break;
  }
  if (!request.wish.write) {
    return FaultType::kRead;
  }
  return request.wish.read ? FaultType::kAtomic : FaultType::kWrite;
}

AddressType address_type_of(WalkKind kind) {
  switch (kind) {
    case WalkKind::kTranslationRequest:
      return AddressType::kTranslationRequest;
    case WalkKind::kTranslated:
      return AddressType::kTranslated;
    case WalkKind::kUntranslated:
    case WalkKind::kPageRequest:
      break;
  }
  return AddressType::kUntranslated;
}

// [IOM-9.1]
FaultRecord fault_record_of(const WalkRequest& request, FaultReason reason, bool is_legacy) {
  FaultRecord record;
  record.code =
      is_legacy ? legacy_code(reason, request.wish.write) : static_cast<std::uint8_t>(reason);
  record.source = request.source;
  record.pasid = request.pasid;
  record.address = request.address & kPageAddress;
  record.type = fault_type_of(request);
  record.at = address_type_of(request.kind);
  record.is_privileged = request.pasid && request.wish.privileged;
  record.is_execute = request.pasid && request.wish.execute;
  return record;
}

std::uint64_t record_low(const FaultRecord& record) {
  return record.address & kPageAddress;
}

std::uint64_t record_high(const FaultRecord& record) {
  const std::uint64_t pasid =
      record.pasid.has_value() ? std::uint64_t{to_int(*record.pasid)} << kFaultPasid : 0;
  const auto type = static_cast<unsigned>(record.type);
  return record.source.value | bit_if((type & 1U) != 0, kFaultType2) |
         bit_if(record.is_privileged, kFaultPrivileged) | bit_if(record.is_execute, kFaultExecute) |
         bit_if(record.pasid.has_value(), kFaultHasPasid) | std::uint64_t{record.code} << kReason |
         pasid | static_cast<std::uint64_t>(record.at) << kFaultAddressType |
         bit_if((type & 2U) != 0, kFaultType1);
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
