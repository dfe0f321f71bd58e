// SPDX-License-Identifier: Apache-2.0
// Structures that scripts ask for, as a walk finds them.
#include "iommu/table_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/iommu/table_memory.h"

namespace flitwise::test::table_builder_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = TableEntryName::Kind;

struct Machine {
  TableMemory memory;
  IommuCapabilities offers;
  std::uint64_t end = std::uint64_t{1} << 34;
  TableBuilder builder{[this](std::uint64_t address, std::uint64_t value) {
    memory.write(address, value);
    return address < end;
  }};

  WalkResult walk(Bdf function, OptionalId<Pasid> pasid, std::uint64_t address, bool write = true) {
    WalkRequest request;
    request.source = function;
    request.pasid = pasid;
    request.address = address;
    request.wish.read = !write;
    request.wish.write = write;
    Walk walk(request, {TableBuilder::kDefaultArea, TableMode::kScalable}, offers);
    return memory.finish(walk);
  }
};

Mapping mapping_of(TranslationType type, std::uint64_t address, std::uint64_t to) {
  Mapping mapping;
  mapping.function = Bdf::of(1, 0, 0);
  mapping.pasid = Pasid{5};
  mapping.type = type;
  mapping.address = address;
  mapping.to = mapping.via = to;
  mapping.bytes = 0x1000;
  return mapping;
}

constexpr Pasid kPasid{5};

