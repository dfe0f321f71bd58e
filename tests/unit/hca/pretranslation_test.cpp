// SPDX-License-Identifier: Apache-2.0
// Pre-translation: what the cases in tests/cases/hca do not show, and random events against the
// tables of a host whose translations change.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "common/random.h"
#include "hca/pretranslation.h"

namespace flitwise::pretranslation_test {
namespace {

using Record = Pretranslation::Record;
using Verdict = StructureAccess::Verdict;

constexpr StaticStructure kCq = StaticStructure::kCq;
constexpr Time kStart{};

TranslationEntry page_at(std::uint64_t address, unsigned bits = kSmallestRangeBits) {
  TranslationEntry entry;
  entry.translated = address;
  entry.size_bits = static_cast<std::uint8_t>(bits);
  entry.read = entry.write = true;
  return entry;
}
PageRange page(std::uint64_t address) {
  return PageRange::around(address, kSmallestRangeBits);
}

struct OneStructure : testing::Test {
  Pretranslation eps{PretranslationSetup{}};
  std::uint32_t request = 0;

  OneStructure() {
    eps.start(0);
    EXPECT_TRUE(eps.write(0, kCq, 0x7000, 4096));
    request = eps.next(kStart).value().id;
  }
};

TEST_F(OneStructure, EP_3_OneRequestAtATime) {
  EXPECT_EQ(eps.record(0, kCq), Record::kPending);
  EXPECT_FALSE(eps.next(kStart).has_value());
}

TEST_F(OneStructure, EP_4_BothRightsAreNeededAndNoUBit) {
  TranslationEntry entry = page_at(0x9000);
  entry.read = false;
  EXPECT_TRUE(eps.answer(request, entry, kStart));
  EXPECT_FALSE(eps.at(0, kCq).is_pretranslated);
  Time now = Time::from_us(10);
  entry.read = entry.untranslated_only = true;
  EXPECT_TRUE(eps.answer(eps.next(now).value().id, entry, now));
  EXPECT_FALSE(eps.at(0, kCq).is_pretranslated);
  now += Time::from_us(20);
  EXPECT_TRUE(eps.answer(eps.next(now).value().id, page_at(0x9000), now));
  EXPECT_EQ(eps.at(0, kCq).address, 0x9000U);
}

TEST_F(OneStructure, EP_4_ASizeThatIsUndefinedIsAFailure) {
  EXPECT_TRUE(eps.answer(request, page_at(0, kWholeSpaceBits), kStart));
  EXPECT_FALSE(eps.at(0, kCq).is_pretranslated);
}

TEST_F(OneStructure, EP_6_WhatNobodyAskedForIsRefused) {
  EXPECT_FALSE(eps.answer(request + 1, page_at(0x9000), kStart));
  EXPECT_TRUE(eps.fail(request, kStart));
  EXPECT_FALSE(eps.answer(request, page_at(0x9000), kStart));
  EXPECT_FALSE(eps.fail(99, kStart));
}

TEST_F(OneStructure, EP_6_ASuccessForgetsTheFailuresBefore) {
  EXPECT_TRUE(eps.fail(request, kStart));
  Time now = Time::from_us(10);
  EXPECT_TRUE(eps.answer(eps.next(now).value().id, page_at(0x9000), now));
  eps.invalidate(0, 0, page(0x7000), {});
  EXPECT_TRUE(eps.fail(eps.next(now).value().id, now));
  EXPECT_FALSE(eps.next(now + Time::from_ns(9'999)).has_value());
  EXPECT_TRUE(eps.next(now + Time::from_us(10)).has_value());
}

TEST_F(OneStructure, EP_6_TheLongestPauseIsOneMillisecond) {
  Time now = kStart;
  for (unsigned i = 0; i < 12; ++i) {
    EXPECT_TRUE(eps.fail(request, now));
    now += Time::from_us(1'000);
    const auto again = eps.next(now);
    ASSERT_TRUE(again.has_value()) << i;
    request = again->id;
  }
}

TEST_F(OneStructure, EP_7_APendingRequestOfAClearedRegisterLeavesItCleared) {
  PretranslationSetup setup;
  setup.clears = true;
  Pretranslation other(setup);
  other.start(0);
  EXPECT_TRUE(other.write(0, kCq, 0x7000, 4096));
  EXPECT_TRUE(other.answer(other.next(kStart).value().id, page_at(0x9000), kStart));
  other.invalidate(0, 0, page(0x7000), {});
  const std::uint32_t late = other.next(kStart).value().id;
  other.invalidate(0, 1, page(0x7000), {});
  EXPECT_TRUE(other.answer(late, page_at(0xa000), kStart));
  EXPECT_EQ(other.begin(0, kCq, 0, 8).verdict, Verdict::kWait);
  EXPECT_TRUE(other.answer(other.next(kStart).value().id, page_at(0xb000), kStart));
  EXPECT_EQ(other.begin(0, kCq, 0, 8).address, 0xb000U);
}

TEST_F(OneStructure, EP_10_ARegisterBeyondTheAddressSpaceIsRefused) {
  EXPECT_FALSE(eps.write(0, kCq, ~std::uint64_t{0}, 2));
  EXPECT_EQ(eps.record(0, kCq), Record::kPending);
  EXPECT_TRUE(eps.write(0, kCq, ~std::uint64_t{0}, 1));
  EXPECT_EQ(eps.begin(0, kCq, 0, 1).address, ~std::uint64_t{0});
}

TEST(Pretranslation, EP_3_NoMoreRequestsThanItMayHave) {
  PretranslationSetup setup;
  setup.requests = 1;
  Pretranslation eps(setup);
  eps.start(0);
  EXPECT_TRUE(eps.write(0, kCq, 0x7000, 64));
  EXPECT_TRUE(eps.write(0, StaticStructure::kCqDescriptors, 0x8000, 64));
  const auto first = eps.next(kStart);
  EXPECT_FALSE(eps.next(kStart).has_value());
  eps.stop(0);
  eps.start(0);
  EXPECT_FALSE(eps.next(kStart).has_value());  // its answer is still under way
  EXPECT_TRUE(eps.fail(first.value().id, kStart));
  EXPECT_TRUE(eps.next(kStart).has_value());
}

// A page of the guest is translated by a table that changes; the firmware is told by an
// invalidation. No access may use what an invalidation has taken, and none that used it may be open
// when that is complete.
struct ChangingTables {
  static constexpr unsigned kFunctions = 2, kPages = 4;
  using Use = std::pair<StaticStructure, std::uint64_t>;

  explicit ChangingTables(const PretranslationSetup& setup, std::uint64_t seed)
      : eps(setup), random(seed) {
    for (std::uint32_t function = 0; function < kFunctions; ++function) {
      eps.start(function);
    }
  }
  std::uint64_t now_at(std::uint32_t function, std::uint64_t guest) const {
    const auto found = versions.find({function, guest >> 12});
    return (found == versions.end() ? 0 : found->second) << 32 | function << 24 |
           (guest & 0xff'ffff);
  }
  void step() {
    const auto function = static_cast<std::uint32_t>(random.below(kFunctions));
    const auto structure = static_cast<StaticStructure>(random.below(kStaticStructures));
    const std::uint64_t guest = (1 + random.below(kPages)) << 12;
    now += Time::from_us(1);
    switch (random.below(16)) {
      case 0: eps.write(function, structure, guest + 512 * random.below(8), 512); break;
      case 1: random.chance(0.1) ? eps.stop(function) : eps.start(function); break;
      case 2: eps.allow(function, structure, random.chance(0.8)); break;
      case 3: invalidate(function, guest); break;
      case 4:
      case 5:
      case 6: ask(); break;
      case 7:
      case 8:
      case 9: answer(); break;
      case 10:
      case 11:
      case 12: access(function, structure); break;
      default: serve(function); break;
    }
  }
  // The table is read when the request gets there, its answer comes later.
  void ask() {
    if (const auto request = eps.next(now)) {
      requests.emplace_back(request->id, now_at(request->function, request->address));
    }
  }
  void answer() {
    if (requests.empty()) {
      return;
    }
    const std::size_t which = random.below(requests.size());
    const auto [id, translated] = requests[which];
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(which));
    EXPECT_TRUE(random.chance(0.1) ? eps.fail(id, now) : eps.answer(id, page_at(translated), now));
  }
  void access(std::uint32_t function, StaticStructure structure) {
    const StructureAccess access = eps.begin(function, structure, 504, 8);
    if (access.at == AddressType::kTranslated) {
      const std::uint64_t guest = access.address & 0xff'ffff;
      EXPECT_EQ(access.address, now_at(function, guest));
      uses[function].emplace_back(structure, access.address);
      ++translated_accesses;
    }
  }
  void serve(std::uint32_t function) {
    if (uses[function].empty()) {
      return;
    }
    const auto [structure, address] = uses[function].front();
    uses[function].pop_front();
    const std::uint32_t complete = eps.end(function, structure);
    for (unsigned itag = 0; itag < 32; ++itag) {
      if ((complete >> itag & 1U) != 0) {
        expect_none_stale(function, ranges[function][itag]);
        ++waited;
      }
    }
  }
  void invalidate(std::uint32_t function, std::uint64_t guest) {
    const unsigned itag = next_itag++ % 32;
    if (eps.is_waiting(function, itag)) {
      return;
    }
    ++versions[{function, guest >> 12}];
    ranges[function][itag] = guest;
    if (eps.invalidate(function, itag, page(guest), {}).is_complete) {
      expect_none_stale(function, guest);
    }
  }
  void expect_none_stale(std::uint32_t function, std::uint64_t guest) {
    for (const Use& use : uses[function]) {
      const std::uint64_t of = use.second & 0xff'ffff;
      EXPECT_TRUE(of >> 12 != guest >> 12 || use.second == now_at(function, of));
    }
  }

  Pretranslation eps;
  Random random;
  Time now{};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> versions;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> requests;
  std::deque<Use> uses[kFunctions];
  std::uint64_t ranges[kFunctions][32] = {};
  unsigned next_itag = 0, translated_accesses = 0, waited = 0;
};

TEST(Pretranslation, EP_C6_NoAccessIsStaleWhateverComesInWhichOrder) {
  for (const bool clears : {false, true}) {
    PretranslationSetup setup;
    setup.functions.resize(ChangingTables::kFunctions);
    setup.clears = clears;
    setup.requests = 4;
    const std::uint64_t seed = clears ? 5 : 3;
    ChangingTables tables(setup, seed);
    for (unsigned i = 0; i < 20'000 && !HasFailure(); ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << i);
      tables.step();
    }
    EXPECT_GT(tables.translated_accesses, 200U);
    EXPECT_GT(tables.waited, 20U);
    EXPECT_GT(tables.eps.counts().discarded, 20U);
  }
}

}  // namespace
}  // namespace flitwise::pretranslation_test
