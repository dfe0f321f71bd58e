// SPDX-License-Identifier: Apache-2.0
// Entries of Translation Completions and what they allow. Catalogue ids in the names.
#include "ats/translation_entry.h"

#include <gtest/gtest.h>

#include "common/random.h"

namespace flitwise::translation_entry_test {
namespace {

TranslationEntry entry(bool read, bool write) {
  TranslationEntry made;
  made.translated = 0x7000;
  made.read = read;
  made.write = write;
  return made;
}

TEST(TranslationEntry, TCP_25_EveryFieldComesBack) {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    const auto bits = static_cast<unsigned>(12 + random.below(52));
    const std::uint64_t flags = random.next();
    TranslationEntry made;
    made.size_bits = static_cast<std::uint8_t>(bits);
    made.translated = random.next() & ~PageRange::mask_of(bits);
    made.read = (flags & 1) != 0;
    made.write = (flags & 2) != 0 || !made.read;
    made.execute = made.read && (flags & 4) != 0;
    made.privileged = (flags & 8) != 0;
    made.global = (flags & 16) != 0;
    made.clears_no_snoop = (flags & 32) != 0;
    EXPECT_EQ(decode_entry(encode_entry(made), true), made) << "2^" << bits;
  }
}

TEST(TranslationEntry, TCP_25_ReservedBitsAreIgnored) {
  const std::uint64_t plain = encode_entry(entry(true, false));
  for (unsigned bit = 3; bit <= 9; ++bit) {
    EXPECT_EQ(decode_entry(plain | std::uint64_t{1} << bit, false), entry(true, false)) << bit;
  }
  for (unsigned bit = 6; bit <= 9; ++bit) {
    EXPECT_EQ(decode_entry(plain | std::uint64_t{1} << bit, true), entry(true, false)) << bit;
  }
}

TEST(TranslationEntry, TCP_27_ThatACacheMayNotGoThereIsSaidToCachesAlone) {
  TranslationEntry forbidding = entry(true, true);
  forbidding.forbids_cache = true;
  const std::uint64_t bits = encode_entry(forbidding);
  EXPECT_EQ(bits & kEntryForbidsCache, kEntryForbidsCache);
  EXPECT_EQ(decode_entry(bits, true, true), forbidding);
  EXPECT_EQ(decode_entry(bits, true, false), entry(true, true));
}

TEST(TranslationEntry, TCP_25_ExecuteNeedsRead) {
  const TranslationEntry read = decode_entry(kEntryExecute | 1U, true);
  EXPECT_EQ(choice_for(read, AccessKind::kExecute), AccessChoice::kTranslated);
  const TranslationEntry write = decode_entry(kEntryExecute | 2U, true);
  EXPECT_EQ(choice_for(write, AccessKind::kExecute), AccessChoice::kNotWithThis);
}

TEST(TranslationEntry, TCP_09_OfAHoleOnlyItsSizeCounts) {
  const TranslationEntry hole = decode_entry(0xabcd'e000 | 1U << 11 | 1U << 10 | 4U, true);
  EXPECT_FALSE(hole.has_access());
  EXPECT_EQ(hole.translated, 0U);
  EXPECT_FALSE(hole.untranslated_only || hole.clears_no_snoop);
  EXPECT_EQ(hole.size_bits, 13);
  for (const AccessKind access :
       {AccessKind::kRead, AccessKind::kZeroLengthRead, AccessKind::kWrite, AccessKind::kExecute}) {
    EXPECT_EQ(choice_for(hole, access), AccessChoice::kNotWithThis);
  }
}

TEST(TranslationEntry, TCP_10_WriteOnlyAllowsZeroLengthReads) {
  EXPECT_EQ(choice_for(entry(false, true), AccessKind::kRead), AccessChoice::kNotWithThis);
  EXPECT_EQ(choice_for(entry(false, true), AccessKind::kZeroLengthRead), AccessChoice::kTranslated);
  EXPECT_EQ(choice_for(entry(false, true), AccessKind::kWrite), AccessChoice::kTranslated);
}

TEST(TranslationEntry, TCP_11_ReadOnlyAllowsNoWrite) {
  EXPECT_EQ(choice_for(entry(true, false), AccessKind::kWrite), AccessChoice::kNotWithThis);
  EXPECT_EQ(choice_for(entry(true, false), AccessKind::kRead), AccessChoice::kTranslated);
}

TEST(TranslationEntry, TCP_12_UntranslatedOnlyGivesNoAddress) {
  TranslationEntry made = entry(true, false);
  made.untranslated_only = made.clears_no_snoop = true;
  const TranslationEntry back = decode_entry(encode_entry(made), false);
  EXPECT_TRUE(back.untranslated_only);
  EXPECT_EQ(back.translated, 0U);
  EXPECT_FALSE(back.clears_no_snoop);
  EXPECT_EQ(choice_for(back, AccessKind::kRead), AccessChoice::kUntranslated);
  EXPECT_EQ(choice_for(back, AccessKind::kWrite), AccessChoice::kNotWithThis);
}

}  // namespace
}  // namespace flitwise::translation_entry_test
