// SPDX-License-Identifier: Apache-2.0
/// Shared credits of flit mode: which pool a class draws on, and from which of its two pools a TLP
/// takes its credits. Transmit half; what a receiver does is in link/credit_returns.h.
/// [LNK-11.23] to [LNK-11.27]
#pragma once

#include <array>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "link/flow_control.h"

namespace flitwise {

/// A TLP with a local prefix takes dedicated credits, one without shared ones. unverified
/// [LNK-11.25]
inline constexpr std::uint32_t kLocalPrefixBits = 32;

/// Some class has them.
inline bool has_shared_credits(const LinkConfig& link) {
  const auto& shared = link.shared_credits;
  return link.is_in_flit_mode() && (shared.posted_headers > 0 || shared.nonposted_headers > 0 ||
                                    shared.completion_headers > 0);
}

/// The class whose shared credits a class draws on. unverified [LNK-11.26]
constexpr FcClass shared_class(FcClass fc_class, bool is_merged) {
  return is_merged && fc_class == FcClass::kCompletion ? FcClass::kPosted : fc_class;
}

// Optimized_Update_FC: what UpdateFC says of the shared credits of one class, for all classes at
// once, in one DW. It stands in a flit in place of a DLLP. [LNK-11.27]

/// Low bits of HdrFC and DataFC that stand there for each class, the header's above, P in the
/// highest bits; the two lowest bits are 0. model: the text knows no layout. unverified [LNK-11.27]
inline constexpr unsigned kOptimizedHeaderBits = 3, kOptimizedDataBits = 7;

struct OptimizedUpdateFc {
  std::array<Credits, kFcClasses> classes{};
};

constexpr std::uint32_t low_bits(std::uint32_t value, unsigned bits) {
  return value & ((1U << bits) - 1U);
}

inline std::uint32_t encode(const OptimizedUpdateFc& update) {
  std::uint32_t dw = 0;
  for (const Credits& one : update.classes) {
    dw = dw << kOptimizedHeaderBits | low_bits(one.header, kOptimizedHeaderBits);
    dw = dw << kOptimizedDataBits | low_bits(one.data, kOptimizedDataBits);
  }
  return dw << (32 - kFcClasses * (kOptimizedHeaderBits + kOptimizedDataBits));
}

inline OptimizedUpdateFc decode_optimized_update_fc(std::uint32_t dw) {
  OptimizedUpdateFc update;
  unsigned at = 32;
  for (Credits& one : update.classes) {
    at -= kOptimizedHeaderBits;
    one.header = low_bits(dw >> at, kOptimizedHeaderBits);
    at -= kOptimizedDataBits;
    one.data = low_bits(dw >> at, kOptimizedDataBits);
  }
  return update;
}

/// The shared credits that a transmitter has. There are none until the other end has told of them.
class SharedGates {
 public:
  explicit SharedGates(bool is_merged) : is_merged_(is_merged) { reset(); }

  /// The link has gone down. [LNK-10.7]
  void reset() {
    for (Gates& gates : gates_) {
      gates.has_pool = false;
      gates.initialise(Dllp(), Zero::kNone);
    }
  }
  /// Takes an InitFC of shared credits, the first of its class. [LNK-11.24]
  void initialise(const Dllp& dllp) {
    Gates& gates = gates_[index_of(dllp.fc_class)];
    gates.initialise(dllp, Zero::kNone);
    gates.has_pool = dllp.hdr_fc > 0;
  }
  /// Takes an UpdateFC of shared credits, or an Optimized_Update_FC.
  // A class without a pool has nothing to give back, whatever is said. [LNK-11.24]
  void update(const Dllp& dllp) {
    if (dllp.type != DllpType::kOptimizedUpdateFc) {
      if (Gates& gates = gates_[index_of(dllp.fc_class)]; gates.has_pool) {
        gates.update(dllp);
      }
      return;
    }
    const OptimizedUpdateFc update = decode_optimized_update_fc(dllp.raw);
    for (std::size_t i = 0; i < gates_.size(); ++i) {
      if (gates_[i].has_pool) {
        gates_[i].header.extend(update.classes[i].header, kOptimizedHeaderBits);
        gates_[i].data.extend(update.classes[i].data, kOptimizedDataBits);
      }
    }
  }

  /// What TLPs of the class take.
  const CreditGates& of(FcClass fc_class) const {
    return gates_[index_of(shared_class(fc_class, is_merged_))];
  }
  /// They cover a TLP, header and data.
  bool allow(FcClass fc_class, Credits need) const { return of(fc_class).allow(need); }
  /// The pool of a TLP that goes now: takes shared credits for it if these suffice, else marks it
  /// as one on dedicated credits; false: it takes those. REQUIRES: one of both covers it.
  bool take(FcClass fc_class, Credits need, Packet& packet) {
    Gates& gates = gates_[index_of(shared_class(fc_class, is_merged_))];
    const bool suffices = gates.allow(need);
    packet.uses_dedicated_credits = gates.has_pool && !suffices;
    if (suffices) {
      gates.consume(need);
    }
    return suffices;
  }

 private:
  struct Gates : CreditGates {
    bool has_pool = false;
  };
  static std::size_t index_of(FcClass fc_class) { return static_cast<std::size_t>(fc_class); }

  std::array<Gates, kFcClasses> gates_;
  bool is_merged_;
};

}  // namespace flitwise
