// SPDX-License-Identifier: Apache-2.0
/// The translations of one reply as the agent finds them, one after another.
/// [ATR-18] [ATR-19] [ATR-20] [ATR-21]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/translation_entry.h"
#include "ats/translation_request.h"
#include "flitwise/tlp.h"

namespace flitwise {

class TranslationGather {
 public:
  /// REQUIRES: a legal Translation Request.
  explicit TranslationGather(const Tlp& request, unsigned stu = 0) : request_(request), stu_(stu) {}

  /// Whether the request wants more than one.
  static bool is_needed_for(const Tlp& request) { return translations_of(request) > 1; }
  /// The translation at the requested address, then those at next(). REQUIRES: the reply is not
  /// known yet.
  void add(const TranslationEntry& entry);
  /// Which address to translate next; none: the reply is known.
  std::optional<std::uint64_t> next() const;

  /// How many of found() go back. REQUIRES: one was added.
  unsigned length() const;
  const TranslationEntry* found() const { return found_.data(); }

 private:
  Tlp request_;
  unsigned stu_;
  std::array<TranslationEntry, kMaxTranslations> found_{};
  unsigned count_ = 0;
};

}  // namespace flitwise
