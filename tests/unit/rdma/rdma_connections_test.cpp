// SPDX-License-Identifier: Apache-2.0
// Who has queue pairs with whom, and in which order.
#include "rdma/rdma_connections.h"

#include <gtest/gtest.h>

namespace flitwise::rdma_connections_test {
namespace {

std::vector<std::pair<std::size_t, bool>> peers_of(const RdmaConnections& connections) {
  std::vector<std::pair<std::size_t, bool>> all;
  for (const RdmaConnection& one : connections) {
    all.emplace_back(one.peer, one.is_asked);
  }
  return all;
}
using Peers = std::vector<std::pair<std::size_t, bool>>;

TEST(RdmaConnections, TwoHaveOneWhoeverAsks) {
  const auto one_way = rdma_connections({{1}, {}});
  EXPECT_EQ(peers_of(one_way[0]), (Peers{{1, false}}));
  EXPECT_EQ(peers_of(one_way[1]), (Peers{{0, true}}));
  const auto both_ways = rdma_connections({{1}, {0}});
  EXPECT_EQ(peers_of(both_ways[0]), (Peers{{1, true}}));
  EXPECT_EQ(peers_of(both_ways[1]), (Peers{{0, true}}));
}

TEST(RdmaConnections, ThePeerThatOneAsksComesFirst) {
  const auto all = rdma_connections({{3}, {2}, {}, {2}, {3}});
  EXPECT_EQ(peers_of(all[3]), (Peers{{2, false}, {0, true}, {4, true}}));
  EXPECT_EQ(peers_of(all[2]), (Peers{{1, true}, {3, true}}));
  EXPECT_EQ(place_of(all[3], 4), 2U);
  EXPECT_EQ(place_of(all[2], 3), 1U);
}

TEST(RdmaConnections, InARingEachHasTwo) {
  const auto all = rdma_connections({{1}, {2}, {0}});
  EXPECT_EQ(peers_of(all[0]), (Peers{{1, false}, {2, true}}));
  EXPECT_EQ(peers_of(all[2]), (Peers{{0, false}, {1, true}}));
}

TEST(RdmaConnections, OneThatAsksSeveralHasOneWithEach) {
  const auto all = rdma_connections({{2, 1}, {0}, {}, {0, 2}});
  EXPECT_EQ(peers_of(all[0]), (Peers{{2, false}, {1, true}, {3, true}}));
  EXPECT_EQ(peers_of(all[1]), (Peers{{0, true}}));
  EXPECT_EQ(peers_of(all[2]), (Peers{{0, true}, {3, true}}));
  EXPECT_EQ(peers_of(all[3]), (Peers{{0, false}, {2, false}}));
}

TEST(RdmaConnections, WhoIsAskedByNobodyAndAsksNobodyHasNone) {
  EXPECT_TRUE(rdma_connections({{1}, {}, {}})[2].empty());
}

}  // namespace
}  // namespace flitwise::rdma_connections_test
