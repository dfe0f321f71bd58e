// SPDX-License-Identifier: Apache-2.0
// Pages that move under traffic: nothing is read or written by an old translation once its
// invalidation is complete. [INV-01] [INV-04] [INV-07] [INV-27]
#include <gtest/gtest.h>

#include "common/random.h"
#include "system/ats_bench.h"

namespace flitwise::ats_storm_test {
namespace {

using test::AtsBench;

constexpr unsigned kPages = 8, kMoves = 150;
constexpr std::uint64_t kPresent = 0x67;  // readable, writable, accessed, dirty
constexpr std::uint64_t kWritten =
    2048;  // writes go to the upper half of a page, reads to its start

/// Reads and writes all the time, while host software moves one page after the other.
class Storm {
 public:
  Storm(const std::vector<std::string>& sets, std::uint64_t seed) : bench(sets), random_(seed) {
    slack_ = bench.bench.machine.config.host.memory.timing.latency + Time::from_us(1);
    for (unsigned page = 0; page < kPages; ++page) {
      entries_.push_back(bench.map(page, page).first_stage.back());
      at_.push_back(page);
      bench.fill(page, id_of(page));
    }
    bench.translate();
  }
  void run() {
    for (unsigned move = 0; move < kMoves; ++move) {
      for (std::uint64_t i = random_.below(12); i > 0; --i) {
        traffic();
      }
      bench.run(Time::from_ns(static_cast<std::int64_t>(random_.below(1500))));
      ASSERT_TRUE(move_page(static_cast<unsigned>(random_.below(kPages)), kPages + move));
    }
    ASSERT_TRUE(bench.finish());
    for (const auto& [token, read] : reads_) {
      ASSERT_EQ(bench.status(token), TransferStatus::kDone);
      const std::uint8_t found = bench.data(token).at(0);
      EXPECT_EQ(bench.data(token), std::vector<std::uint8_t>(64, found));
      // One that had to wait may find where the page went later.
      const std::vector<std::uint8_t>& homes = homes_[read.page];
      EXPECT_NE(std::find(homes.begin() + read.oldest, homes.end(), found), homes.end())
          << "read " << token << " of page " << read.page << " found " << +found;
    }
    for (const auto& [physical, bytes] : abandoned_) {
      EXPECT_EQ(bench.peek(physical, AtsBench::kPage), bytes) << "page " << physical;
    }
  }

  AtsBench bench;

 private:
  static std::uint8_t id_of(unsigned physical) { return static_cast<std::uint8_t>(physical + 1); }

  void traffic() {
    const auto page = static_cast<unsigned>(random_.below(kPages));
    if (random_.chance(0.5)) {
      bench.read(page);
      return;
    }
    Transfer transfer;
    transfer.address = AtsBench::address(page) + kWritten;
    transfer.bytes = static_cast<std::uint32_t>(4 + 4 * random_.below(500));
    bench.engine.order(transfer, std::vector<std::uint8_t>(transfer.bytes, 0xee));
    bench.endpoint().wake();
  }
  /// Table, the agent's cache, the device's cache; then whoever reads finds the new page.
  bool move_page(unsigned page, unsigned to) {
    const unsigned from = at_[page];
    bench.fill(to, id_of(to));
    bench.poke(entries_[page], AtsBench::physical(to) | kPresent);
    bench.forget_in_agent();
    const std::size_t before = bench.taken.size();
    bench.send(bench.invalidation(page, static_cast<std::uint8_t>(to % kItags)));
    const bool is_answered = bench.bench.run_until([&] { return bench.taken.size() > before; });
    bench.run(slack_);  // of the writes before it, until they are in memory
    abandoned_[from] = bench.peek(from, AtsBench::kPage);
    at_[page] = to;
    homes_[page].push_back(id_of(to));
    reads_[bench.read(page)] = {page, static_cast<std::ptrdiff_t>(homes_[page].size()) - 1};
    return is_answered;
  }

  Random random_;
  Time slack_{};
  std::vector<std::uint64_t> entries_;
  std::vector<unsigned> at_;
  struct Read {
    unsigned page = 0;
    std::ptrdiff_t oldest = 0;  // place in homes_ of where the page was when it was ordered
  };
  std::map<std::uint32_t, Read> reads_;
  std::array<std::vector<std::uint8_t>, kPages> homes_;  // all that a page ever had
  std::map<unsigned, std::vector<std::uint8_t>> abandoned_;
};

class AtsStorm : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(AtsStorm, INV_01_NothingGoesByAnOldTranslation) {
  Storm storm(GetParam(), 7);
  storm.run();
  EXPECT_EQ(storm.bench.result().invalidations, kMoves);
  EXPECT_GT(storm.bench.result().hits, 100U);
  storm.bench.expect_all_checks_hold();
}
INSTANTIATE_TEST_SUITE_P(
    Devices, AtsStorm,
    ::testing::Values(std::vector<std::string>{}, std::vector<std::string>{"device.atc.entries=2"},
                      std::vector<std::string>{"device.atc.discard=all",
                                               "device.atc.coalesce=true"},
                      std::vector<std::string>{"iommu.timing.paging_cache=1us"},
                      std::vector<std::string>{"link.credits.posted_headers=2",
                                               "link.credits.nonposted_headers=1"},
                      std::vector<std::string>{"device.dma.relaxed_ordering=true"},
                      std::vector<std::string>{"device.atc.translations=4", "device.tag_bits=5"},
                      std::vector<std::string>{"host.memory.timing.latency=3us"}));

}  // namespace
}  // namespace flitwise::ats_storm_test
