// SPDX-License-Identifier: Apache-2.0
/// Cuts a transfer into requests (MPS or MRRS, 4 KiB boundary, byte enables) and an answer into
/// completions (MPS, RCB), without allocation; what a completion takes over from its request, and
/// whether it fits what is still owed.
/// [LNK-9.10] [LNK-9.14] [LNK-9.15]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

/// One request of a transfer.
struct RequestPiece {
  std::uint64_t address = 0;    ///< of the first DW, [1:0] = 0
  std::uint16_t length_dw = 0;  ///< 1..1024
  std::uint8_t first_be = 0;
  std::uint8_t last_be = 0;  ///< 0 when length_dw is 1
  std::uint32_t bytes = 0;   ///< enabled bytes; 0 for a zero-length request
  std::uint64_t offset = 0;  ///< of the first enabled byte within the transfer

  /// Makes this the piece that the request is for.
  void apply(Tlp& tlp) const {
    tlp.address = address;
    tlp.is_4dw = address >> 32 != 0;
    tlp.length_dw = length_dw;
    tlp.first_be = first_be;
    tlp.last_be = last_be;
  }
};

/// Yields the requests of one transfer in address order, each as long as the limits let it be.
/// [LNK-2.8] [LNK-9.14] [LNK-9.15]
class RequestSplitter {
 public:
  /// bytes = 0 makes one zero-length request. limit_bytes: MRRS for reads, MPS for writes.
  /// REQUIRES: limit_bytes is a power of two, 128..4096; the transfer does not wrap around 2^64.
  RequestSplitter(std::uint64_t address, std::uint64_t bytes, std::uint32_t limit_bytes)
      : next_(address), left_(bytes), limit_(limit_bytes) {}

  /// The next piece; false after the last one.
  bool next(RequestPiece& piece);

 private:
  std::uint64_t next_;
  std::uint64_t left_;
  std::uint64_t offset_ = 0;
  std::uint32_t limit_;
  bool is_done_ = false;
};

/// One CplD of an answer.
struct CompletionPiece {
  std::uint32_t bytes = 0;         ///< data bytes the requester asked for that travel here
  std::uint32_t offset = 0;        ///< of the first of them within the answer
  std::uint16_t length_dw = 0;     ///< 1..1024
  std::uint16_t byte_count = 0;    ///< still owed, this one included, 1..4096
  std::uint8_t lower_address = 0;  ///< 0..127
};

/// Yields the CplDs that answer one request: every piece but the last ends on an RCB boundary and
/// none carries more than MPS; as few as possible. [LNK-9.10] [LNK-9.11]
class CompletionSplitter {
 public:
  /// REQUIRES: mps_bytes >= rcb_bytes; the request has data coming back.
  CompletionSplitter(const Tlp& request, std::uint32_t mps_bytes, std::uint32_t rcb_bytes);

  bool next(CompletionPiece& piece);

 private:
  std::uint64_t next_ = 0;  ///< stays a multiple of 4 from 0 on for what has no Lower Address
  std::uint32_t left_;
  std::uint32_t offset_ = 0;
  std::uint32_t mps_;
  std::uint32_t rcb_;
};

/// Enabled bytes of a write with this Length and these byte enables. [LNK-2.8] [LNK-2.9]
std::uint32_t enabled_bytes(const Tlp& write);

/// A read that touches nothing and brings nothing: a flush. [LNK-2.10] [LNK-2.15]
constexpr bool is_zero_length_read(const Tlp& request) {
  return request.type == TlpType::kMRd && request.length_dw == 1 && request.first_be == 0 &&
         !request.has_processing_hint && request.at != AddressType::kTranslationRequest;
}

/// Bytes from the first to the last enabled one: the Byte Count of the first completion. 1 for a
/// zero-length read; the size of the old value for atomics; 4 for everything answered by a Cpl.
/// [LNK-9.12]
std::uint32_t byte_count_of(const Tlp& request);

/// Lower Address of the first completion: address [6:2] and the first enabled byte for memory
/// reads; 0 for all others. [LNK-9.13]
std::uint8_t lower_address_of(const Tlp& request);

/// What every completion takes over from its request: tag, traffic class, attributes and the
/// Requester ID; its kind is Cpl, for a locked read CplLk. Everything else stays as it is.
/// [LNK-2.5] [LNK-9.21]
inline void start_completion(Tlp& completion, const Tlp& request) {
  completion.type = request.type == TlpType::kMRdLk ? TlpType::kCplLk : TlpType::kCpl;
  completion.tc = request.tc;
  completion.relaxed_ordering = request.relaxed_ordering;
  completion.id_based_ordering = request.id_based_ordering;
  completion.no_snoop = request.no_snoop;
  completion.tag = request.tag;
  completion.requester_id = request.requester_id;
}

/// Completions of these may pass posted requests. [LNK-9.6]
constexpr bool is_io_or_cfg_write(TlpType request) {
  return request == TlpType::kIOWr || request == TlpType::kCfgWr0 || request == TlpType::kCfgWr1;
}

/// Status, Byte Count and Lower Address of a completion that carries no data, after
/// start_completion(). [LNK-9.12] [LNK-9.13] [LNK-9.19]
inline void end_without_data(Tlp& completion, const Tlp& request, CplStatus status) {
  completion.status = status;
  completion.byte_count = static_cast<std::uint16_t>(byte_count_of(request));
  completion.lower_address = lower_address_of(request);
}

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

/// The requester's side of a split answer: bytes owed to one outstanding request, and whether a
/// completion fits them. [LNK-9.10] to [LNK-9.13]
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
