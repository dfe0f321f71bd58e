// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_qp_states.h"

#include <boost/endian/conversion.hpp>

#include "rdma/hca_dma.h"

namespace flitwise {
namespace {

// model: what of a queue pair goes to host memory.
std::vector<std::uint8_t> state_bytes(const QueuePair& pair) {
  const std::uint32_t words[] = {
      pair.setup().number,         static_cast<std::uint32_t>(pair.state()),
      pair.requester().oldest(),   pair.requester().sent_end(),
      pair.responder().expected(), pair.responder().messages()};
  std::vector<std::uint8_t> bytes(kQpStateBytes);
  for (std::size_t i = 0; i < std::size(words); ++i) {
    boost::endian::store_little_u32(&bytes[4 * i], words[i]);
  }
  return bytes;
}

}  // namespace

// Functions without a share of their own have the rest together. [HP-8]
std::vector<QpStateCache> HcaQpStates::caches_of(const HcaConfig& config) {
  std::vector<QpStateCache> caches;
  unsigned left = config.rdma.qpsc_entries;
  for (const unsigned share : config.rdma.shares.states) {
    caches.emplace_back(share, 0U);
    left -= share;
  }
  if (caches.size() < config.function_count()) {
    caches.emplace_back(left, 0U);
  }
  return caches;
}

void HcaQpStates::start(std::uint32_t place) {
  for (std::uint32_t pair = place; pair < s_.pairs.size(); pair += s_.config.function_count()) {
    begin(pair);
  }
}

void HcaQpStates::begin(std::uint32_t pair) {
  s_.pairs[pair].state_in_memory = state_bytes(s_.pairs[pair].rules);
}

QpLookup::Outcome HcaQpStates::look_up(std::uint32_t pair, Time now) {
  const QpLookup found = cache_of(pair).look_up(s_.pairs.tag_of(pair));
  if (found.outcome == QpLookup::Outcome::kStall) {
    return found.outcome;
  }
  s_.pairs[pair].entry = found.entry;
  ++s_.pairs[pair].pins;
  if (found.writes_back) {
    write_back(s_.pairs.pair_of(*found.writes_back), now);
  }
  if (found.outcome == QpLookup::Outcome::kFetch) {
    HcaJob& read = s_.dma.make(*this, HcaJobKind::kState, true);
    read.queue_pair = pair;
    read.address = s_.config.area(pair).state();
    read.bytes = kQpStateBytes;
    s_.dma.start(read, now);
  }
  return found.outcome;
}

void HcaQpStates::write_back(std::uint32_t pair, Time now) {
  HcaJob& write = s_.dma.make(*this, HcaJobKind::kStateBack, false);
  write.queue_pair = pair;
  write.address = s_.config.area(pair).state();
  write.bytes = kQpStateBytes;
  write.own = s_.pairs[pair].state_in_memory = state_bytes(s_.pairs[pair].rules);
  s_.dma.start(write, now);
}

// What is read has to be what was written back. One that cannot be read is none: it ends its queue
// pair, as a ring does.
void HcaQpStates::done(HcaJob& job, Time now) {
  if (job.kind != HcaJobKind::kState) {
    return;
  }
  HcaPair& pair = s_.pairs[job.queue_pair];
  const bool is_down = s_.pairs.is_down(job.queue_pair);
  if (job.is_ok && !is_down && job.own != pair.state_in_memory) {
    ++(s_.config.is_hostile(s_.config.place_of(job.queue_pair)) ? bad_ : wrong_);
  }
  cache_of(job.queue_pair).end_fetch(pair.entry, job.is_ok);
  if (job.is_ok || is_down) {
    s_.fetches.state_came(job.queue_pair);
    return;
  }
  s_.rings.lose(job.queue_pair, false);
  s_.rings.lose(job.queue_pair, true);
  s_.outcomes.after_rules(job.queue_pair, now);
  s_.fetches.state_failed(job.queue_pair, now);
}

}  // namespace flitwise
