// SPDX-License-Identifier: Apache-2.0
/// What a packet of the workload holds, so that the port can tell whose it is and whether all of it
/// is there: its source and number in the first QW behind the PBC, and in all others a value that
/// follows from these and from its place.
#pragma once

#include <cstdint>

namespace flitwise {

/// source: context 0..159, SDMA engine 160..175. number: of the packet among those of its source,
/// modulo 2^48.
class PacketStamp {
 public:
  PacketStamp(unsigned source, std::uint64_t number)
      : value_(std::uint64_t{source} << 48 | (number & kNumbers)) {}
  explicit PacketStamp(std::uint64_t first_qw) : value_(first_qw) {}

  unsigned source() const { return static_cast<unsigned>(value_ >> 48); }
  std::uint64_t number() const { return value_ & kNumbers; }
  /// place: of the QW behind the PBC, from 1 on.
  std::uint64_t qw(std::uint64_t place) const {
    return place == 1 ? value_ : (value_ + place) * 0x9e3779b97f4a7c15U;
  }

 private:
  static constexpr std::uint64_t kNumbers = (std::uint64_t{1} << 48) - 1;
  std::uint64_t value_;
};

}  // namespace flitwise
