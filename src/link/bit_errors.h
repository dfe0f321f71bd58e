// SPDX-License-Identifier: Apache-2.0
/// Which transmissions of one direction arrive damaged: by a rate per bit, and by ordinal.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/flit.h"

namespace flitwise {

enum class FlitDamage : std::uint8_t { kNone, kCorrected, kUncorrectable };

class BitErrors {
 public:
  /// rate: probability of a wrong bit, 0..1, independent from bit to bit. burst: in flits, so many
  /// bits from that one on are wrong.
  BitErrors(double rate, DirectionFaults faults, Random random, unsigned burst = 1);

  /// One more transmission of so many bits: is it damaged? Each call is one transmission.
  bool damages_tlp(std::uint32_t bits) { return is_active_ && hit(bits, tlps_); }
  bool damages_dllp(std::uint32_t bits) { return is_active_ && hit(bits, dllps_); }
  /// What becomes of one more flit: FEC corrects one wrong byte in each of its three interleaved
  /// groups [LNK-11.8]. The ordinals of TLPs count flits with payload and damage them beyond
  /// repair, those of DLLPs the other flits.
  FlitDamage strike_flit(bool has_payload) {
    return is_active_ ? draw_flit(has_payload) : FlitDamage::kNone;
  }
  /// The first 128 bytes of that flit are as they were sent. [CXL-6.6]
  bool is_first_half_good() const { return first_wrong_byte_ >= flit::kBytes / 2; }
  /// Something can go wrong at all.
  bool is_active() const { return is_active_; }

 private:
  /// Transmissions of one kind, and which of them are to be damaged.
  struct Ordinals {
    explicit Ordinals(std::vector<std::uint64_t> named);
    bool names_next();

    std::vector<std::uint64_t> left;  // ascending, the next one last
    std::uint64_t count = 0;
  };
  bool hit(std::uint32_t bits, Ordinals& ordinals);
  FlitDamage draw_flit(bool has_payload);
  void draw() {
    bits_to_error_ = rate_ > 0 ? static_cast<double>(random_.geometric(rate_))
                               : std::numeric_limits<double>::infinity();
  }

  double rate_;
  unsigned burst_;
  bool is_active_;
  Random random_;
  double bits_to_error_ = 0;  // good bits before the next wrong one
  Ordinals tlps_, dllps_;
  std::uint32_t first_wrong_byte_ = flit::kBytes;  // of the last flit
};

}  // namespace flitwise
