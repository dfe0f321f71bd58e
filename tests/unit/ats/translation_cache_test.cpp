// SPDX-License-Identifier: Apache-2.0
// The ATC. Catalogue ids in the names.
#include "ats/translation_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "flitwise/error.h"

namespace flitwise::translation_cache_test {
namespace {

TranslationEntry mapped(std::uint64_t translated, unsigned size_bits = 12) {
  TranslationEntry entry;
  entry.translated = translated;
  entry.size_bits = static_cast<std::uint8_t>(size_bits);
  entry.read = entry.write = true;
  return entry;
}

TranslationCache enabled(unsigned entries, unsigned ways = 0,
                         CachePolicy policy = CachePolicy::kLru) {
  TranslationCache cache({entries, ways, policy, 1});
  cache.set_enabled(true);
  return cache;
}

bool put(TranslationCache& cache, std::uint64_t address, std::uint64_t translated,
         unsigned size_bits = 12, TranslationTag tag = {}) {
  return cache.insert(PageRange::around(address, size_bits), tag, mapped(translated, size_bits));
}

constexpr TranslationTag kFive{Pasid{5}, false};
constexpr InvalidationScope kNoPasid{}, kOfFive{Pasid{5}, false}, kAllPasids{{}, true};

TEST(TranslationCache, TCP_16_AHitTranslatesTheWholeRange) {
  TranslationCache cache = enabled(4);
  put(cache, 0x40'0000, 0x8000'0000, 21);
  const TranslationCache::Entry* const entry = cache.find(0x5f'fff8, {});
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->translate(0x5f'fff8), 0x801f'fff8U);
  EXPECT_FALSE(cache.find(0x60'0000, {}));
}

TEST(TranslationCache, TCP_09_WithoutAccessNothingIsCached) {
  TranslationCache cache = enabled(4);
  EXPECT_FALSE(cache.insert({0x1000, 12}, {}, no_access_entry(0)));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(TranslationCache, TCP_12_UntranslatedOnlyMayBeCached) {
  TranslationCache cache = enabled(4);
  TranslationEntry entry = mapped(0);
  entry.untranslated_only = true;
  EXPECT_TRUE(cache.insert({0x1000, 12}, {}, entry));
  EXPECT_EQ(choice_for(cache.find(0x1000, {})->translation, AccessKind::kRead),
            AccessChoice::kUntranslated);
}

TEST(TranslationCache, ATR_15_AWriteAfterNoWriteAsksAgainAndWins) {
  TranslationCache cache = enabled(4);
  TranslationEntry read_only = mapped(0x9000);
  read_only.write = false;
  cache.insert({0x1000, 12}, {}, read_only);
  EXPECT_EQ(choice_for(cache.find(0x1000, {})->translation, AccessKind::kWrite),
            AccessChoice::kNotWithThis);
  EXPECT_TRUE(put(cache, 0x1000, 0x9000));
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(choice_for(cache.find(0x1000, {})->translation, AccessKind::kWrite),
            AccessChoice::kTranslated);
}

TEST(TranslationCache, TCP_17_NothingIsInsertedWhileDisabled) {
  TranslationCache cache({4, 0, CachePolicy::kLru, 1});
  EXPECT_FALSE(put(cache, 0x1000, 0x9000));
  cache.set_enabled(true);
  cache.set_enabled(false);
  EXPECT_FALSE(put(cache, 0x1000, 0x9000));
}

TEST(TranslationCache, TCP_04_AfterUnsupportedRequestItIsOffUntilReenabled) {
  TranslationCache cache = enabled(4);
  put(cache, 0x1000, 0x9000);
  cache.disable_until_reenabled();
  EXPECT_FALSE(cache.find(0x1000, {}));
  EXPECT_FALSE(put(cache, 0x2000, 0x9000));
  cache.set_enabled(true);  // E was set already.
  EXPECT_FALSE(cache.is_usable());
  cache.set_enabled(false);
  cache.set_enabled(true);
  EXPECT_TRUE(cache.is_usable());
  EXPECT_FALSE(cache.find(0x1000, {}));
}

TEST(TranslationCache, CFG_01_EnablingEmptiesIt) {
  TranslationCache cache = enabled(4);
  put(cache, 0x1000, 0x9000);
  cache.set_enabled(false);
  EXPECT_FALSE(cache.find(0x1000, {}));
  cache.set_enabled(true);
  EXPECT_FALSE(cache.find(0x1000, {}));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(TranslationCache, CFG_03_AResetEmptiesAndDisablesIt) {
  TranslationCache cache = enabled(4);
  put(cache, 0x1000, 0x9000);
  cache.reset();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_FALSE(cache.is_usable());
}

TEST(TranslationCache, TCP_20_TheLaterOfOverlappingTranslationsWins) {
  TranslationCache cache = enabled(8);
  put(cache, 0x20'0000, 0x1000'0000, 21);
  put(cache, 0x20'1000, 0x9000);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.find(0x20'1000, {})->translation.translated, 0x9000U);
  EXPECT_FALSE(cache.find(0x20'0000, {}));
  put(cache, 0x20'2000, 0xa000);
  put(cache, 0x20'0000, 0x1000'0000, 21);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.invalidate({0x20'1000, 12}, kNoPasid), 1U);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(TranslationCache, TCP_21_LruEvictsTheLongestUnused) {
  TranslationCache cache = enabled(2);
  put(cache, 0x1000, 0x9000);
  put(cache, 0x2000, 0xa000);
  cache.find(0x1000, {});
  put(cache, 0x3000, 0xb000);
  EXPECT_FALSE(cache.find(0x2000, {}));
  EXPECT_TRUE(cache.find(0x1000, {}));
}

TEST(TranslationCache, TCP_21_FifoEvictsTheFirstIn) {
  TranslationCache cache = enabled(2, 0, CachePolicy::kFifo);
  put(cache, 0x1000, 0x9000);
  put(cache, 0x2000, 0xa000);
  cache.find(0x1000, {});
  put(cache, 0x3000, 0xb000);
  EXPECT_FALSE(cache.find(0x1000, {}));
}

TEST(TranslationCache, TCP_21_RandomFillsEmptyPlacesFirstAndRepeatsWithItsSeed) {
  const auto evictions = [](std::uint64_t seed) {
    TranslationCache cache({8, 0, CachePolicy::kRandom, seed});
    cache.set_enabled(true);
    std::vector<std::uint64_t> left;
    for (std::uint64_t page = 0; page < 40; ++page) {
      put(cache, page << 12, page << 12);
      EXPECT_EQ(cache.size(), std::min<std::uint64_t>(page + 1, 8));
    }
    for (std::uint64_t page = 0; page < 40; ++page) {
      if (cache.find(page << 12, {}) != nullptr) {
        left.push_back(page);
      }
    }
    return left;
  };
  EXPECT_EQ(evictions(3), evictions(3));
  EXPECT_NE(evictions(3), evictions(4));
}

TEST(TranslationCache, TCP_21_WaysBoundASet) {
  TranslationCache cache = enabled(4, 2);
  put(cache, 0x0000, 0x9000);
  put(cache, 0x2000, 0xa000);
  put(cache, 0x1000, 0xb000);
  EXPECT_EQ(cache.size(), 3U);
  put(cache, 0x4000, 0xc000);
  EXPECT_FALSE(cache.find(0x0000, {}));
  EXPECT_THROW(TranslationCache({5, 2, CachePolicy::kLru, 1}), SimulationError);
}

TEST(TranslationCache, TCP_22_EntriesAreReadOnly) {
  TranslationCache cache = enabled(2);
  put(cache, 0x1000, 0x9000);
  static_assert(std::is_const_v<std::remove_pointer_t<decltype(cache.find(0, {}))>>);
  EXPECT_EQ(cache.find(0x1000, {})->translation, mapped(0x9000));
}

TEST(TranslationCache, INV_01_ACachedPageGoes) {
  TranslationCache cache = enabled(4);
  put(cache, 0x1000, 0x9000);
  EXPECT_EQ(cache.invalidate({0x1000, 12}, kNoPasid), 1U);
  EXPECT_FALSE(cache.find(0x1000, {}));
}

TEST(TranslationCache, INV_02_AnyOverlapDeletesTheWholeEntry) {
  TranslationCache cache = enabled(64);
  put(cache, 0x20'0000, 0x1000'0000, 21);
  EXPECT_EQ(cache.invalidate({0x3f'f000, 12}, kNoPasid), 1U);
  EXPECT_FALSE(cache.find(0x20'0000, {}));
  for (std::uint64_t page = 0; page < 16; ++page) {
    put(cache, page << 12, page << 12);
  }
  EXPECT_EQ(cache.invalidate({0x4000, 14}, kNoPasid), 4U);
  EXPECT_EQ(cache.invalidate(PageRange::everything(), kNoPasid), 12U);
}

TEST(TranslationCache, INV_03_WithoutOverlapNothingGoes) {
  TranslationCache cache = enabled(4);
  put(cache, 0x1000, 0x9000);
  EXPECT_EQ(cache.invalidate({0x2000, 12}, kNoPasid), 0U);
  EXPECT_TRUE(cache.find(0x1000, {}));
}

TEST(TranslationCache, INV_28_AnEntryGoesOnce) {
  TranslationCache cache = enabled(1);
  put(cache, 0x1000, 0x9000);
  put(cache, 0x2000, 0xa000);
  EXPECT_FALSE(cache.find(0x1000, {}));
  EXPECT_EQ(cache.invalidate({0x1000, 12}, kNoPasid), 0U);
  EXPECT_EQ(cache.invalidate({0x2000, 12}, kNoPasid), 1U);
  EXPECT_EQ(cache.invalidate({0x2000, 12}, kNoPasid), 0U);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(TranslationCache, INV_33_AGlobalInvalidationTakesEveryPasid) {
  TranslationCache cache = enabled(8);
  for (std::uint32_t pasid = 0; pasid < 4; ++pasid) {
    put(cache, 0x1000, 0x9000, 12, {Pasid{pasid}, pasid % 2 == 1});
  }
  put(cache, 0x2000, 0x9000, 12, kFive);
  EXPECT_EQ(cache.invalidate({0x1000, 12}, kAllPasids), 4U);
  EXPECT_TRUE(cache.find(0x2000, kFive));
}

TEST(TranslationCache, INV_34_PasidsAndRequestsWithoutAreApart) {
  TranslationCache cache = enabled(8);
  put(cache, 0x1000, 0x9000);
  put(cache, 0x1000, 0xa000, 12, kFive);
  put(cache, 0x1000, 0xb000, 12, {Pasid{6}, false});
  EXPECT_EQ(cache.find(0x1000, kFive)->translation.translated, 0xa000U);
  EXPECT_EQ(cache.invalidate({0x1000, 12}, kOfFive), 1U);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.invalidate(PageRange::everything(), kNoPasid), 1U);
  EXPECT_TRUE(cache.find(0x1000, {Pasid{6}, false}));
}

TEST(TranslationCache, INV_34_PrivilegedTranslationsAreApartAndGoTogether) {
  TranslationCache cache = enabled(8);
  put(cache, 0x1000, 0x9000, 12, {Pasid{5}, true});
  EXPECT_FALSE(cache.find(0x1000, kFive));
  EXPECT_EQ(cache.invalidate({0x1000, 12}, kOfFive), 1U);
}

// The same against a list that is searched from one end to the other.
TEST(TranslationCache, INV_02_AgreesWithAPlainList) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TranslationCache cache = enabled(512);
    std::vector<TranslationCache::Entry> list;
    const auto drop = [&list](const PageRange& range, const auto& covers) {
      unsigned dropped = 0;
      for (std::size_t i = list.size(); i-- > 0;) {
        if (covers(list[i].tag) && list[i].range.overlaps(range)) {
          list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
          ++dropped;
        }
      }
      return dropped;
    };
    for (int step = 0; step < 3000; ++step) {
      const auto bits = static_cast<unsigned>(12 + random.below(3) * random.below(4));
      const PageRange range = PageRange::around(random.below(std::uint64_t{1} << 24), bits);
      TranslationTag tag{Pasid{static_cast<std::uint32_t>(random.below(2))}, random.chance(0.2)};
      tag.pasid = random.chance(0.3) ? OptionalId<Pasid>() : tag.pasid;
      if (random.chance(0.7) && list.size() < 512) {
        drop(range, [tag](TranslationTag other) { return other == tag; });
        const auto entry = mapped(random.next() & ~PageRange::mask_of(bits), bits);
        cache.insert(range, tag, entry);
        list.push_back({range, tag, entry});
      } else {
        const InvalidationScope scope{tag.pasid, tag.pasid.has_value() && random.chance(0.1)};
        EXPECT_EQ(cache.invalidate(range, scope), drop(range, [&scope](TranslationTag other) {
                    return scope.covers(other.pasid);
                  }));
      }
      EXPECT_EQ(cache.size(), list.size());
      const std::uint64_t address = random.below(std::uint64_t{1} << 24);
      const TranslationCache::Entry* const found = cache.find(address, tag);
      const TranslationCache::Entry* expected = nullptr;
      for (const TranslationCache::Entry& entry : list) {
        expected = entry.tag == tag && entry.range.contains(address) ? &entry : expected;
      }
      ASSERT_EQ(found != nullptr, expected != nullptr);
      if (found != nullptr) {
        EXPECT_EQ(found->translation, expected->translation);
      }
    }
  }
}

TEST(TranslationCache, CFG_08_FunctionsHaveCachesOfTheirOwn) {
  TranslationCache one = enabled(4), other = enabled(4);
  put(one, 0x1000, 0x9000);
  EXPECT_FALSE(other.find(0x1000, {}));
  other.invalidate(PageRange::everything(), kNoPasid);
  EXPECT_TRUE(one.find(0x1000, {}));
}

TEST(TranslationCache, TCP_13_WithUntranslatedOnlyNoStaleAddressCanBeUsed) {
  TranslationCache cache = enabled(4);
  TranslationEntry entry = mapped(0x9000);
  entry.untranslated_only = true;
  cache.insert({0x1000, 12}, {}, decode_entry(encode_entry(entry), false));
  const TranslationCache::Entry& cached = *cache.find(0x1000, {});
  for (const AccessKind access :
       {AccessKind::kRead, AccessKind::kZeroLengthRead, AccessKind::kWrite}) {
    EXPECT_EQ(choice_for(cached.translation, access), AccessChoice::kUntranslated);
  }
  EXPECT_EQ(cached.translation.translated, 0U);
}

TEST(TranslationCache, CFG_02_ClearingEnableAllowsNoNewUse) {
  TranslationCache cache = enabled(4);
  put(cache, 0x1000, 0x9000);
  cache.set_enabled(false);
  EXPECT_FALSE(cache.is_usable());
  EXPECT_FALSE(cache.find(0x1000, {}));
}

}  // namespace
}  // namespace flitwise::translation_cache_test
