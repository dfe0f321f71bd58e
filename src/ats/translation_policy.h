// SPDX-License-Identifier: Apache-2.0
/// When a function asks for translations: always, for pages that are used again, a page ahead, or
/// where software says so. The source leaves it to the device (S 1.1).
/// [ATS 1.1]
#pragma once

#include <cstdint>
#include <memory>

#include "ats/translation_range.h"
#include "flitwise/ids.h"

namespace flitwise {

enum class TranslationPolicyKind : std::uint8_t { kAlways, kReuse, kPrefetch, kHint };

struct TranslationPolicyConfig {
  TranslationPolicyKind kind = TranslationPolicyKind::kAlways;
  unsigned reuse_threshold = 2;  ///< kReuse: accesses to a page that earn it a translation, 1..255
  unsigned reuse_pages = 256;    ///< kReuse: pages whose accesses are counted, a power of two
  unsigned pages_ahead = 1;      ///< kPrefetch: STUs beyond the one that missed, 1..15
};

/// An access that found no translation in the ATC.
struct MissedAccess {
  std::uint64_t address = 0;
  OptionalId<Pasid> pasid;
  bool has_hint = false;  ///< software: this buffer is worth a translation
};

class TranslationPolicy {
 public:
  virtual ~TranslationPolicy() = default;

  /// Asks: translations to request now, from the missed STU on; 0: go untranslated.
  virtual unsigned translations_for(const MissedAccess& miss) const = 0;
  /// Tells: the miss has happened. Comes before the question about it.
  virtual void note_miss(const MissedAccess& miss) = 0;
};

/// stu: of the ATS capability. REQUIRES: the config is within its ranges.
std::unique_ptr<TranslationPolicy> make_translation_policy(const TranslationPolicyConfig& config,
                                                           unsigned stu);

}  // namespace flitwise
