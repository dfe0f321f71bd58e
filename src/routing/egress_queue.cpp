// SPDX-License-Identifier: Apache-2.0
// Order on the way out of a switch.
#include "routing/egress_queue.h"

#include <algorithm>

#include "common/ranges.h"
#include "link/ordering.h"

namespace flitwise {
namespace {
constexpr std::size_t kFirstCapacity = 16;  // grows: the receive buffers are the bound
}  // namespace

EgressQueue::EgressQueue(const IdentityForm& form) : form_(form) {
  for (Queue& one : queues_) {
    one.set_capacity(kFirstCapacity);
  }
}

void EgressQueue::push(Entry entry) {
  Queue& entries = queues_[static_cast<std::size_t>(fc_class(entry.packet->tlp.type))];
  entry.order = next_order_++;
  make_room(entries);
  entries.push_back(std::move(entry));
}

std::optional<FcClass> EgressQueue::choose(Time now,
                                           const std::array<bool, kFcClasses>& takes) const {
  std::optional<FcClass> best;
  for (const FcClass fc : kEachFcClass) {
    const Queue& entries = queue(fc);
    if (entries.empty() || !takes[static_cast<std::size_t>(fc)] || entries.front().ready > now) {
      continue;
    }
    if (best && queue(*best).front().order < entries.front().order) {
      continue;
    }
    if (fc == FcClass::kPosted || may_overtake_posted(entries.front())) {
      best = fc;
    }
  }
  return best;
}

// A read or a completion stays behind every older posted request that it may not pass. [LNK-9.4]
// [LNK-9.5] [LNK-9.6]
bool EgressQueue::may_overtake_posted(const Entry& entry) const {
  for (const Entry& posted : queue(FcClass::kPosted)) {
    if (posted.order > entry.order) {
      return true;
    }
    if (passing(entry.packet->tlp, posted.packet->tlp, form_,
                entry.packet->answers_io_or_cfg_write) == Passing::kNo) {
      return false;
    }
  }
  return true;
}

EgressQueue::Entry EgressQueue::take(FcClass fc) {
  Queue& entries = queues_[static_cast<std::size_t>(fc)];
  Entry entry = std::move(entries.front());
  entries.pop_front();
  return entry;
}

Time EgressQueue::next_ready(Time now) const {
  Time next = Time::never();
  for (const Queue& entries : queues_) {
    const auto waiting = std::partition_point(
        entries.begin(), entries.end(), [&](const Entry& entry) { return entry.ready <= now; });
    if (waiting != entries.end()) {
      next = std::min(next, waiting->ready);
    }
  }
  return next;
}

}  // namespace flitwise
