// SPDX-License-Identifier: Apache-2.0
// Snooping of outstanding Translation Requests.
#include "ats/outstanding_translations.h"

#include "flitwise/error.h"

namespace flitwise {

OutstandingTranslations::OutstandingTranslations(unsigned capacity, AtcDiscard policy)
    : requests_(capacity), slots_(capacity), policy_(policy) {}

Slot OutstandingTranslations::open(const TranslationAsk& ask, unsigned stu) {
  FLITWISE_CHECK(has_room() && ask.translations <= kMaxTranslations, "Translation Requests out");
  const Slot slot = slots_.take();
  Request& request = requests_[slot];
  request = Request{};
  request.first = implied_span(ask.address, ask.translations, stu).first;
  request.tag = {ask.pasid, ask.pasid.has_value() && ask.privileged};
  request.units = static_cast<std::uint8_t>(ask.translations);
  request.unit_bits = static_cast<std::uint8_t>(stu_bits(stu));
  return slot;
}

void OutstandingTranslations::close(Slot slot) {
  FLITWISE_CHECK(slots_.used().contains(slot), "a Translation Request ends twice");
  slots_.give_back(slot);
}

unsigned OutstandingTranslations::invalidate(const PageRange& range,
                                             const InvalidationScope& scope) {
  unsigned touched = 0;
  for (std::optional<Slot> slot = slots_.used().front(); slot; slot = slots_.used().next(*slot)) {
    Request& request = requests_[*slot];
    if (!scope.covers(request.tag.pasid)) {
      continue;
    }
    request.has_seen_invalidation = true;
    std::uint32_t hit = 0;
    for (unsigned unit = 0; unit < request.units; ++unit) {
      const std::uint64_t start = request.first + (std::uint64_t{unit} << request.unit_bits);
      hit |= range.overlaps(PageRange::around(start, request.unit_bits)) ? 1U << unit : 0U;
    }
    touched += hit != 0 ? 1U : 0U;
    request.discards |= hit != 0 && policy_ == AtcDiscard::kAll ? kAllUnits : hit;
  }
  return touched;
}

bool OutstandingTranslations::is_discarded(Slot slot, std::uint64_t address) const {
  const Request& request = requests_[slot];
  const std::uint64_t unit = (address - request.first) >> request.unit_bits;
  const bool is_struck =
      unit < request.units ? (request.discards >> unit & 1U) != 0 : request.has_seen_invalidation;
  return is_struck || is_discarded(slot);
}

void OutstandingTranslations::void_all() {
  for (std::optional<Slot> slot = slots_.used().front(); slot; slot = slots_.used().next(*slot)) {
    requests_[*slot].discards = kAllUnits;
    requests_[*slot].is_void = true;
  }
}

void OutstandingTranslations::clear() {
  while (const std::optional<Slot> slot = slots_.used().front()) {
    close(*slot);
  }
}

CacheablePieces OutstandingTranslations::cacheable(Slot slot,
                                                   const TranslationReceiver& reply) const {
  const Request& request = requests_[slot];
  CacheablePieces result;
  for (unsigned i = 0; i < reply.count() && !is_discarded(slot); ++i) {
    const TranslationEntry entry = reply.entry(i);
    if (!entry.has_access()) {
      continue;
    }
    if (request.has_seen_invalidation) {
      add_units(request, reply.range(i), entry, result);
    } else {
      result.push_back({reply.range(i), entry});
    }
  }
  return result;
}

// The STUs of one entry that may still be used.
void OutstandingTranslations::add_units(const Request& request, const PageRange& range,
                                        const TranslationEntry& entry,
                                        CacheablePieces& result) const {
  for (unsigned unit = 0; unit < request.units; ++unit) {
    const std::uint64_t start = request.first + (std::uint64_t{unit} << request.unit_bits);
    if ((request.discards >> unit & 1U) != 0 || !range.contains(start)) {
      continue;
    }
    CacheablePiece piece{PageRange::around(start, request.unit_bits), entry};
    piece.translation.size_bits = request.unit_bits;
    if (!entry.untranslated_only) {
      piece.translation.translated = entry.translated | (start & range.offset_mask());
    }
    result.push_back(piece);
  }
}

}  // namespace flitwise
