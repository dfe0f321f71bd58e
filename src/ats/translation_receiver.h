// SPDX-License-Identifier: Apache-2.0
/// The function's side of one Translation Request: is this completion what is due, and which
/// translations did it bring? One small value per outstanding request.
/// [TCP-01] to [TCP-08] [TCP-15] [TCP-23]
#pragma once

#include <array>
#include <cstdint>

#include "ats/translation_entry.h"
#include "ats/translation_request.h"

namespace flitwise {

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
  TranslationEntry entry(unsigned index) const { return decode_entry(entries_[index], has_pasid_); }
  /// Untranslated addresses of that entry: the first holds the requested address, each other abuts
  /// the one before. [ATR-21] [TCP-16]
  PageRange range(unsigned index) const;

 private:
  TranslationVerdict check_without_data(const Tlp& completion) const;
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
};

}  // namespace flitwise
