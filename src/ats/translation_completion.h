// SPDX-License-Identifier: Apache-2.0
/// Translation Completions as the agent makes them: which of the translations found go back, in one
/// CplD or two.
/// [ATR-18] to [ATR-21] [TCP-01] [TCP-03]
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

}  // namespace flitwise
