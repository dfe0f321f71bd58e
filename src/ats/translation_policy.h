// SPDX-License-Identifier: Apache-2.0
/// When a function asks for translations: always, for pages that are used again, a page ahead, or
/// where software says so. The source leaves it to the device (ATS 1.1).
/// [ATR-29]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ats/translation_entry.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

/// An access that found no translation in the ATC.
struct MissedAccess {
  std::uint64_t address = 0;
  OptionalId<Pasid> pasid;
  bool has_hint = false;  ///< software: this buffer is worth a translation
};

class TranslationPolicy {
 public:
  /// stu: of the ATS capability. REQUIRES: the config is within its ranges.
  TranslationPolicy(const AtcConfig& config, unsigned stu);

  /// Asks: translations to request now, from the missed STU on; 0: go untranslated.
  unsigned translations_for(const MissedAccess& miss) const;
  /// Tells: the miss has happened. Comes before the question about it.
  void note_miss(const MissedAccess& miss);

 private:
  /// kReuse: misses of pages in a direct-mapped table; a page that takes another's place starts
  /// anew. model: counts stop at the threshold and do not age.
  struct Count {
    std::uint64_t page = 0;
    OptionalId<Pasid> pasid;
    unsigned misses = 0;
  };
  std::size_t index_of(const MissedAccess& miss) const;
  bool is_same(const Count& count, const MissedAccess& miss) const;

  AtcConfig config_;
  unsigned shift_;
  std::vector<Count> counts_;
};

}  // namespace flitwise
