// SPDX-License-Identifier: Apache-2.0
/// Which transmissions of one direction arrive damaged: by a rate per bit, and by ordinal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/flit.h"

namespace flitwise {

inline constexpr double kBitsOfFlit = flit::kBytes * 8;
enum class FlitDamage : std::uint8_t { kNone, kCorrected, kUncorrectable };

class BitErrors {
 public:
  /// rate: probability of a wrong bit, 0..1, independent from bit to bit. burst: in flits, so many
  /// bits from that one on are wrong.
  BitErrors(double rate, DirectionFaults faults, Random random, unsigned burst = 1)
      : rate_(rate),
        burst_(burst),
        is_active_(rate > 0 || !faults.corrupt_tlps.empty() || !faults.corrupt_dllps.empty()),
        random_(random),
        tlps_(std::move(faults.corrupt_tlps)),
        dllps_(std::move(faults.corrupt_dllps)) {
    draw();
  }

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
    explicit Ordinals(std::vector<std::uint64_t> named) : left(std::move(named)) {
      std::sort(left.begin(), left.end(), std::greater<>());
    }
    // One more transmission; do the ordinals name it?
    bool names_next() {
      ++count;
      bool named = false;
      while (!left.empty() && left.back() <= count) {
        named = named || left.back() == count;
        left.pop_back();
      }
      return named;
    }

    std::vector<std::uint64_t> left;  // ascending, the next one last
    std::uint64_t count = 0;
  };
  bool hit(std::uint32_t bits, Ordinals& ordinals) {
    bool damaged = ordinals.names_next();
    double left = bits;
    while (bits_to_error_ < left) {
      damaged = true;
      left -= bits_to_error_ + 1;
      draw();
    }
    bits_to_error_ -= left;
    return damaged;
  }
  // Two wrong bytes in one group are too many; two wrong bits in one byte count once.
  FlitDamage draw_flit(bool has_payload) {
    const bool is_struck = (has_payload ? tlps_ : dllps_).names_next();
    first_wrong_byte_ = is_struck ? 0 : flit::kBytes;
    FlitDamage damage = is_struck ? FlitDamage::kUncorrectable : FlitDamage::kNone;
    std::array<int, flit::kFecGroups> wrong_byte{};
    wrong_byte.fill(-1);
    double at = 0;
    while (bits_to_error_ < kBitsOfFlit - at) {
      at += bits_to_error_;
      const auto first = static_cast<int>(at) / 8;
      first_wrong_byte_ = std::min(first_wrong_byte_, static_cast<std::uint32_t>(first));
      const auto last = static_cast<int>(std::min(at + burst_ - 1, kBitsOfFlit - 1)) / 8;
      for (int byte = first; byte <= last; ++byte) {
        int& wrong = wrong_byte[static_cast<unsigned>(byte) % flit::kFecGroups];
        const bool is_second = wrong >= 0 && wrong != byte;
        damage = is_second ? FlitDamage::kUncorrectable : std::max(damage, FlitDamage::kCorrected);
        wrong = byte;
      }
      at += 1;
      draw();
    }
    bits_to_error_ -= kBitsOfFlit - at;
    return damage;
  }
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
