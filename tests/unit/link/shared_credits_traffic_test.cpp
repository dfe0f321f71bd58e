// SPDX-License-Identifier: Apache-2.0
// Two ends with few credits, dedicated and shared: all classes both ways, to the end.
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "common/random.h"
#include "unit/link/framer_pair.h"

namespace flitwise::shared_credits_traffic_test {
namespace {

/// A link in flit mode with few credits of every class, and shared ones beside them.
LinkConfig few_credits(bool is_merged) {
  LinkConfig link = test::link_config(6, 16);
  link.skp = SkpMode::kOff;
  link.credits.posted_headers = link.credits.completion_headers = 1;
  link.credits.posted_data = link.credits.completion_data = 16;
  link.credits.nonposted_headers = link.credits.nonposted_data = 1;
  link.shared_credits.posted_headers = 4;
  link.shared_credits.posted_data = 32;
  link.shared_credits.nonposted_headers = 2;
  link.shared_credits.completion_headers = is_merged ? 0 : 4;
  link.shared_credits.completion_data = is_merged ? 0 : 32;
  link.shared_credits.merged = is_merged;
  return link;
}

/// TLPs of all classes both ways over two framers; one in `damaged` flits does not arrive whole.
class SharedCreditsPair {
 public:
  SharedCreditsPair(const LinkConfig& link, double damaged) : pair_(link), random_(3) {
    pair_.fate = [this, damaged](int, const WireUnit&) {
      return damaged > 0 && random_.chance(damaged) ? test::Fate::kDamaged : test::Fate::kGood;
    };
    pair_.delivered = [this](int side, const PacketRef& packet) {
      arrived_[{side, fc_class(packet->tlp.type)}].push_back(packet->tlp.address);
      pair_.framer(side).freed(*packet, pair_.now());
    };
    pair_.sent = [this](int, const WireUnit& unit, Placement) {
      EXPECT_EQ(unit.size.total(), 2048U);
      optimized_ += unit.dllp && unit.dllp->dllp.type == DllpType::kOptimizedUpdateFc ? 1U : 0U;
      if (!unit.is_replay) {
        header_bits_ += unit.size.header;
        for (const PacketRef& one : unit.packet->flit->starts) {
          prefixes_ += one->uses_dedicated_credits ? 1U : 0U;
        }
      }
    };
  }
  void run(std::uint64_t count) {
    std::uint64_t plain_bits = 0;
    for (int side = 0; side < 2; ++side) {
      for (std::uint64_t i = 0; i < count; ++i) {
        for (const TlpType type : {TlpType::kMWr, TlpType::kMRd, TlpType::kCplD}) {
          const PacketRef made = test::packet(pair_.pool(), type, 16, i);
          plain_bits += flit_mode_size_of(made->tlp, made->payload_bytes).header;
          pair_.queues(side).push(made);
        }
      }
    }
    ASSERT_TRUE(pair_.run_until_quiet());
    for (int side = 0; side < 2; ++side) {
      for (int c = 0; c < kFcClasses; ++c) {
        const std::vector<std::uint64_t>& marks = arrived_[{side, static_cast<FcClass>(c)}];
        ASSERT_EQ(marks.size(), count);
        for (std::uint64_t i = 0; i < count; ++i) {
          ASSERT_EQ(marks[i], i);
        }
      }
      EXPECT_TRUE(pair_.framer(side).is_conserved());
      EXPECT_EQ(pair_.framer(side).stats().credit_overruns, 0U);
    }
    EXPECT_GT(prefixes_, 0U);
    EXPECT_EQ(header_bits_, plain_bits + 32 * prefixes_);
  }
  std::uint64_t optimized() const { return optimized_; }

 private:
  test::FlitFramerPair pair_;
  Random random_;
  std::map<std::pair<int, FcClass>, std::vector<std::uint64_t>> arrived_;
  std::uint64_t header_bits_ = 0, prefixes_ = 0, optimized_ = 0;
};

// [LNK-11.26] Each class has one dedicated header: nothing stands still, whatever waits.
TEST(SharedCredits, LNK_11_23_AllClassesGetThroughWithFewCreditsBothWays) {
  for (const bool is_merged : {false, true}) {
    SharedCreditsPair pair(few_credits(is_merged), 0);
    pair.run(100);
    EXPECT_GT(pair.optimized(), 0U);
  }
}

TEST(SharedCredits, LNK_11_27_LostUpdatesCostTimeAndNothingElse) {
  for (const bool is_merged : {false, true}) {
    SharedCreditsPair(few_credits(is_merged), 0.05).run(100);
  }
}

}  // namespace
}  // namespace flitwise::shared_credits_traffic_test
