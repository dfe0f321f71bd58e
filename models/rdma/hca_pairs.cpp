// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_pairs.h"

namespace flitwise {

HcaPairs::HcaPairs(const HcaConfig& config) : config_(config), weights_(config.rdma.shares.kicks) {
  for (std::uint32_t place = 0; place < config.function_count(); ++place) {
    functions_.push_back(new HcaFunction(config, place));
  }
  for (std::uint32_t pair = 0; pair < config.pairs; ++pair) {
    HcaFunction& own = function_of(pair);
    add_regions(pair);
    pairs_.push_back(new HcaPair(config_, pair, own.keys, own.sends, own.receives));
  }
}

void HcaPairs::add_regions(std::uint32_t pair) {
  const RdmaArea area = config_.area(pair);
  MemoryKeys& keys = function_of(pair).keys;
  keys.add({pair, area.base(), area.bytes(), kLocalWrite});
  keys.add({pair, area.exposed(0), area.exposed_bytes(), kLocalWrite | kRemoteRead | kRemoteWrite});
  keys.add({pair, area.word(), RdmaArea::kWordBytes, kLocalWrite | kRemoteAtomic});
}

void HcaPairs::reset(std::uint32_t place) {
  HcaFunction& own = functions_[place];
  own.keys = MemoryKeys(config_.pairs_of(place) * kPairRegions);
  own.sends = own.receives = CompletionQueue(config_.rdma.cq);
  own.is_down = true;
  for_each(place, [](std::uint32_t /*number*/, HcaPair& pair) {
    pair.rules.modify(QpState::kReset);
    pair.send.posted = pair.send.read = pair.receive.posted = pair.receive.read = 0;
    pair.send.is_lost = pair.receive.is_lost = false;
    pair.last_payload = 0;
  });
}

void HcaPairs::set_up(std::uint32_t place, std::uint32_t epoch) {
  functions_[place].is_down = false;
  for_each(place, [this](std::uint32_t number, HcaPair& /*pair*/) { add_regions(number); });
  connect(place, epoch);
}

void HcaPairs::connect(std::uint32_t place, std::uint32_t epoch) {
  for_each(place, [&](std::uint32_t number, HcaPair& pair) {
    const QueuePairSetup setup = config_.setup(number, epoch);
    pair.rules.set_first_psns(setup.first_psn, setup.peer_first_psn);
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      pair.rules.modify(state);
    }
  });
}

bool HcaPairs::are_pinned(std::uint32_t place) {
  bool are_pinned = false;
  for_each(place, [&](std::uint32_t /*number*/, const HcaPair& pair) {
    are_pinned = are_pinned || pair.pins > 0;
  });
  return are_pinned;
}

}  // namespace flitwise
