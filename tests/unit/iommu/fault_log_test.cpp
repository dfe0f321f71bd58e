// SPDX-License-Identifier: Apache-2.0
// Fault records: layout, order, overflow.
#include "iommu/fault_log.h"

#include <gtest/gtest.h>

namespace flitwise::fault_log_test {
namespace {

using namespace iommu_register;

FaultRecord record_of(Bdf source, std::uint64_t address) {
  FaultRecord record;
  record.code = 0x71;
  record.source = source;
  record.address = address;
  return record;
}

class Faults : public ::testing::Test {
 protected:
  explicit Faults(std::uint16_t records = 3) {
    offers.fault_records = records;
    registers = IommuRegisters(offers);
    registers.write(kFectl, 4, 0);
  }
  std::uint64_t high(unsigned index) { return registers.read(0x228 + 16 * index, 8); }
  std::uint64_t status() { return registers.read(kFsts, 4); }
  std::uint64_t high_of(const FaultRecord& record) {
    IommuRegisters other(offers);
    FaultLog().report(record, other);
    return other.read(0x228, 8) & ~(1ULL << 63);
  }
  unsigned taken() {
    unsigned count = 0;
    for (unsigned i = 0; i < registers.fault_record_count(); ++i) {
      count += registers.fault_record_is_taken(i) ? 1 : 0;
    }
    return count;
  }
  bool is_recorded(const FaultRecord& record) {
    const unsigned before = taken();
    log.report(record, registers);
    return taken() > before;
  }
  IommuCapabilities offers;
  IommuRegisters registers{offers};
  FaultLog log;
};

// [IOM-9.1]
TEST_F(Faults, RecordHasSourceReasonPasidAndDirection) {
  FaultRecord record = record_of(Bdf::of(0, 4, 0), 0x1234'5678);
  EXPECT_EQ(high_of(record), 0x4000'0071'0000'0020U);  // a read without PASID
  record.pasid = Pasid{0xabcde};
  record.type = FaultType::kWrite;
  EXPECT_EQ(high_of(record), 0x0abc'de71'8000'0020U);
  log.report(record, registers);
  EXPECT_EQ(registers.read(0x220, 8), 0x1234'5000U);
  EXPECT_EQ(high(0), 0x8abc'de71'8000'0020U);
}

TEST_F(Faults, IOM_9_1_ExeIsBit30PrivBit29AtInBits61To60AndT2Bit28) {
  FaultRecord record = record_of(Bdf{}, 0);
  record.code = 0;
  record.type = FaultType::kWrite;
  EXPECT_EQ(high_of(record), 0U);
  record.is_execute = true;
  EXPECT_EQ(high_of(record), 1ULL << 30);
  record.is_execute = false;
  record.is_privileged = true;
  EXPECT_EQ(high_of(record), 1ULL << 29);
  record.is_privileged = false;
  record.at = AddressType::kTranslationRequest;
  EXPECT_EQ(high_of(record), 1ULL << 60);
  record.at = AddressType::kTranslated;
  EXPECT_EQ(high_of(record), 2ULL << 60);
  record.at = AddressType::kUntranslated;
  record.type = FaultType::kPageRequest;
  EXPECT_EQ(high_of(record), 1ULL << 28);
  record.type = FaultType::kRead;
  EXPECT_EQ(high_of(record), 1ULL << 62);
  record.type = FaultType::kAtomic;
  EXPECT_EQ(high_of(record), 1ULL << 62 | 1ULL << 28);
}

TEST_F(Faults, IOM_9_1_TypeAndAddressTypeFollowTheRequest) {
  WalkRequest request;
  request.wish.write = true;
  EXPECT_EQ(fault_type_of(request), FaultType::kWrite);
  request.wish.read = true;
  EXPECT_EQ(fault_type_of(request), FaultType::kAtomic);
  request.kind = WalkKind::kTranslationRequest;
  EXPECT_EQ(fault_type_of(request), FaultType::kRead);
  EXPECT_EQ(address_type_of(request.kind), AddressType::kTranslationRequest);
  request.kind = WalkKind::kPageRequest;
  EXPECT_EQ(fault_type_of(request), FaultType::kPageRequest);
  EXPECT_EQ(address_type_of(request.kind), AddressType::kUntranslated);
  request.kind = WalkKind::kTranslated;
  request.wish.write = false;
  EXPECT_EQ(fault_type_of(request), FaultType::kRead);
  EXPECT_EQ(address_type_of(request.kind), AddressType::kTranslated);
}

// [IOM-9.1]
TEST_F(Faults, FirstPendingIndexFollowsTheOldest) {
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_TRUE(is_recorded(record_of(Bdf::of(1, 0, 0), 0x1000 * i)));
  }
  EXPECT_EQ(status(), fault_status::kPending);
  registers.write(0x228, 8, 1ULL << 63);
  EXPECT_EQ(status(), fault_status::kPending | 1U << 8);
  EXPECT_TRUE(is_recorded(record_of(Bdf::of(1, 0, 0), 0x9000)));
  EXPECT_EQ(registers.read(0x220, 8), 0x9000U);
  registers.write(0x238 + 4, 4, 1ULL << 31);
  registers.write(0x248, 8, 1ULL << 63);
  EXPECT_EQ(status(), fault_status::kPending);
  registers.write(0x228, 8, 1ULL << 63);
  EXPECT_EQ(status(), 0U);
}

// [IOM-9.1]
TEST_F(Faults, PendingBitsAreNotClearedThroughTheStatusRegister) {
  log.report(record_of(Bdf::of(1, 0, 0), 0), registers);
  registers.write(kFsts, 4, 0xffff);
  EXPECT_EQ(status(), fault_status::kPending);
  registers.write(0x228, 8, 0);
  EXPECT_NE(high(0) >> 63, 0U);
}

class OneRecord : public Faults {
 protected:
  OneRecord() : Faults(1) {}
};

TEST_F(OneRecord, PAS_37_SecondFaultOverflowsAndIsLost) {
  EXPECT_TRUE(is_recorded(record_of(Bdf::of(1, 0, 0), 0x1000)));
  EXPECT_FALSE(is_recorded(record_of(Bdf::of(1, 0, 0), 0x2000)));
  EXPECT_EQ(registers.read(0x220, 8), 0x1000U);
  EXPECT_EQ(status(), fault_status::kPending | fault_status::kOverflow);
}

TEST_F(OneRecord, PAS_37_NothingIsRecordedUntilTheOverflowIsCleared) {
  log.report(record_of(Bdf::of(1, 0, 0), 0x1000), registers);
  log.report(record_of(Bdf::of(1, 0, 0), 0x2000), registers);
  registers.write(0x228, 8, 1ULL << 63);
  EXPECT_FALSE(is_recorded(record_of(Bdf::of(1, 0, 0), 0x3000)));
  registers.write(kFsts, 4, fault_status::kOverflow);
  EXPECT_TRUE(is_recorded(record_of(Bdf::of(1, 0, 0), 0x4000)));
}

// [IOM-9.3]
TEST_F(OneRecord, OneInterruptForAllPendingFaults) {
  EXPECT_TRUE(log.report(record_of(Bdf::of(1, 0, 0), 0), registers));
  EXPECT_FALSE(log.report(record_of(Bdf::of(1, 0, 0), 0), registers));
}

}  // namespace
}  // namespace flitwise::fault_log_test
