// SPDX-License-Identifier: Apache-2.0
// The order on the wire as a watcher sees it, cell by cell beside the model's table.
#include "monitor/ordering_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "common/random.h"
#include "link/ordering.h"
#include "trace/packet_note.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::ordering_monitor_test {
namespace {

using test::packet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Both come to the queues in this order and leave in the other: is a rule reported?
std::vector<std::string> overtaking(const Packet& earlier, const Packet& later) {
  test::Reported reported;
  OrderingMonitor monitor(reported.reporter);
  for (const Packet* const one : {&earlier, &later}) {
    monitor.queued(fc_class(one->tlp.type), *one);
  }
  for (const Packet* const one : {&later, &earlier}) {
    if (monitor.fits(*one, kind_of(one->tlp))) {
      monitor.sent(kind_of(one->tlp));
    } else {
      monitor.sent_out_of_turn(*one, {});
    }
  }
  return reported.rules();
}

// [LNK-9.1] to [LNK-9.6]
TEST(OrderingMonitor, NamesTheRuleOfEachKind) {
  PacketPool pool;
  const PacketRef write = packet(pool, TlpType::kMWr);
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kMWr)), ElementsAre("LNK-9.1"));
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kMRd)), ElementsAre("LNK-9.4"));
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kFetchAdd)), ElementsAre("LNK-9.5"));
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kCplD)), ElementsAre("LNK-9.6"));
  EXPECT_THAT(overtaking(*packet(pool, TlpType::kMRd), *write), IsEmpty());
  EXPECT_THAT(overtaking(*packet(pool, TlpType::kCplD), *write), IsEmpty());
}

// [LNK-9.7]
TEST(OrderingMonitor, CompletionsOfOneTransactionKeepTheirOrder) {
  PacketPool pool;
  const PacketRef first = packet(pool, TlpType::kCplD);
  const PacketRef second = packet(pool, TlpType::kCplD);
  EXPECT_THAT(overtaking(*first, *second), ElementsAre("LNK-9.7"));
  second->tlp.tag = 1;
  EXPECT_THAT(overtaking(*first, *second), IsEmpty());
}

// The model's table and the monitor were written apart; they have to agree.
TEST(OrderingMonitor, AgreesWithTheTableOfTheModel) {
  PacketPool pool;
  Random random(1);
  constexpr TlpType kTypes[] = {TlpType::kMWr,  TlpType::kMsg,  TlpType::kMRd, TlpType::kFetchAdd,
                                TlpType::kSwap, TlpType::kCplD, TlpType::kCpl, TlpType::kCfgWr0};
  for (int i = 0; i < 20'000; ++i) {
    PacketRef pair[2];
    for (PacketRef& one : pair) {
      one = packet(pool, kTypes[random.below(8)], 1);
      Tlp& tlp = one->tlp;
      tlp.relaxed_ordering = random.below(2) == 0;
      tlp.id_based_ordering = random.below(2) == 0;
      tlp.tc = static_cast<std::uint8_t>(random.below(8) == 0);
      tlp.requester_id = Bdf::of(1, 0, static_cast<unsigned>(random.below(2)));
      tlp.completer_id = Bdf::of(1, 0, static_cast<unsigned>(random.below(2)));
      tlp.has_pasid = !is_completion(tlp.type) && random.below(2) == 0;
      tlp.pasid = Pasid{tlp.has_pasid ? static_cast<std::uint32_t>(random.below(2)) : 0U};
      tlp.tag = static_cast<std::uint16_t>(random.below(2));
      tlp.id_is_handle = random.below(8) == 0 && !is_completion(tlp.type);
    }
    const bool is_allowed = passing(pair[1]->tlp, pair[0]->tlp) != Passing::kNo;
    EXPECT_EQ(overtaking(*pair[0], *pair[1]).empty(), is_allowed)
        << name_of(pair[1]->tlp.type) << " over " << name_of(pair[0]->tlp.type) << ", run " << i;
  }
}

// [LNK-9.1] [LNK-1.7]
TEST(OrderingMonitor, AHandleIsToldFromHandlesAlone) {
  PacketPool pool;
  const PacketRef write = packet(pool, TlpType::kMWr);
  const PacketRef read = packet(pool, TlpType::kMRd);
  read->tlp.id_based_ordering = read->tlp.id_is_handle = true;
  write->has_identity = read->has_identity = true;
  write->identity = DeviceIdentity(write->tlp.requester_id, Pasid{5});
  read->identity = DeviceIdentity(Bdf::of(1, 0, 1), Pasid{5});
  EXPECT_THAT(overtaking(*write, *read), ElementsAre("LNK-9.4"));
  write->tlp.id_is_handle = true;
  EXPECT_THAT(overtaking(*write, *read), IsEmpty());
  read->identity = write->identity;  // by another handle, or the same
  EXPECT_THAT(overtaking(*write, *read), ElementsAre("LNK-9.4"));
}

