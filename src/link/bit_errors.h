// SPDX-License-Identifier: Apache-2.0
/// Which transmissions of one direction arrive damaged: by a rate per bit, and by ordinal.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "workload/random.h"

namespace flitwise {

class BitErrors {
 public:
  /// rate: probability of a wrong bit, 0..1, independent from bit to bit.
  BitErrors(double rate, DirectionFaults faults, Random random);

  /// One more transmission of so many bits: is it damaged? Each call is one transmission.
  bool damages_tlp(std::uint32_t bits) {
    return is_active_ && hit(bits, faults_.corrupt_tlps, tlps_, next_tlp_);
  }
  bool damages_dllp(std::uint32_t bits) {
    return is_active_ && hit(bits, faults_.corrupt_dllps, dllps_, next_dllp_);
  }

 private:
  bool hit(std::uint32_t bits, const std::vector<std::uint64_t>& ordinals, std::uint64_t& count,
           std::size_t& next);
  void draw();

  double rate_;
  bool is_active_;          // something can go wrong at all
  DirectionFaults faults_;  // ordinals ascending
  Random random_;
  double bits_to_error_ = 0;  // good bits before the next wrong one
  std::uint64_t tlps_ = 0, dllps_ = 0;
  std::size_t next_tlp_ = 0, next_dllp_ = 0;
};

}  // namespace flitwise
