// SPDX-License-Identifier: Apache-2.0
#include "endpoint/descriptor_ring.h"

#include <gtest/gtest.h>

#include <boost/endian/conversion.hpp>

#include <vector>

#include "common/byte_vector.h"

namespace flitwise::descriptor_ring_test {
namespace {

namespace r = ring_register;
constexpr std::uint64_t kMemory = 1U << 20;

std::vector<std::uint8_t> bytes_of(const std::vector<RingDescriptor>& all) {
  std::vector<std::uint8_t> bytes(all.size() * RingDescriptor::kBytes);
  std::uint8_t* to = bytes.data();
  for (const RingDescriptor& one : all) {
    boost::endian::store_little_u64(to, one.host);
    boost::endian::store_little_u64(to + 8, one.device);
    boost::endian::store_little_u32(to + 16, one.bytes);
    boost::endian::store_little_u32(to + 20, one.flags);
    to += RingDescriptor::kBytes;
  }
  return bytes;
}

RingDescriptor to_device(std::uint64_t device, std::uint32_t bytes) {
  return {0x5000, device, bytes, RingDescriptor::kToDevice | RingDescriptor::kInterrupt};
}

struct Ring : DescriptorRing {
  explicit Ring(std::uint32_t prefetch, std::uint32_t entries = 8)
      : DescriptorRing(kMemory, prefetch) {
    write(r::kBase, 0x10000, {});
    write(r::kBaseHigh, 0x2, {});
    write(r::kEntries, entries, {});
    write(r::kControl, r::kEnable, {});
  }
  void ring(std::uint32_t tail, Time when = {}) { write(r::kTail, tail, when); }
  /// Fetches what there is, as these.
  void fetch(const std::vector<RingDescriptor>& all, Time when = {}) {
    ASSERT_TRUE(next_fetch());
    ASSERT_EQ(next_fetch()->count, all.size());
    begin_fetch();
    fetched(bytes_of(all).data(), when);
  }
  std::uint32_t begin_next_copy() {
    const std::uint32_t slot = next_copy().value();
    begin_copy();
    return slot;
  }
};

TEST(DescriptorRing, FetchesUpToItsPrefetchAndTheEndOfTheRingOneReadAtATime) {
  Ring ring(3);
  EXPECT_FALSE(ring.next_fetch()) << "nothing is handed over";
  ring.ring(8);
  EXPECT_EQ(ring.next_fetch()->address, 0x2'0001'0000U);
  const std::vector<RingDescriptor> three(3, to_device(0, 64));
  ring.begin_fetch();
  EXPECT_FALSE(ring.next_fetch()) << "one is under way";
  ring.fetched(bytes_of(three).data(), {});
  EXPECT_EQ(ring.next_fetch()->address, 0x2'0001'00c0U);
  ring.fetch(three);
  EXPECT_EQ(ring.next_fetch()->count, 2U) << "then the ring begins anew";
}

TEST(DescriptorRing, WritesBackInOrderHoweverCopiesEnd) {
  Ring ring(8);
  ring.ring(1, Time::from_ns(100));
  ring.ring(2, Time::from_ns(150));
  ring.fetch({to_device(0, 64), to_device(64, 128)}, Time::from_ns(400));
  const std::uint32_t first = ring.begin_next_copy(), second = ring.begin_next_copy();
  EXPECT_FALSE(ring.next_copy());
  ring.copied(second, CopyStatus::kDone, Time::from_ns(700));
  EXPECT_FALSE(ring.next_write_back());
  ring.copied(first, CopyStatus::kTimeout, Time::from_ns(900));
  ASSERT_TRUE(ring.next_write_back());
  EXPECT_EQ(ring.next_write_back()->address, 0x2'0001'0030U);
  EXPECT_EQ(ring.next_write_back()->status, CopyStatus::kTimeout);
  EXPECT_EQ(little_endian(ring.next_write_back()->bytes, 4),
            static_cast<std::uint32_t>(CopyStatus::kTimeout));
  EXPECT_EQ(little_endian(ring.next_write_back()->bytes + 4, 4), 0U);
  ring.begin_write_back();
  const std::uint8_t* const back = ring.next_write_back()->bytes;
  EXPECT_TRUE(ring.next_write_back()->interrupts);
  EXPECT_EQ(little_endian(back, 4), 1U);
  EXPECT_EQ(little_endian(back + 4, 4), 128U);
  EXPECT_EQ(little_endian(back + 8, 4), 250U) << "from its own doorbell";
  EXPECT_EQ(little_endian(back + 12, 4), 300U);
  ring.begin_write_back();
  EXPECT_EQ(ring.read(r::kHead), 0U);
  ring.written_back();
  ring.written_back();
  EXPECT_EQ(ring.read(r::kHead), 2U);
  EXPECT_TRUE(ring.is_idle());
}

TEST(DescriptorRing, DescriptorsThatAreNotValidAreWrittenBackWithoutACopy) {
  Ring ring(8);
  const std::uint32_t both = RingDescriptor::kToDevice | RingDescriptor::kFromDevice;
  const std::vector<RingDescriptor> bad = {{0, 0, 64, 0},
                                           {0, 0, 64, both},
                                           {0, 0, 0, RingDescriptor::kToDevice},
                                           {0, kMemory - 63, 64, RingDescriptor::kToDevice},
                                           {0, ~0ULL, 64, RingDescriptor::kToDevice},
                                           {~0ULL, 0, 64, RingDescriptor::kFromDevice},
                                           {0, 0, (1U << 20) + 1, RingDescriptor::kToDevice}};
  ring.ring(8);
  std::vector<RingDescriptor> all = bad;
  all.push_back(to_device(kMemory - 64, 64));
  ring.fetch(all);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    ASSERT_TRUE(ring.next_write_back()) << i;
    EXPECT_EQ(ring.next_write_back()->status, CopyStatus::kBadDescriptor) << i;
    ring.begin_write_back();
    ring.written_back();
  }
  EXPECT_FALSE(ring.next_write_back());
  EXPECT_EQ(ring.begin_next_copy(), 7U);
}

TEST(DescriptorRing, HoldsNoMoreDescriptorsThanItHasSlots) {
  Ring ring(64, 128);
  ring.ring(128);
  const std::vector<RingDescriptor> all(64, to_device(0, 64));
  ring.fetch(all);
  EXPECT_FALSE(ring.next_fetch());
  ring.copied(ring.begin_next_copy(), CopyStatus::kDone, {});
  ring.begin_write_back();
  EXPECT_FALSE(ring.next_fetch()) << "what is written back has not left";
  ring.written_back();
  EXPECT_EQ(ring.next_fetch()->count, 1U);
}

TEST(DescriptorRing, RefusesTailsThatGoBackOrBeyondTheRing) {
  Ring ring(8);
  ring.ring(4);
  for (const std::uint32_t tail : {3U, 9U, ~0U}) {
    ring.ring(tail);
    EXPECT_EQ(ring.read(r::kTail), 4U) << tail;
    EXPECT_EQ(ring.read(r::kStatus), r::kRunning | r::kRefused) << tail;
  }
  ring.write(r::kControl, 0, {});
  EXPECT_EQ(ring.read(r::kStatus), 0U);
}

TEST(DescriptorRing, StartsWithAPowerOfTwoOnly) {
  for (const std::uint32_t entries : {0U, 1U, 3U, 8192U, ~0U}) {
    Ring ring(8, entries);
    EXPECT_FALSE(ring.is_running()) << entries;
    EXPECT_EQ(ring.read(r::kStatus), r::kRefused) << entries;
    ring.ring(1);
    EXPECT_FALSE(ring.next_fetch()) << entries;
  }
}

TEST(DescriptorRing, HaltsWhereAFetchFailsUntilSoftwareResetsIt) {
  Ring ring(8);
  ring.ring(1);
  const std::uint32_t life = ring.life();
  ring.begin_fetch();
  ring.fetch_failed();
  EXPECT_EQ(ring.read(r::kStatus), r::kHalted);
  EXPECT_NE(ring.life(), life);
  ring.write(r::kControl, r::kEnable, {});
  ring.write(r::kEntries, 16, {});
  EXPECT_EQ(ring.read(r::kEntries), 8U) << "it is not reset";
  EXPECT_FALSE(ring.is_running());
  ring.write(r::kControl, 0, {});
  ring.write(r::kControl, r::kEnable, {});
  EXPECT_EQ(ring.read(r::kStatus), r::kRunning);
  EXPECT_EQ(ring.read(r::kBase), 0x10000U) << "where it is stays";
  ring.reset();
  EXPECT_EQ(ring.read(r::kBase), 0U);
  EXPECT_EQ(ring.read(r::kMemory), kMemory);
}

}  // namespace
}  // namespace flitwise::descriptor_ring_test
