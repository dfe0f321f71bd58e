// SPDX-License-Identifier: Apache-2.0
// map and poke_entry as scripts write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/script/script_line_reading.h"

namespace flitwise::table_ops_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(MapOp, LeftOutFieldsAreOnePageOfTheFirstFunctionWithAllRights) {
  const Mapping mapping =
      op_of<MapOp>(R"({"op":"map","address":"0x40000000","to":"0x777000"})").mapping;
  EXPECT_EQ(mapping.function, Bdf::of(1, 0, 0));
  EXPECT_EQ(to_int(mapping.pasid), 0U);
  EXPECT_EQ(mapping.type, TranslationType::kFirstStage);
  EXPECT_EQ(mapping.levels, 4U);
  EXPECT_EQ(mapping.bytes, 4096U);
  EXPECT_TRUE(mapping.rights.read && mapping.rights.write && mapping.rights.user &&
              mapping.rights.execute);
  EXPECT_FALSE(mapping.domain.has_value());
}

TEST(MapOp, EveryFieldCounts) {
  const Mapping mapping =
      op_of<MapOp>(R"({"op":"map","rid":"01:00.2","pasid":7,"stage":"nested","levels":5,
        "address":"0x40000000","via":"0x200000","to":"0x400000","bytes":"0x400000","page":"2MiB",
        "flags":["read","user"],"did":3})")
          .mapping;
  EXPECT_EQ(mapping.function, Bdf::of(1, 0, 2));
  EXPECT_EQ(to_int(mapping.pasid), 7U);
  EXPECT_EQ(mapping.type, TranslationType::kNested);
  EXPECT_EQ(mapping.levels, 5U);
  EXPECT_EQ(mapping.via, 0x20'0000U);
  EXPECT_EQ(mapping.to, 0x40'0000U);
  EXPECT_EQ(mapping.bytes, 0x40'0000U);
  EXPECT_EQ(mapping.page_bits, 21U);
  EXPECT_TRUE(mapping.rights.read && mapping.rights.user);
  EXPECT_FALSE(mapping.rights.write || mapping.rights.execute);
  EXPECT_EQ(mapping.domain, 3);
}

TEST(PermitOp, LeftOutFieldsAreOnePageToReadAndWrite) {
  const PermissionGrant grant =
      op_of<PermitOp>(R"({"op":"permit","pasid":5,"address":"0x777000"})").grant;
  EXPECT_EQ(grant.function, Bdf::of(1, 0, 0));
  EXPECT_EQ(to_int(grant.pasid), 5U);
  EXPECT_EQ(grant.address, 0x77'7000U);
  EXPECT_EQ(grant.bytes, 4096U);
  EXPECT_EQ(grant.unit_bits, 12U);
  EXPECT_TRUE(grant.permission.read && grant.permission.write);
  EXPECT_FALSE(grant.is_trusted.has_value());
}

TEST(PermitOp, EveryFieldCounts) {
  const PermissionGrant grant =
      op_of<PermitOp>(R"({"op":"permit","rid":"01:00.2","address":"0x8000000","unit":"64MiB",
        "bytes":"0x8000000","allow":"w","trusted":true})")
          .grant;
  EXPECT_EQ(grant.function, Bdf::of(1, 0, 2));
  EXPECT_EQ(grant.unit_bits, 26U);
  EXPECT_EQ(grant.bytes, 0x800'0000U);
  EXPECT_FALSE(grant.permission.read);
  EXPECT_TRUE(grant.permission.write);
  EXPECT_EQ(grant.is_trusted, true);
}

TEST(PermitOp, WhatCannotBePermittedIsNamed) {
  EXPECT_THAT(problems_of(R"({"op":"permit"})"), ElementsAre(HasSubstr("address: missing")));
  EXPECT_THAT(problems_of(R"({"op":"permit","address":"0x1000","unit":"64MiB"})"),
              ElementsAre(HasSubstr("address: is no multiple of the unit")));
  EXPECT_THAT(problems_of(R"({"op":"permit","address":0,"bytes":"0x10001000"})"),
              ElementsAre(HasSubstr("bytes: expected up to 65536 pages")));
  EXPECT_THAT(problems_of(R"({"op":"permit","address":0,"allow":"x"})"),
              ElementsAre(HasSubstr("allow:")));
  EXPECT_THAT(problems_of(R"({"op":"map","stage":"pass_through","permit":"rw"})"),
              ElementsAre(HasSubstr("permit: has no range in pass_through")));
}

TEST(MapOp, PermitIsForTheSamePages) {
  const MapOp op =
      op_of<MapOp>(R"({"op":"map","address":"0x40000000","to":"0x777000","permit":"r"})");
  ASSERT_TRUE(op.permit.has_value());
  EXPECT_TRUE(op.permit->read);
  EXPECT_FALSE(op.permit->write);
}

TEST(MapOp, WhatCannotBeMappedIsNamed) {
  EXPECT_THAT(problems_of(R"({"op":"map","address":1,"to":0})"),
              ElementsAre(HasSubstr("address: is no multiple of the page")));
  EXPECT_THAT(problems_of(R"({"op":"map","levels":3,"address":0,"to":0})"),
              ElementsAre(HasSubstr("levels: 3 seen")));
  EXPECT_THAT(problems_of(R"({"op":"map","via":0,"address":0,"to":0})"),
              ElementsAre(HasSubstr("via: is for stage nested alone")));
  EXPECT_THAT(problems_of(R"({"op":"map","pasid":32768,"address":0,"to":0})"),
              ElementsAre(HasSubstr("pasid: expected one below 32768")));
  EXPECT_THAT(problems_of(R"({"op":"map","bytes":"0x10001000","address":0,"to":0})"),
              ElementsAre(HasSubstr("bytes: expected up to 65536 pages")));
  EXPECT_THAT(
      problems_of(R"({"op":"map","bytes":"0x10000","address":"0xfffffffffffff000","to":0})"),
      ElementsAre(HasSubstr("address: expected an end within the 64-bit address space")));
  EXPECT_THAT(problems_of(R"({"op":"map","bytes":"0x2000","address":0,"to":"0xfffffffffffff000"})"),
              Contains(HasSubstr("to: expected an end within the 64-bit address space")));
  EXPECT_THAT(problems_of(R"({"op":"map","address":"0xfffffffffffff000","to":0})"), IsEmpty());
  EXPECT_THAT(problems_of(R"({"op":"map","flags":["reed"],"address":0,"to":0})"),
              ElementsAre(HasSubstr("nearest value 'read'")));
  EXPECT_THAT(problems_of(R"({"op":"map","flags":"read","address":0,"to":0})"),
              ElementsAre(HasSubstr("expected a list")));
  EXPECT_THAT(problems_of(R"({"op":"map"})"),
              ElementsAre(HasSubstr("address: missing"), HasSubstr("to: missing")));
}

TEST(PokeEntryOp, NamesAnEntryByItsPlaceInAWalk) {
  const auto op = op_of<PokeEntryOp>(
      R"({"op":"poke_entry","pasid":5,"which":"second_level_3","address":"0x1000","clear":3})");
  EXPECT_EQ(op.name.kind, TableEntryName::Kind::kSecondStage);
  EXPECT_EQ(op.name.level, 3U);
  EXPECT_EQ(op.name.address, 0x1000U);
  EXPECT_EQ(op.clear, 3U);
  EXPECT_EQ(op.set, 0U);
  const auto pasid = op_of<PokeEntryOp>(R"({"op":"poke_entry","which":"pasid","quad":7,"set":1})");
  EXPECT_EQ(pasid.name.kind, TableEntryName::Kind::kPasid);
  EXPECT_EQ(pasid.quad, 7U);
}

TEST(PokeEntryOp, WhatIsMissingOrBeyondTheEntryIsNamed) {
  EXPECT_THAT(problems_of(R"({"op":"poke_entry","which":"level_1","set":1})"),
              ElementsAre(HasSubstr("address: missing")));
  EXPECT_THAT(problems_of(R"({"op":"poke_entry","which":"context","quad":4,"set":1})"),
              ElementsAre(HasSubstr("quad: 4 seen; expected 0 to 3")));
  EXPECT_THAT(problems_of(R"({"op":"poke_entry","which":"root"})"),
              ElementsAre(HasSubstr("expected set, clear or both")));
}

}  // namespace
}  // namespace flitwise::table_ops_test