/// Of one of 64 owners, most by the one form; in form 3 by any.
PacketRef random_packet(PacketPool& pool, Random& random, unsigned form) {
  constexpr TlpType kTypes[] = {TlpType::kMWr, TlpType::kMWr,      TlpType::kMWr, TlpType::kMRd,
                                TlpType::kMRd, TlpType::kFetchAdd, TlpType::kCplD};
  PacketRef one = packet(pool, kTypes[random.below(std::size(kTypes))], 1, random.below(1U << 20));
  Tlp& tlp = one->tlp;
  const DeviceIdentity owner(Bdf::of(1, 0, static_cast<unsigned>(random.below(8))),
                             static_cast<Pasid>(random.below(8)));
  form = form == 3 || random.chance(0.01) ? static_cast<unsigned>(random.below(3)) : form;
  one->has_identity = form > 0 && !is_completion(tlp.type);
  one->identity = owner;
  tlp.relaxed_ordering = random.chance(0.05);
  tlp.id_based_ordering = random.chance(0.95);
  tlp.tc = static_cast<std::uint8_t>(random.chance(0.05));
  tlp.tag = static_cast<std::uint16_t>(random.below(64));
  tlp.requester_id = tlp.completer_id = owner.bdf;
  tlp.has_pasid = !is_completion(tlp.type) && random.chance(0.95);
  tlp.pasid = tlp.has_pasid ? *owner.pasid : Pasid{};
  tlp.id_is_handle = (form == 2 && one->has_identity) || random.chance(0.002);
  if (tlp.id_is_handle || random.chance(0.01)) {
    tlp.requester_id.value = static_cast<std::uint16_t>(random.below(100));
  }
  return one;
}

// [LNK-9.1] to [LNK-9.7]
TEST(OrderingMonitor, FindsAmongManyWhatItFindsOneByOne) {
  PacketPool pool;
  Random random(11);
  test::Reported reported;
  OrderingMonitor monitor(reported.reporter);
  std::string found;
  reported.log.listen([&](auto /*kind*/, Time, const char*, const Packet&,
                          const std::string& other) { found = other; });
  std::vector<PacketRef> waiting;
  unsigned sent = 0, wrong = 0, fitting = 0;
  for (unsigned round = 0; round < 8'000; ++round) {
    if (waiting.size() < 40 && random.chance(0.6)) {
      waiting.push_back(random_packet(pool, random, round / 500 % 4));
      monitor.queued(fc_class(waiting.back()->tlp.type), *waiting.back());
      continue;
    }
    if (waiting.empty()) {
      continue;
    }
    const auto later = waiting.begin() + static_cast<std::ptrdiff_t>(random.below(waiting.size()));
    const auto passed = std::find_if(waiting.begin(), later, [&](const PacketRef& earlier) {
      return !overtaking(*earlier, **later).empty();
    });
    const TlpKind kind = kind_of((*later)->tlp);
    found.clear();
    const bool fits = monitor.fits(**later, kind);
    ASSERT_TRUE(!fits || later == waiting.begin());
    fits ? monitor.sent(kind) : monitor.sent_out_of_turn(**later, {});
    fitting += fits ? 1 : 0;
    ASSERT_EQ(found, passed == later ? "" : text_of(**passed)) << "round " << round;
    ++sent;
    wrong += passed == later ? 0 : 1;
    waiting.erase(later);
  }
  EXPECT_GT(wrong, sent / 10);
  EXPECT_LT(wrong, sent - sent / 10);
  EXPECT_GT(fitting, 20U);
}

// [LNK-9.1] One that went ahead costs those behind it one look at all, no more.
TEST(OrderingMonitor, FitsAgainBehindWhatWentOutOfTurn) {
  PacketPool pool;
  test::Reported reported;
  OrderingMonitor monitor(reported.reporter);
  std::vector<PacketRef> packets;
  for (const TlpType type : {TlpType::kMRd, TlpType::kMWr, TlpType::kMRd, TlpType::kMWr}) {
    packets.push_back(packet(pool, type));
    monitor.queued(fc_class(type), *packets.back());
  }
  const auto fits = [&](std::size_t i) {
    return monitor.fits(*packets[i], kind_of(packets[i]->tlp));
  };
  EXPECT_FALSE(fits(1));
  monitor.sent_out_of_turn(*packets[1], {});  // a write may pass a read
  EXPECT_TRUE(fits(0));
  monitor.sent(kind_of(packets[0]->tlp));
  EXPECT_FALSE(fits(2));  // the write before it has gone, which nobody has noted
  monitor.sent_out_of_turn(*packets[2], {});
  EXPECT_TRUE(fits(3));
  EXPECT_EQ(reported.log.count(), 0U);
}

/// Processor time of so many reads that go ahead of writes of as many owners, with identity.
std::clock_t time_ahead_of_writes(unsigned writes) {
  constexpr unsigned kReads = 5'000;
  PacketPool pool;
  test::Reported reported;
  OrderingMonitor monitor(reported.reporter);
  std::vector<PacketRef> packets;
  for (unsigned i = 0; i < writes + kReads; ++i) {
    packets.push_back(packet(pool, i < writes ? TlpType::kMWr : TlpType::kMRd));
    Tlp& tlp = packets.back()->tlp;
    tlp.has_pasid = tlp.id_based_ordering = true;
    tlp.pasid = static_cast<Pasid>(i);
    packets.back()->identity = DeviceIdentity(tlp.requester_id, tlp.pasid);
    packets.back()->has_identity = true;
    monitor.queued(fc_class(tlp.type), *packets.back());
  }
  monitor.sent_out_of_turn(*packets[writes], {});
  const std::clock_t begin = std::clock();
  for (unsigned i = 1; i < kReads; ++i) {
    monitor.sent_out_of_turn(*packets[writes + i], {});
  }
  const std::clock_t end = std::clock();
  EXPECT_THAT(reported.rules(), IsEmpty());
  return end - begin;
}

// Compared one by one, so many writes took a thousand times as long.
TEST(OrderingMonitorGrowth, LNK_9_4_ManyPostedRequestsAreNotSearched) {
  const std::clock_t few = time_ahead_of_writes(16);
  EXPECT_LT(time_ahead_of_writes(65'536), 30 * (few + CLOCKS_PER_SEC / 1000));
}

}  // namespace
}  // namespace flitwise::ordering_monitor_test
