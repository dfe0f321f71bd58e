// SPDX-License-Identifier: Apache-2.0
/// Translation Completions as the agent makes them, which of the translations found go back in one
/// CplD or two; and as the function takes them.
/// [ATR-18] to [ATR-21] [TCP-01] to [TCP-08] [TCP-15] [TCP-23]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/translation_entry.h"
#include "ats/translation_request.h"
#include "tlp/splitter.h"

namespace flitwise {

/// How many of the translations found go back. found[0] is for the requested address, each other
/// for the region that starts where the one before ends, taken with the size of found[0]. The reply
/// ends before another size, before a region outside the implied range, and before a tail of holes;
/// a hole in front of an access stays. Without access to the first one the reply is that alone.
/// model: a hole in the first place ends the reply. REQUIRES: 1 <= count <= translations asked for;
/// found[0] is at least one STU.
/// [ATR-18] [ATR-19] [ATR-20] [ATR-21] [ATR-24] [TCP-23]
unsigned reply_length(const TranslationEntry* found, unsigned count, const Tlp& request,
                      unsigned stu);

/// Payload of the reply, `length` entries of eight bytes; holes get the size of the first entry.
/// [ATR-18]
void store_reply(std::uint8_t* payload, const TranslationEntry* found, unsigned length);

/// The translations of one reply as the agent finds them, one after another.
/// [ATR-18] [ATR-19] [ATR-20] [ATR-21]
class TranslationGather {
 public:
  /// REQUIRES: a legal Translation Request.
  explicit TranslationGather(const Tlp& request, unsigned stu = 0) : request_(request), stu_(stu) {}

  /// The translation at the requested address, then those at next(). REQUIRES: the reply is not
  /// known yet.
  void add(const TranslationEntry& entry) { found_[count_++] = entry; }
  /// Which address to translate next; none: the reply is known.
  std::optional<std::uint64_t> next() const;

  /// How many of found() go back. REQUIRES: one was added.
  unsigned length() const { return reply_length(found_.data(), count_, request_, stu_); }
  const TranslationEntry* found() const { return found_.data(); }

 private:
  Tlp request_;
  unsigned stu_;
  std::array<TranslationEntry, kMaxTranslations> found_{};
  unsigned count_ = 0;
};

/// Byte Count, Lower Address and payload of each CplD of one reply.
/// [TCP-01] [TCP-03]
class TranslationReply {
 public:
  /// first_length: entries in the first of two CplDs; 0 puts all into one. REQUIRES: 1 <= length,
  /// first_length < length, length * 8 <= rcb_bytes.
  TranslationReply(unsigned length, unsigned rcb_bytes, unsigned first_length = 0);

  /// The next CplD; false after the last one. Offsets count from the start of the reply.
  bool next(CompletionPiece& piece);

 private:
  unsigned rcb_;
  unsigned left_;   ///< bytes
  unsigned first_;  ///< bytes of the CplD that comes next
  unsigned offset_ = 0;
};

/// A CplD of the reply; it has the request's traffic class. [ATR-13]
Tlp translation_cpld(const Tlp& request, const CompletionPiece& piece);

/// What a completion with the transaction ID of an outstanding Translation Request turned out to
/// be. Everything but kPartial ends the request, and only kLast leaves translations.
enum class TranslationVerdict : std::uint8_t {
  kPartial,       ///< the first of two CplDs
  kLast,          ///< the reply is whole
  kUnsupported,   ///< UR, a reserved status, or a size below the STU: the ATC is disabled
                  ///< [TCP-04] [TCP-07] [TCP-15]
  kAborted,       ///< CA, or poisoned data: an error for the driver, the ATC stays [TCP-06]
  kMalformed,     ///< CRS [TCP-05]
  kIllegal,       ///< success without data [TCP-08]
  kLostFirst,     ///< the last CplD of two, and the first never came [TCP-02]
  kTooMany,       ///< more translations than asked for [TCP-23]
  kInconsistent,  ///< sizes that differ, or counts that do not go together
};

/// The function's side of one Translation Request: is this completion what is due, and which
/// translations did it bring? One small value per outstanding request.
class TranslationReceiver {
 public:
  TranslationReceiver() = default;
  /// rcb_bytes: what the agent splits at. has_pasid: of the domain that asks, which a handle may
  /// stand for. REQUIRES: a legal Translation Request. [DHI D17] [TCP-25]
  TranslationReceiver(const Tlp& request, bool has_pasid, unsigned rcb_bytes, unsigned stu);

  /// Asks; changes nothing. The traffic class is not looked at [TCP-24]. payload: length_dw DWs,
  /// unused for a Cpl. REQUIRES: completion has this request's transaction ID.
  TranslationVerdict check(const Tlp& completion, const std::uint8_t* payload) const;
  /// Takes a CplD into account. REQUIRES: check() said kPartial or kLast.
  void accept(const Tlp& completion, const std::uint8_t* payload);

  /// Translations received; all of them after kLast.
  unsigned count() const { return count_; }
  /// REQUIRES: index < count().
  TranslationEntry entry(unsigned index) const {
    return decode_entry(entries_[index], has_pasid_, is_from_cache_);
  }
  /// Untranslated addresses of that entry: the first holds the requested address, each other abuts
  /// the one before. [ATR-21] [TCP-16]
  PageRange range(unsigned index) const;

 private:
  TranslationVerdict check_counts(const Tlp& completion) const;
  TranslationVerdict check_entries(const Tlp& completion, const std::uint8_t* payload) const;

  std::array<std::uint64_t, kMaxTranslations> entries_{};
  std::uint64_t address_ = 0;
  std::uint16_t rcb_ = 0;
  std::uint16_t due_ = 0;  ///< Byte Count of the second CplD
  std::uint8_t asked_ = 0;
  std::uint8_t count_ = 0;
  std::uint8_t stu_ = 0;
  bool has_pasid_ = false;
  bool is_from_cache_ = false;
};

}  // namespace flitwise
