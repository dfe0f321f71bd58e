// SPDX-License-Identifier: Apache-2.0
#include "pio/pbc.h"

#include <algorithm>

#include "common/field_access.h"

namespace flitwise {
namespace {

struct PbcField {
  unsigned low, bits;
  FieldAccess<Pbc> value;
  std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
};

constexpr PbcField kPbcFields[] = {{0, 12, field_access<&Pbc::length_dws>},
                                   {12, 4, field_access<&Pbc::vl>},
                                   {22, 1, field_access<&Pbc::fecn>},
                                   {23, 1, field_access<&Pbc::test_bad_icrc>},
                                   {24, 1, field_access<&Pbc::insert_bypass_icrc>},
                                   {25, 1, field_access<&Pbc::credit_return>},
                                   {26, 2, field_access<&Pbc::insert_hcrc>},
                                   {28, 1, field_access<&Pbc::is_bypass>},
                                   {29, 1, field_access<&Pbc::test_ebp>},
                                   {30, 1, field_access<&Pbc::dc_info>},
                                   {31, 1, field_access<&Pbc::interrupts>},
                                   {32, 16, field_access<&Pbc::static_rate>}};

}  // namespace

Pbc decode_pbc(std::uint64_t qw) {
  Pbc pbc;
  for (const PbcField& field : kPbcFields) {
    field.value.set(pbc, qw >> field.low & field.mask());
  }
  return pbc;
}

std::uint64_t encode(const Pbc& pbc) {
  std::uint64_t qw = 0;
  for (const PbcField& field : kPbcFields) {
    qw |= (field.value.get(pbc) & field.mask()) << field.low;
  }
  return qw;
}

Pbc pbc_of_blocks(unsigned blocks, unsigned vl, bool returns_credits) {
  Pbc pbc;
  pbc.length_dws =
      static_cast<std::uint16_t>(std::min(blocks * kSendBlockBytes / 4, Pbc::kMostLengthDws));
  pbc.vl = static_cast<std::uint8_t>(vl);
  pbc.credit_return = returns_credits;
  return pbc;
}

}  // namespace flitwise
