// SPDX-License-Identifier: Apache-2.0
#include "workload/flow_patterns.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace flitwise {
namespace {

/// So many flows, each made of its number.
template <class Make>
class NumberedFlows final : public FlowSource {
 public:
  NumberedFlows(std::uint64_t count, Make make) : count_(count), make_(std::move(make)) {}
  bool next(Flow& flow) override {
    if (made_ == count_) {
      return false;
    }
    flow = Flow{};
    flow.id = static_cast<std::uint32_t>(made_);
    make_(flow);
    ++made_;
    return true;
  }
  std::uint64_t left() const override { return count_ - made_; }

 private:
  std::uint64_t count_, made_ = 0;
  Make make_;
};

template <class Make>
std::unique_ptr<FlowSource> numbered_flows(std::uint64_t count, Make make) {
  return std::make_unique<NumberedFlows<Make>>(count, std::move(make));
}

}  // namespace

std::vector<std::uint32_t> derangement(std::uint32_t hosts, Random& random) {
  std::vector<std::uint32_t> to(hosts);
  const auto has_fixed_point = [&] {
    for (std::uint32_t i = 0; i < hosts; ++i) {
      if (to[i] == i) {
        return true;
      }
    }
    return false;
  };
  do {
    std::iota(to.begin(), to.end(), 0);
    for (std::uint32_t i = hosts; i > 1; --i) {
      std::swap(to[i - 1], to[random.below(i)]);
    }
  } while (has_fixed_point());
  return to;
}

std::unique_ptr<FlowSource> permutation_flows(std::uint32_t hosts, std::uint64_t bytes,
                                              Random random) {
  return numbered_flows(hosts, [to = derangement(hosts, random), bytes](Flow& flow) {
    flow.source = flow.id;
    flow.destination = to[flow.id];
    flow.bytes = bytes;
  });
}

std::unique_ptr<FlowSource> incast_flows(std::uint32_t hosts, std::uint32_t to,
                                         std::uint32_t senders, std::uint64_t bytes) {
  return numbered_flows(senders, [=](Flow& flow) {
    flow.source = (to + 1 + flow.id) % hosts;
    flow.destination = to;
    flow.bytes = bytes;
  });
}

// Flows of a round go to hosts at one distance.
std::unique_ptr<FlowSource> all_to_all_flows(std::uint32_t hosts, std::uint64_t bytes,
                                             std::uint32_t at_once) {
  const std::uint64_t count = std::uint64_t{hosts} * (hosts - 1);
  return numbered_flows(count, [=](Flow& flow) {
    const std::uint32_t round = flow.id / hosts;
    flow.source = flow.id % hosts;
    flow.destination = (flow.source + round + 1) % hosts;
    flow.bytes = bytes;
    if (at_once != 0 && round >= at_once) {
      flow.after = flow.id - at_once * hosts;
    }
  });
}

// In step s host h sends on the part that it was sent in the step before, which is part h - s.
std::unique_ptr<FlowSource> ring_all_reduce_flows(std::uint32_t hosts, std::uint64_t bytes,
                                                  std::uint32_t rounds) {
  const std::uint32_t steps = 2 * (hosts - 1);
  return numbered_flows(std::uint64_t{steps} * hosts * rounds, [=](Flow& flow) {
    const std::uint32_t step = flow.id / hosts;
    flow.source = flow.id % hosts;
    flow.destination = (flow.source + 1) % hosts;
    const std::uint32_t part = (flow.source + hosts - step % steps % hosts) % hosts;
    flow.bytes = std::max<std::uint64_t>(bytes / hosts + (part < bytes % hosts ? 1 : 0), 1);
    if (step > 0) {
      flow.after = (step - 1) * hosts + (flow.source + hosts - 1) % hosts;
    }
  });
}

std::unique_ptr<FlowSource> poisson_flows(const PoissonFlows& setup, SizeDistribution sizes,
                                          const Random& random) {
  const double flows_a_fs = setup.load * setup.gbps * setup.hosts / (8e6 * sizes.mean());
  return numbered_flows(
      setup.flows, [hosts = setup.hosts, gap = 1 / flows_a_fs, sizes = std::move(sizes), at = 0.0,
                    arrival = random.split("arrival"), size = random.split("size"),
                    pair = random.split("pair")](Flow& flow) mutable {
        at += arrival.exponential(gap);
        flow.start = Time{static_cast<std::int64_t>(at)};
        flow.source = static_cast<std::uint32_t>(pair.below(hosts));
        flow.destination =
            (flow.source + 1 + static_cast<std::uint32_t>(pair.below(hosts - 1))) % hosts;
        flow.bytes = sizes.draw(size);
      });
}

}  // namespace flitwise
