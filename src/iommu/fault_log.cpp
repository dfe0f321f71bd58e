// SPDX-License-Identifier: Apache-2.0
// Layout and order of fault records.
#include "iommu/fault_log.h"

#include "common/page.h"
#include "iommu/word_fields.h"

namespace flitwise {

namespace {

/// One of the two bits of a type, which stand apart.
template <unsigned kBit>
constexpr FieldAccess<FaultRecord> kTypeBit{
    [](const FaultRecord& from) { return static_cast<std::uint64_t>(from.type) >> kBit; },
    [](FaultRecord& to, std::uint64_t value) {
      const std::uint64_t other = static_cast<std::uint64_t>(to.type) & ~(std::uint64_t{1} << kBit);
      to.type = static_cast<FaultType>(other | value << kBit);
    }};

// [IOM-9.1]
constexpr WordField<FaultRecord> kFields[] = {
    {0, 12, 52, kBitsAbove<FaultRecord, &FaultRecord::address, 12>},
    {1, 0, 16, field_access<&FaultRecord::source>},
    {1, 28, 1, kTypeBit<0>},
    {1, 29, 1, field_access<&FaultRecord::is_privileged>},
    {1, 30, 1, field_access<&FaultRecord::is_execute>},
    {1, 32, 8, field_access<&FaultRecord::code>},
    {1, 40, 20, kPasidOrNone<FaultRecord>},
    {1, 31, 1, kHasPasid<FaultRecord>},
    {1, 60, 2, field_access<&FaultRecord::at>},
    {1, 62, 1, kTypeBit<1>},
};

}  // namespace

FaultRecord read_fault_record(std::uint64_t low, std::uint64_t high) {
  return read_fields<FaultRecord>({low, high}, kFields);
}

// A Translation Request is a read, whatever it wishes. model: a Page Request has AT 0.
FaultType fault_type_of(const WalkRequest& request) {
  if (request.kind == WalkKind::kPageRequest) {
    return FaultType::kPageRequest;
  }
  if (!request.wish.write || request.kind == WalkKind::kTranslationRequest) {
    return FaultType::kRead;
  }
  return request.wish.read ? FaultType::kAtomic : FaultType::kWrite;
}

AddressType address_type_of(WalkKind kind) {
  return kind == WalkKind::kTranslationRequest ? AddressType::kTranslationRequest
         : kind == WalkKind::kTranslated       ? AddressType::kTranslated
                                               : AddressType::kUntranslated;
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

std::optional<IommuInterrupt> FaultLog::report(const FaultRecord& record,
                                               IommuRegisters& registers) {
  if ((registers.fault_status() & fault_status::kOverflow) != 0) {
    return std::nullopt;
  }
  if (registers.fault_record_is_taken(next_)) {
    return registers.raise_fault(fault_status::kOverflow);
  }
  const unsigned index = next_;
  next_ = (next_ + 1) % registers.fault_record_count();
  const auto [low, high] = words_of(record, kFields);
  return registers.set_fault_record(index, low, high);
}

}  // namespace flitwise
