// SPDX-License-Identifier: Apache-2.0
/// The 64-byte write that returns credits of a group of contexts to host memory, and the queue in
/// which such writes wait.
#pragma once

#include <array>
#include <cstdint>

#include "pio/send_window.h"

namespace flitwise {

inline constexpr unsigned kContextsPerSet = 8;
inline constexpr unsigned kContextSets = kSendContexts / kContextsPerSet;
inline constexpr unsigned kMostGroupExponent = 3;
inline constexpr unsigned kFirstCreditInterrupt = 576;  ///< that of context 0

/// Bits of a credit QW above the counter. [PIO-7.6]
using CreditBits = std::uint16_t;
inline constexpr CreditBits kCreditStatus = 1U << 11;  ///< the context is in error
inline constexpr CreditBits kDueToPbc = 1U << 12;
inline constexpr CreditBits kDueToThreshold = 1U << 13;
inline constexpr CreditBits kDueToError = 1U << 14;
inline constexpr CreditBits kDueToForce = 1U << 15;
inline constexpr CreditBits kCreditCauses = kDueToPbc | kDueToThreshold | kDueToError | kDueToForce;

/// Contexts that return their credits together: first, and how many. [PIO-8.1]
struct ReturnGroup {
  unsigned first = 0, size = 1;
};
constexpr ReturnGroup group_of(unsigned context, unsigned exponent) {
  return {context >> exponent << exponent, 1U << exponent};
}

struct CreditReturn {
  std::uint64_t address = 0;
  std::array<std::uint64_t, kContextsPerSet> qws{};
  std::uint16_t context = 0;    ///< that triggered it
  std::uint8_t interrupts = 0;  ///< members of the set that raise theirs, a bit each [PIO-12.12]
};

/// Returns by what asked for them: each cause counts, threshold and PBC as one where the packet was
/// committed to egress. `coalesced` are causes that made no write of their own, since they came
/// with another one or while a return of their group waited: all causes together are coalesced +
/// writes.
struct ReturnCounts {
  std::uint64_t threshold = 0, pbc = 0, force = 0, early = 0, error = 0;
  std::uint64_t coalesced = 0, writes = 0;
};

/// Returns in the order in which they go out.
class CreditReturnQueue {
 public:
  /// One of every group where they coalesce; else what one event may cause, taken out at once.
  static constexpr unsigned kMost = kSendContexts + 2;

  bool is_empty() const { return size_ == 0; }
  unsigned size() const { return size_; }
  const CreditReturn& front() const { return entries_[first_].entry; }
  void pop() {
    first_ = (first_ + 1) % kMost;
    --size_;
  }
  /// A return of the group that begins with this context. Throws SimulationError where it is full.
  CreditReturn& push(unsigned group);
  /// The return of that group that waits; null: none.
  CreditReturn* waiting_for(unsigned group);

 private:
  struct Waiting {
    CreditReturn entry;
    unsigned group = 0;
  };
  std::array<Waiting, kMost> entries_{};
  unsigned first_ = 0, size_ = 0;
};

}  // namespace flitwise
