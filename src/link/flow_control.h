// SPDX-License-Identifier: Apache-2.0
/// Flow-control credits of one virtual channel: what a transmitter may send, and what a receiver
/// has to give.
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/dllp.h"
#include "flitwise/error.h"

namespace flitwise {

/// Those that tell of freed buffers.
constexpr bool is_update_fc(DllpType type) {
  return type == DllpType::kUpdateFc || type == DllpType::kOptimizedUpdateFc;
}

/// An amount of credits. Units: TLP headers, and data units of 16 bytes. [LNK-8.1]
struct Credits {
  std::uint32_t header = 0;
  std::uint32_t data = 0;
};

/// Widths of the counters of one credit type: 8 header and 12 data bits, more with scaled flow
/// control. [LNK-8.4]
struct CreditScale {
  std::uint8_t code = 0;   ///< HdrScale or DataScale as it stands in the DLLP
  std::uint8_t shift = 0;  ///< counter bits that the DLLP does not carry
  std::uint8_t bits = 8;   ///< width of the counter

  /// Widths of counters and shifts without scaling, with x4 and with x16; unverified, hence named.
  /// [LNK-8.4] [LNK-8.8]
  using ByScale = std::array<std::uint8_t, 3>;
  static constexpr ByScale kHeaderCounterBits = {8, 10, 12}, kDataCounterBits = {12, 14, 16},
                           kScaleShifts = {0, 2, 4};

  static CreditScale header(bool scaled, std::uint32_t advertised) {
    return smallest(scaled, advertised, kHeaderCounterBits);
  }
  static CreditScale data(bool scaled, std::uint32_t advertised) {
    return smallest(scaled, advertised, kDataCounterBits);
  }
  static CreditScale smallest(bool scaled, std::uint32_t advertised, const ByScale& counter_bits) {
    std::uint8_t code = scaled ? 1 : 0;
    while (scaled && code < counter_bits.size() &&
           advertised >= 1U << (counter_bits[code - 1U] - 1)) {
      ++code;
    }
    return of_code(code, counter_bits);
  }
  /// The scale that a received HdrScale or DataScale code (0..3) stands for; 0: no scaling.
  /// [LNK-6.6]
  static CreditScale of_code(std::uint8_t code, const ByScale& counter_bits) {
    const std::size_t step = code == 0 ? 0 : code - 1U;
    return {code, kScaleShifts[step], counter_bits[step]};
  }
};

/// What an advertised 0 means: dedicated credits have no end then, shared ones there are none.
/// [LNK-8.5] [LNK-11.24]
enum class Zero : std::uint8_t { kInfinite, kNone };

/// One counter pair of a transmitter: CREDITS_CONSUMED against CREDIT_LIMIT, modulo 2^bits.
/// [LNK-8.3]
class CreditGate {
 public:
  CreditGate() = default;

  /// Takes the value of an InitFC1.
  void initialise(std::uint32_t limit, CreditScale scale, Zero zero = Zero::kInfinite) {
    infinite_ = limit == 0 && zero == Zero::kInfinite;
    mask_ = (1U << scale.bits) - 1U;
    half_ = 1U << (scale.bits - 1);
    shift_ = scale.shift;
    initial_ = limit << shift_;
    limit_ = initial_ & mask_;
    consumed_ = 0;
  }
  /// Takes the value of an UpdateFC as it stands in the DLLP; ignored where infinite.
  void update(std::uint32_t field) {
    if (!infinite_) {
      limit_ = (field << shift_) & mask_;
    }
  }
  /// Takes the low bits of such a value; the limit goes on by less than they can count. REQUIRES:
  /// not infinite. [LNK-11.27]
  void extend(std::uint32_t low_bits, unsigned bits) {
    const std::uint32_t step = (low_bits - (limit_ >> shift_)) & ((1U << bits) - 1U);
    limit_ = (limit_ + (step << shift_)) & mask_;
  }
  bool allows(std::uint32_t need) const {
    return infinite_ || ((limit_ - (consumed_ + need)) & mask_) <= half_;
  }
  void consume(std::uint32_t amount) { consumed_ = (consumed_ + amount) & mask_; }
  bool is_infinite() const { return infinite_; }
  /// Credits that InitFC gave; 0: infinite, or none yet.
  std::uint32_t initial() const { return initial_; }
  /// Credits taken, modulo the width of the counter.
  std::uint32_t consumed() const { return consumed_; }
  /// Credits left. REQUIRES: not infinite.
  std::uint32_t available() const { return (limit_ - consumed_) & mask_; }

