// SPDX-License-Identifier: Apache-2.0
// CRC and FEC of flits.
#include "link/flit_code.h"

#include <algorithm>
#include <boost/crc.hpp>

namespace flitwise {
namespace {

using FlitCrc =
    boost::crc_optimal<64, kFlitCrcPolynomial, ~std::uint64_t{0}, ~std::uint64_t{0}, false, false>;
constexpr unsigned kFieldOrder = 255;  // of the group of GF(256)

/// Powers of the field's generator and their logarithms.
struct FieldTables {
  std::array<std::uint8_t, kFieldOrder> power{};
  std::array<std::uint8_t, 256> log{};
};
constexpr FieldTables make_tables() {
  FieldTables tables;
  unsigned value = 1;
  for (unsigned i = 0; i < kFieldOrder; ++i) {
    tables.power[i] = static_cast<std::uint8_t>(value);
    tables.log[value] = static_cast<std::uint8_t>(i);
    value <<= 1;
    value ^= value > 0xff ? kFecFieldPolynomial : 0U;
  }
  return tables;
}
constexpr FieldTables kField = make_tables();

// value times the generator to the power `exponent`
std::uint8_t shifted(std::uint8_t value, std::size_t exponent) {
  return value == 0 ? std::uint8_t{0} : kField.power[(kField.log[value] + exponent) % kFieldOrder];
}

/// One of the interleaved groups, as a Reed-Solomon code word whose place 0 is its last byte. A
/// word without error has both sums 0: of its bytes, and of its bytes shifted by their places.
class Group {
 public:
  Group(FlitBytes& flit, std::size_t group) : flit_(flit) {
    for (std::size_t at = group; at < flit::kBytes; at += flit::kFecGroups) {
      last_ = at;
    }
    size_ = last_ / flit::kFecGroups + 1;
  }

  // Sets the last two bytes, places 1 and 0, so that both sums become 0.
  void protect() {
    std::uint8_t& high = flit_[at(1)];
    std::uint8_t& low = flit_[at(0)];
    high = low = 0;
    const Sums sums = sum();
    // high + low = plain and 2 high + low = weighted, so that 3 high = plain + weighted.
    const unsigned log_of_three = kField.log[3];
    high = shifted(sums.plain ^ sums.weighted, kFieldOrder - log_of_three);
    low = sums.plain ^ high;
  }

  // True and the byte's place in the flit if one was wrong and has been set right.
  bool mend(std::size_t& mended) {
    const Sums sums = sum();
    if (sums.plain == 0 || sums.weighted == 0) {
      return false;  // nothing wrong, or more than one byte
    }
    const std::size_t place =
        (kField.log[sums.weighted] + kFieldOrder - kField.log[sums.plain]) % kFieldOrder;
    if (place >= size_) {
      return false;
    }
    mended = at(place);
    flit_[mended] ^= sums.plain;
    return true;
  }

 private:
  struct Sums {
    std::uint8_t plain = 0, weighted = 0;
  };

  std::size_t at(std::size_t place) const { return last_ - place * flit::kFecGroups; }
  Sums sum() const {
    Sums sums;
    for (std::size_t place = 0; place < size_; ++place) {
      sums.plain ^= flit_[at(place)];
      sums.weighted ^= shifted(flit_[at(place)], place);
    }
    return sums;
  }

  FlitBytes& flit_;
  std::size_t last_ = 0;
  std::size_t size_ = 0;
};

std::uint64_t crc_of(const FlitBytes& flit) {
  FlitCrc crc;
  crc.process_bytes(flit.data(), kFlitCrcAt);
  return crc.checksum();
}

}  // namespace

void protect_flit(FlitBytes& flit) {
  const std::uint64_t crc = crc_of(flit);
  for (unsigned i = 0; i < flit::kCrcBytes; ++i) {
    flit[kFlitCrcAt + i] = static_cast<std::uint8_t>(crc >> (56 - 8 * i));
  }
  for (std::size_t group = 0; group < flit::kFecGroups; ++group) {
    Group(flit, group).protect();
  }
}

FlitRepair mend_flit(FlitBytes& flit) {
  FlitRepair repair;
  for (std::size_t group = 0; group < flit::kFecGroups; ++group) {
    if (std::size_t place = 0; Group(flit, group).mend(place)) {
      repair.mended.push_back(place);
    }
  }
  std::sort(repair.mended.begin(), repair.mended.end());
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < flit::kCrcBytes; ++i) {
    seen = seen << 8 | flit[kFlitCrcAt + i];
  }
  repair.is_good = seen == crc_of(flit);
  return repair;
}

}  // namespace flitwise