// [IOM-2.1]
TEST(TableBuilder, PagesOfTablesFollowEachOtherFromTheTop) {
  Machine machine;
  const MappedEntries made =
      machine.builder.map(mapping_of(TranslationType::kFirstStage, 0x4000'0000, 0x77'7000));
  EXPECT_EQ(made.root_table, 0x400'0000U);
  EXPECT_EQ(made.root, 0x400'0010U);
  EXPECT_EQ(made.context, 0x400'1000U);
  EXPECT_EQ(made.pasid_directory, 0x400'2000U);
  EXPECT_EQ(made.pasid, 0x400'3140U);
  EXPECT_THAT(made.first_stage, ElementsAre(0x400'4000, 0x400'5008, 0x400'6000, 0x400'7000));
  EXPECT_THAT(made.second_stage, IsEmpty());
  EXPECT_EQ(machine.memory.read(made.context), 0x400'2000U | 2U << 9 | 0x1dU);
  EXPECT_EQ(machine.memory.read(made.first_stage.back()), 0x77'7007U);
}

// [IOM-2.6]
TEST(TableBuilder, AWalkEndsWhereItWasMapped) {
  struct Row {
    TranslationType type;
    unsigned levels, page_bits, reads;
  };
  for (const Row& row :
       {Row{TranslationType::kFirstStage, 4, 12, 8}, Row{TranslationType::kFirstStage, 5, 12, 9},
        Row{TranslationType::kFirstStage, 4, 21, 7}, Row{TranslationType::kSecondStage, 3, 12, 7},
        Row{TranslationType::kSecondStage, 4, 30, 6}, Row{TranslationType::kNested, 4, 12, 28}}) {
    Machine machine;
    Mapping mapping = mapping_of(row.type, 0x4000'0000, 0x1'c000'0000);
    mapping.levels = row.levels;
    mapping.page_bits = row.page_bits;
    mapping.bytes = std::uint64_t{2} << row.page_bits;
    mapping.via = row.type == TranslationType::kNested ? 0x8000'0000 : 0;
    machine.builder.map(mapping);
    const std::uint64_t last = mapping.bytes - 8;
    const WalkResult result = machine.walk(mapping.function, kPasid, mapping.address + last);
    EXPECT_EQ(result.fault, FaultReason::kNone) << row.reads;
    EXPECT_EQ(result.address, mapping.to + last) << row.reads;
    EXPECT_EQ(result.page_bits, row.page_bits) << row.reads;
    EXPECT_EQ(result.total_reads(), row.reads);
    EXPECT_NE(machine.walk(mapping.function, kPasid, mapping.address + mapping.bytes).fault,
              FaultReason::kNone);
  }
}

TEST(TableBuilder, PassThroughNeedsNoRange) {
  Machine machine;
  Mapping mapping = mapping_of(TranslationType::kPassThrough, 0, 0);
  mapping.pasid = Pasid{};
  machine.builder.map(mapping);
  EXPECT_EQ(machine.walk(mapping.function, {}, 0x1234'5678).address, 0x1234'5678U);
}

TEST(TableBuilder, FunctionsAndPasidsHaveTablesOfTheirOwn) {
  Machine machine;
  const Bdf other = Bdf::of(1, 31, 7);  // upper half of the bus
  Mapping mapping = mapping_of(TranslationType::kFirstStage, 0x4000'0000, 0x77'7000);
  machine.builder.map(mapping);
  mapping.pasid = Pasid{0x1045};
  mapping.to = 0x88'8000;
  machine.builder.map(mapping);
  mapping.function = other;
  mapping.to = 0x99'9000;
  const MappedEntries made = machine.builder.map(mapping);
  EXPECT_EQ(made.root, 0x400'0018U);
  const Bdf first = Bdf::of(1, 0, 0);
  EXPECT_EQ(machine.walk(first, kPasid, 0x4000'0000).address, 0x77'7000U);
  EXPECT_EQ(machine.walk(first, Pasid{0x1045}, 0x4000'0000).address, 0x88'8000U);
  EXPECT_EQ(machine.walk(other, Pasid{0x1045}, 0x4000'0000).address, 0x99'9000U);
  EXPECT_EQ(machine.walk(other, kPasid, 0x4000'0000).fault, FaultReason::kPasidDirectoryNotPresent);
}

TEST(TableBuilder, RightsAreThoseOfThePage) {
  Machine machine;
  Mapping mapping = mapping_of(TranslationType::kFirstStage, 0x4000'0000, 0x77'7000);
  mapping.rights = {true, false, false, false};
  const MappedEntries first = machine.builder.map(mapping);
  EXPECT_EQ(machine.memory.read(first.first_stage.back()), 0x8000'0000'0077'7001U);
  mapping = mapping_of(TranslationType::kSecondStage, 0x4000'0000, 0x77'7000);
  mapping.pasid = Pasid{6};
  mapping.rights = {false, true, false, false};
  const MappedEntries second = machine.builder.map(mapping);
  EXPECT_EQ(machine.memory.read(second.second_stage.back()), 0x77'7002U);
}

TEST(TableBuilder, EntriesAreFoundByNameAlsoWhenTheyWereChanged) {
  Machine machine;
  const MappedEntries made =
      machine.builder.map(mapping_of(TranslationType::kNested, 0x4000'0000, 0x77'7000));
  machine.memory.write(made.root, 0);
  TableEntryName name;
  name.function = Bdf::of(1, 0, 0);
  name.pasid = kPasid;
  name.address = 0x4000'0000;
  name.kind = Kind::kFirstStage;
  name.level = 3;
  EXPECT_EQ(machine.builder.find(name), made.first_stage[1]);
  name.kind = Kind::kSecondStage;
  name.address = 0x77'7000;
  name.level = 1;
  EXPECT_EQ(machine.builder.find(name), made.second_stage[3]);
  name.level = 5;
  EXPECT_EQ(machine.builder.find(name), std::nullopt);
  name.pasid = Pasid{6};
  EXPECT_EQ(machine.builder.find(name), std::nullopt);
}

TEST(TableBuilder, WhatDoesNotFitTogetherIsRefused) {
  Machine machine;
  Mapping mapping = mapping_of(TranslationType::kFirstStage, 0x4000'0000, 0x80'0000);
  machine.builder.map(mapping);
  mapping.page_bits = 21;
  mapping.bytes = 0x20'0000;
  EXPECT_THROW(machine.builder.map(mapping), std::invalid_argument);  // a table is there
  mapping.address = 0x8000'0000;
  machine.builder.map(mapping);
  mapping.page_bits = 12;
  EXPECT_THROW(machine.builder.map(mapping), std::invalid_argument);  // a larger page is there
  mapping.levels = 5;
  EXPECT_THROW(machine.builder.map(mapping), std::invalid_argument);  // the PASID has four levels
  machine.end = 0;
  EXPECT_THROW(machine.builder.map(mapping_of(TranslationType::kFirstStage, 0, 0)),
               std::invalid_argument);
}

}  // namespace
}  // namespace flitwise::test::table_builder_test
