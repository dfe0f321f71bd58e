// SPDX-License-Identifier: Apache-2.0
/// Translation Requests: when a function asks and what it may send, what the translation agent
/// makes of one, and which addresses it is about. [ATR-01] to [ATR-23] [ATR-29]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ats/translation_entry.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/tlp.h"

namespace flitwise {

inline constexpr unsigned kTranslationBytes = 8;       ///< one entry of a completion
inline constexpr unsigned kMaxTranslations = 128 / 8;  ///< RCB is 64 or 128 bytes [ATR-08]

/// What host software has set for one function, as far as its Translation Requests go.
struct TranslationSettings {
  bool is_enabled = false;      ///< E of the ATS capability
  bool is_bus_master = true;    ///< Bus Master Enable
  bool is_page_aligned = true;  ///< Page Aligned Request of the ATS capability
  std::uint8_t stu = 0;         ///< 0..31
  bool has_pasid = false;       ///< PASID Enable
  bool has_execute = false;     ///< Execute Permission Enable
  bool has_privileged = false;  ///< Privileged Mode Enable
  unsigned rcb_bytes = 64;      ///< 64 or 128
  unsigned mrrs_bytes = 512;    ///< 128..4096
};

/// One wish of a function for translations.
struct TranslationAsk {
  std::uint64_t address = 0;  ///< untranslated, anywhere in the first STU
  unsigned translations = 1;  ///< STUs in a row
  std::uint8_t tc = 0;
  bool no_write = false;  ///< NW: will only read
  OptionalId<Pasid> pasid;
  bool privileged = false;     ///< PMR; counts beside a PASID
  bool execute = false;        ///< ER; counts beside a PASID
  bool is_from_cache = false;  ///< for a request of CXL.cache [ATR-31]
};

/// In the last address byte of a Translation Request: Src, it is for CXL.cache. unverified [ATR-31]
inline constexpr std::uint64_t kCacheSource = 1U << 3;

/// Most translations one request can ask for. [ATR-08] [ATR-09]
unsigned max_translations(const TranslationSettings& settings);

/// Whether a function with these settings may send it. [ATR-09] [ATR-10] [ATR-22] [ATR-23] [CFG-11]
bool may_ask(const TranslationAsk& ask, const TranslationSettings& settings);

/// Header of the request; tag and form of identity are the caller's. 3DW below 4 GiB.
/// REQUIRES: may_ask().
/// [ATR-01] [ATR-02]
Tlp translation_request_tlp(const TranslationAsk& ask, const TranslationSettings& settings,
                            Bdf function);

/// Whether the agent takes it, or it is malformed. [ATR-06] [ATR-07] [ATR-08]
bool is_legal_translation_request(const Tlp& request, unsigned rcb_bytes);

/// Translations that a request asks for. REQUIRES: it is a Translation Request.
constexpr unsigned translations_of(const Tlp& request) {
  return request.length_dw * 4U / kTranslationBytes;
}

/// The implied range: so many STUs from the one that holds the address on, cut off at the end of
/// the address space. Address bits below the STU do not matter.
/// [ATR-10] [ATR-11] [ATR-12] [INV-06]
AddressSpan implied_span(std::uint64_t address, unsigned translations, unsigned stu);

/// An access that found no translation in the ATC.
struct MissedAccess {
  std::uint64_t address = 0;
  OptionalId<Pasid> pasid;
  bool has_hint = false;  ///< software: this buffer is worth a translation
};

/// When a function asks for translations: always, for pages that are used again, a page ahead, or
/// where software says so. The source leaves it to the device (ATS 1.1). [ATR-29]
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
