// SPDX-License-Identifier: Apache-2.0
// Bits of a translation completion's entry.
#include "ats/translation_entry.h"

namespace flitwise {

namespace {
constexpr std::uint64_t kRead = 1U << 0, kWrite = 1U << 1, kUntranslatedOnly = 1U << 2,
                        kNoSnoopCleared = 1U << 10, kSize = 1U << 11;

constexpr std::uint64_t flag_if(bool condition, std::uint64_t bit) {
  return condition ? bit : 0;
}
}  // namespace

std::uint64_t encode_entry(const TranslationEntry& entry) {
  const SizeField field = encode_range({entry.translated, entry.size_bits});
  return field.address | flag_if(field.s, kSize) | flag_if(entry.read, kRead) |
         flag_if(entry.write, kWrite) | flag_if(entry.execute, kEntryExecute) |
         flag_if(entry.privileged, kEntryPrivileged) | flag_if(entry.global, kEntryGlobal) |
         flag_if(entry.untranslated_only, kUntranslatedOnly) |
         flag_if(entry.clears_no_snoop, kNoSnoopCleared);
}

TranslationEntry decode_entry(std::uint64_t bits, bool has_pasid) {
  const DecodedRange decoded = decode_range(bits, (bits & kSize) != 0);
  TranslationEntry entry;
  entry.size_bits = decoded.range.size_bits;
  entry.read = (bits & kRead) != 0;
  entry.write = (bits & kWrite) != 0;
  if (!entry.has_access()) {
    return entry;
  }
  entry.execute = has_pasid && entry.read && (bits & kEntryExecute) != 0;
  entry.privileged = has_pasid && (bits & kEntryPrivileged) != 0;
  entry.global = has_pasid && (bits & kEntryGlobal) != 0;
  entry.untranslated_only = (bits & kUntranslatedOnly) != 0;
  if (!entry.untranslated_only) {
    entry.translated = decoded.range.base;
    entry.clears_no_snoop = (bits & kNoSnoopCleared) != 0;
  }
  return entry;
}

AccessChoice choice_for(const TranslationEntry& entry, AccessKind access) {
  const bool is_allowed[] = {entry.read, entry.has_access(), entry.write,
                             entry.read && entry.execute};  // by AccessKind
  if (!is_allowed[static_cast<unsigned>(access)]) {
    return AccessChoice::kNotWithThis;
  }
  return entry.untranslated_only ? AccessChoice::kUntranslated : AccessChoice::kTranslated;
}

}  // namespace flitwise