 private:
  bool infinite_ = true;
  std::uint32_t initial_ = 0;
  std::uint32_t limit_ = 0;
  std::uint32_t consumed_ = 0;
  std::uint32_t mask_ = 0xff;
  std::uint32_t half_ = 0x80;
  std::uint8_t shift_ = 0;
};

/// The two gates of one class.
struct CreditGates {
  CreditGate header, data;

  /// Takes an InitFC, the first of its class.
  void initialise(const Dllp& init, Zero zero = Zero::kInfinite) {
    header.initialise(init.hdr_fc,
                      CreditScale::of_code(init.hdr_scale, CreditScale::kHeaderCounterBits), zero);
    data.initialise(init.data_fc,
                    CreditScale::of_code(init.data_scale, CreditScale::kDataCounterBits), zero);
  }
  void update(const Dllp& update_fc) {
    header.update(update_fc.hdr_fc);
    data.update(update_fc.data_fc);
  }
  bool allow(Credits need) const { return header.allows(need.header) && data.allows(need.data); }
  void consume(Credits amount) {
    header.consume(amount.header);
    data.consume(amount.data);
  }
};

/// One counter pair of a receiver: what it has allocated in all, what of it came in, what was
/// advertised last.
class CreditPool {
 public:
  CreditPool() = default;
  /// REQUIRES: size at most half the counter range.
  CreditPool(std::uint32_t size, CreditScale scale, Zero zero = Zero::kInfinite)
      : is_infinite_(size == 0 && zero == Zero::kInfinite),
        size_(size >> scale.shift << scale.shift),  // what the DLLP cannot carry is not [LNK-8.4]
        scale_(scale),
        mask_((1U << scale.bits) - 1U),
        allocated_(size_),
        advertised_(size_) {
    FLITWISE_CHECK(size < (1U << (scale.bits - 1)), "credits advertised exceed half the counter");
  }

  bool is_infinite() const { return is_infinite_; }
  /// A TLP that takes `amount` came in; false: more than was advertised (a flow control protocol
  /// error).
  bool receive(std::uint32_t amount) {
    if (is_infinite()) {
      return true;
    }
    const bool within = ((advertised_ - (received_ + amount)) & mask_) <= mask_ / 2 + 1;
    received_ = (received_ + amount) & mask_;
    return within;
  }
  /// Room for `amount` is free again.
  void free(std::uint32_t amount) {
    if (!is_infinite()) {
      allocated_ = (allocated_ + amount) & mask_;
    }
  }
  /// The value for InitFC1 or UpdateFC, already shifted for the DLLP; 0 where infinite.
  std::uint32_t field() const { return is_infinite() ? 0 : allocated_ >> scale_.shift; }
  /// How far that has gone on since it was told last.
  std::uint32_t untold_steps() const { return unadvertised() >> scale_.shift; }
  void advertised() { advertised_ = allocated_ & ~((1U << scale_.shift) - 1U); }
  /// Freed, but not yet told to the transmitter, as far as a DLLP can tell it.
  std::uint32_t unadvertised() const {
    return ((allocated_ & ~((1U << scale_.shift) - 1U)) - advertised_) & mask_;
  }
  /// What the transmitter can still believe to have.
  std::uint32_t believed() const { return (advertised_ - received_) & mask_; }
  std::uint32_t size() const { return size_; }
  CreditScale scale() const { return scale_; }
  /// The link has gone down: all of it is free and told. [LNK-10.7]
  void reset() {
    allocated_ = advertised_ = size_;
    received_ = 0;
  }
  /// Credits conserved: allocated - received never exceeds the size of the buffer.
  bool is_conserved() const { return is_infinite() || ((allocated_ - received_) & mask_) <= size_; }

 private:
  bool is_infinite_ = true;
  std::uint32_t size_ = 0;
  CreditScale scale_;
  std::uint32_t mask_ = 0xff;
  std::uint32_t allocated_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t advertised_ = 0;
};

}  // namespace flitwise
