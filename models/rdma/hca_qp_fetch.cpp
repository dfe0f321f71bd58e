// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_qp_fetch.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {

// What has its state goes first, so that there is room for what asks.
bool HcaQpFetch::run(Time now) {
  bool has_moved = false;
  while (dispatch(now)) {
    has_moved = true;
  }
  while (ask(now)) {
    has_moved = true;
  }
  return has_moved;
}

bool HcaQpFetch::dispatch(Time now) {
  if (fetched_.empty() || (fetched_.front().frame && !s_.receives.has_room())) {
    return false;
  }
  HcaArrived one = std::move(fetched_.front());
  fetched_.pop_front();
  queue_.let_go(now);
  if (one.frame) {
    s_.receives.receive(std::move(one), now);
  } else {
    s_.rings.kicked(one.pair, now);
  }
  return true;
}

bool HcaQpFetch::ask(Time now) {
  if (!queue_.is_due(now) || fetched_.size() + unfetched_.size() >= queue_.depth()) {
    return false;
  }
  if (s_.pairs.is_down(queue_.front().pair)) {
    if (const HcaArrived dropped = queue_.take(now); dropped.frame) {
      s_.frames.drop(kRxFunctionDown, *dropped.frame);
    }
    return true;
  }
  const QpLookup::Outcome outcome = s_.states.look_up(queue_.front().pair, now);
  const bool is_stalled = outcome == QpLookup::Outcome::kStall;
  s_.totals.qpsc_stalls += is_stalled && !pinned_wait_.is_open() ? 1 : 0;
  pinned_wait_.set(is_stalled, pinned_waits_, now);
  if (is_stalled) {
    return false;
  }
  const bool is_hit = outcome == QpLookup::Outcome::kHit;
  ++(is_hit ? s_.totals.qpsc_hits : s_.totals.qpsc_misses);
  auto& asked = is_hit ? fetched_ : unfetched_;
  make_room(asked);
  asked.push_back(queue_.take(now));
  queue_.hold(now);
  return true;
}

void HcaQpFetch::settle(Time now) {
  HcaStage::settle(now);
  if (!fetched_.empty()) {
    HcaStage::ask(now, next());
  }
}

void HcaQpFetch::state_came(std::uint32_t pair) {
  for (auto one = unfetched_.begin(); one != unfetched_.end();) {
    if (one->pair == pair) {
      make_room(fetched_);
      fetched_.push_back(std::move(*one));
      one = unfetched_.erase(one);
    } else {
      ++one;
    }
  }
  HcaStage::ask(Time{}, next());
}

void HcaQpFetch::state_failed(std::uint32_t pair, Time now) {
  for (auto one = unfetched_.begin(); one != unfetched_.end();) {
    if (one->pair != pair) {
      ++one;
      continue;
    }
    if (one->frame) {
      s_.frames.drop(name_of(QpCounter::kBadState), *one->frame);
    }
    queue_.let_go(now);
    s_.states.release(pair);
    one = unfetched_.erase(one);
  }
  HcaStage::ask(Time{}, next());
}

std::string HcaQpFetch::waiting() const {
  std::string text = HcaStage::waiting();
  if (!unfetched_.empty()) {
    text += (text.empty() ? "" : ", ") +
            fmt::format("{} wait for the state of their queue pair", unfetched_.size());
  }
  return text;
}

void HcaQpFetch::start_window(Time now) {
  HcaStage::start_window(now);
  pinned_waits_.start_window(now);
}

void HcaQpFetch::add_more_waits(const std::string& place, Time /*now*/,
                                std::vector<WaitResult>& all) const {
  const std::vector<unsigned>& shares = s_.config.rdma.shares.states;
  Resource states = {place,
                     "qp_states",
                     ResourceRole::kSlots,
                     "down",
                     "write",
                     "device.rdma.qpsc_entries",
                     s_.config.rdma.qpsc_entries};
  if (shares.size() == s_.config.function_count()) {  // nobody has the rest
    states.key = "device.rdma.shares.states";
    states.capacity = *std::min_element(shares.begin(), shares.end());
  }
  all.push_back(pinned_waits_.result(states));
}

}  // namespace flitwise
