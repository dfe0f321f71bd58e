// SPDX-License-Identifier: Apache-2.0
#include "pio/pbc.h"

#include <algorithm>

#include "common/field_access.h"

namespace flitwise {
namespace {

// A row of the table below: a member, its lowest bit and how many it has. The table is gone through
// when it is compiled: a PBC is decoded twice a packet.
template <auto Member, unsigned low, unsigned bits>
struct Field {
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << bits) - 1;
  static void set(Pbc& pbc, std::uint64_t qw) { field_access<Member>.set(pbc, qw >> low & kMask); }
  static std::uint64_t get(const Pbc& pbc) {
    return (field_access<Member>.get(pbc) & kMask) << low;
  }
};
template <class... Fields>
struct FieldTable {
  static void decode(Pbc& pbc, std::uint64_t qw) { (Fields::set(pbc, qw), ...); }
  static std::uint64_t encode(const Pbc& pbc) { return (Fields::get(pbc) | ...); }
};

using PbcFields =
    FieldTable<Field<&Pbc::length_dws, 0, 12>, Field<&Pbc::vl, 12, 4>, Field<&Pbc::fecn, 22, 1>,
               Field<&Pbc::test_bad_icrc, 23, 1>, Field<&Pbc::insert_bypass_icrc, 24, 1>,
               Field<&Pbc::credit_return, 25, 1>, Field<&Pbc::insert_hcrc, 26, 2>,
               Field<&Pbc::is_bypass, 28, 1>, Field<&Pbc::test_ebp, 29, 1>,
               Field<&Pbc::dc_info, 30, 1>, Field<&Pbc::interrupts, 31, 1>,
               Field<&Pbc::static_rate, 32, 16>>;

}  // namespace

Pbc decode_pbc(std::uint64_t qw) {
  Pbc pbc;
  PbcFields::decode(pbc, qw);
  return pbc;
}

std::uint64_t encode(const Pbc& pbc) {
  return PbcFields::encode(pbc);
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
