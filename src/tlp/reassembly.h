// SPDX-License-Identifier: Apache-2.0
/// The requester's side of a split answer: does this completion fit what is still owed? One small
/// value per outstanding request.
/// [LNK-9.10] to [LNK-9.13]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

/// What a completion that carries the transaction ID of an outstanding request turned out to be.
enum class CompletionFit : std::uint8_t {
  kPartial,            ///< fits, more to come
  kLast,               ///< fits, the request is answered
  kFailed,             ///< status UR or CA (or RRS outside configuration): the request has ended
  kRetry,              ///< status RRS for a configuration request: ask again
  kWrongKind,          ///< data where none is due, none where data is due, or another TC
  kWrongByteCount,     ///< Byte Count is not what is owed
  kWrongLowerAddress,  ///< Lower Address is not where the answer goes on
  kTooLong,            ///< more data than owed, or more than MPS
  kBadBoundary,        ///< not the last one, and does not end on an RCB boundary
};

/// True for the kinds that belong to the request.
constexpr bool fits(CompletionFit fit) {
  return fit <= CompletionFit::kRetry;
}

/// How a completion that does not fit is reported: Malformed TLP, or (well formed in itself, but
/// not the one that was due) Unexpected Completion. REQUIRES: !fits(fit).
enum class CompletionError : std::uint8_t { kUnexpectedCompletion, kMalformedTlp };
constexpr CompletionError error_of(CompletionFit fit) {
  return fit == CompletionFit::kTooLong || fit == CompletionFit::kBadBoundary
             ? CompletionError::kMalformedTlp
             : CompletionError::kUnexpectedCompletion;
}

/// Bytes owed to one outstanding request.
class Reassembly {
 public:
  Reassembly() = default;
  /// REQUIRES: request is non-posted. mps_bytes: of the receiving port. rcb_bytes: the smallest
  /// boundary the completer may use (64, or 128 when the path promises it).
  Reassembly(const Tlp& request, std::uint32_t mps_bytes, std::uint32_t rcb_bytes = 64);

  /// Asks; changes nothing. REQUIRES: completion has this request's transaction ID.
  CompletionFit check(const Tlp& completion) const;
  /// Bytes of the answer this CplD carries. REQUIRES: check() said kPartial or kLast.
  std::uint32_t bytes_in(const Tlp& completion) const;
  /// Takes a completion into account. REQUIRES: check() said kPartial or kLast.
  void accept(const Tlp& completion);

  std::uint32_t bytes_left() const { return left_; }

 private:
  CompletionFit check_length(const Tlp& completion) const;

  std::uint16_t left_ = 0;  ///< Byte Count that is due next
  std::uint16_t mps_ = 0;
  std::uint16_t rcb_ = 0;
  std::uint8_t lower_address_ = 0;
  std::uint8_t tc_ = 0;
  bool wants_data_ = false;
  bool is_memory_read_ = false;
  bool is_configuration_ = false;
};

}  // namespace flitwise
