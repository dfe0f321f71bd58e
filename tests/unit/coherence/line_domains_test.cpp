// SPDX-License-Identifier: Apache-2.0
// A line in a device's cache serves the domain that asked for it. [COH-2.9]
#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::line_domains_test {
namespace {

struct DomainsBench : CacheBench {
  explicit DomainsBench(bool keeps_apart = true) : CacheBench({4, 2, 8, 0, true, keeps_apart}) {}

  static CoreRequest request_of(std::uint32_t domain, CoreOp op) {
    CoreRequest request{op, 1, 0x40, kAllBytes, {}};
    request.domain = domain;
    return request;
  }
  CoreObstacle obstacle(std::uint32_t domain, CoreOp op = CoreOp::kRead) const {
    return cache.obstacle(request_of(domain, op));
  }
  std::uint16_t ask_for(std::uint32_t domain, CoreOp op) {
    cache.request(request_of(domain, op), out, done);
    return out.empty() ? 0xffff : out.back().message.id;
  }
  void hold_for(std::uint32_t domain) {
    const std::uint16_t cqid = ask_for(domain, CoreOp::kReadAny);
    go(cqid, cxl::GoState::kExclusive);
    data(cqid, 5);
    out.clear();
    done.clear();
  }
};

TEST(LineDomains, COH_2_9_TheLineOfAnotherDomainLeavesAndIsAskedForAnew) {
  DomainsBench bench;
  bench.hold_for(1);
  EXPECT_EQ(bench.obstacle(1), CoreObstacle::kNone);
  EXPECT_FALSE(bench.cache.asks_home(DomainsBench::request_of(1, CoreOp::kRead)));
  EXPECT_EQ(bench.obstacle(2), CoreObstacle::kDomain);
  bench.cache.give_up(0x40, bench.out);
  CxlOut eviction;
  EXPECT_TRUE(bench.sent(cxl::D2hReq::kCleanEvict, &eviction));
  EXPECT_EQ(bench.obstacle(2), CoreObstacle::kLine);
  bench.respond(cxl::H2dRsp::kGoWritePullDrop, eviction.message.id);
  EXPECT_EQ(bench.obstacle(2), CoreObstacle::kNone);
  EXPECT_TRUE(bench.cache.asks_home(DomainsBench::request_of(2, CoreOp::kRead)));
  EXPECT_TRUE(bench.done.empty()) << "no core has asked for the eviction";
}

TEST(LineDomains, COH_2_9_WritesOfAnotherDomainMakeItLeaveToo) {
  for (const CoreOp op : {CoreOp::kWrite, CoreOp::kWriteThrough, CoreOp::kWritePosted}) {
    DomainsBench bench;
    bench.hold_for(1);
    bench.ask_for(1, CoreOp::kWrite);
    EXPECT_EQ(bench.obstacle(2, op), CoreObstacle::kDomain);
    bench.cache.give_up(0x40, bench.out);
    EXPECT_TRUE(bench.sent(cxl::D2hReq::kDirtyEvict));
  }
}

TEST(LineDomains, COH_2_9_TheLineLeavesUnderACqid) {
  DomainsBench bench;
  bench.hold_for(1);
  const CoreRequest other = DomainsBench::request_of(2, CoreOp::kRead);
  EXPECT_EQ(bench.cache.obstacle(other, 7), CoreObstacle::kDomain);
  EXPECT_EQ(bench.cache.obstacle(other, 8), CoreObstacle::kId);
}

TEST(LineDomains, COH_2_9_WithoutIdentitiesAllDomainsShareALine) {
  DomainsBench bench(false);
  bench.hold_for(1);
  EXPECT_EQ(bench.obstacle(2), CoreObstacle::kNone);
  bench.ask_for(2, CoreOp::kRead);
  EXPECT_EQ(bench.result(), 5U);
}

}  // namespace
}  // namespace flitwise::test::line_domains_test
