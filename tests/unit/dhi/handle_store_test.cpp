// SPDX-License-Identifier: Apache-2.0
// Latency of a handle table in SRAM and in DRAM behind a cache. [DHI D3]
#include "dhi/handle_store.h"

#include <gtest/gtest.h>

#include "flitwise/error.h"

namespace flitwise::handle_store_test {
namespace {

HandleStorageConfig storage(HandleStorage kind, unsigned cache_entries = 2) {
  HandleStorageConfig config;
  config.storage = kind;
  config.cache_entries = cache_entries;
  config.timing.by_handle = Time::from_ns(2);
  config.timing.by_domain = Time::from_ns(5);
  config.timing.dram = Time::from_ns(80);
  return config;
}

TEST(HandleStore, D3_SramAnswersAtOnceAndTheTwoAccessesHaveTheirOwnTimes) {
  HandleStore store(storage(HandleStorage::kSram), HandleRange::of_bits(2));
  EXPECT_EQ(store.access_by_handle(Dhi{3}), Time::from_ns(2));
  EXPECT_EQ(store.search_by_domain(Dhi{3}), Time::from_ns(5));
  EXPECT_EQ(store.search_by_domain(std::nullopt), Time::from_ns(5));
}

TEST(HandleStore, D3_DramKeepsTheMostRecentEntriesInItsCache) {
  HandleStore store(storage(HandleStorage::kDram), {Dhi{8}, Dhi{15}});
  EXPECT_EQ(store.access_by_handle(Dhi{8}), Time::from_ns(82));
  EXPECT_EQ(store.access_by_handle(Dhi{15}), Time::from_ns(82));
  EXPECT_EQ(store.access_by_handle(Dhi{8}), Time::from_ns(2));
  EXPECT_EQ(store.search_by_domain(Dhi{9}), Time::from_ns(85));
  EXPECT_EQ(store.access_by_handle(Dhi{8}), Time::from_ns(2)) << "15 was older and went";
  EXPECT_EQ(store.access_by_handle(Dhi{15}), Time::from_ns(82));
  EXPECT_EQ(store.search_by_domain(std::nullopt), Time::from_ns(85)) << "only the DRAM can say no";
}

TEST(HandleStore, D3_CacheOfNothingAlwaysMisses) {
  HandleStore store(storage(HandleStorage::kDram, 0), HandleRange::of_bits(2));
  EXPECT_EQ(store.access_by_handle(Dhi{0}), Time::from_ns(82));
  EXPECT_EQ(store.access_by_handle(Dhi{0}), Time::from_ns(82));
}

TEST(HandleStore, D3_HandleOfAnotherTableIsABug) {
  HandleStore store(storage(HandleStorage::kSram), {Dhi{8}, Dhi{15}});
  EXPECT_THROW(store.access_by_handle(Dhi{7}), SimulationError);
  EXPECT_THROW(store.search_by_domain(Dhi{16}), SimulationError);
}

}  // namespace
}  // namespace flitwise::handle_store_test
