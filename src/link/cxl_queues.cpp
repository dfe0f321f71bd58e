// SPDX-License-Identifier: Apache-2.0
// Queues of CXL messages.
#include "link/cxl_queues.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

constexpr std::size_t kMostSeen = 64;  // messages of a channel that a packer looks at

// Its data has byte enables behind it.
bool is_partial(const CxlMessage& message) {
  return message.has_data() && message.is_partial();
}

}  // namespace

CxlQueues::CxlQueues(CxlDirection direction, unsigned depth) : direction_(direction) {
  std::size_t used = 0;
  for (std::size_t c = 0; c < kCxlChannels; ++c) {
    if (info_of(static_cast<CxlChannel>(c)).direction == direction) {
      queues_[c].entries.set_capacity(depth);
      channels_[used++] = static_cast<CxlChannel>(c);
    }
  }
}

void CxlQueues::push(PacketRef packet, Time arrival) {
  Queue& queue = queues_[index_of(packet->cxl->channel)];
  queue.partial += is_partial(*packet->cxl) ? 1 : 0;
  const Time last = queue.entries.empty() ? Time{} : queue.entries.back().arrival;
  queue.entries.push_back({std::move(packet), std::max(arrival, last), pushed_++});
  ++size_;
}

Time CxlQueues::next_arrival(Time now) const {
  Time next = Time::never();
  if (size_ == 0) {
    return next;
  }
  for (const CxlChannel channel : channels_) {
    const Queue& queue = queues_[index_of(channel)];
    if (queue.entries.empty()) {
      continue;
    }
    const bool is_before_all = queue.entries.front().arrival > now;
    for (std::size_t i = is_before_all ? 0 : queue.arrived; i < queue.entries.size(); ++i) {
      if (queue.entries[i].arrival > now) {
        next = std::min(next, queue.entries[i].arrival);
        break;
      }
    }
  }
  return next;
}

// Whoever went last has the last look at the credits that channels share. [CXL-3.1]
CxlWaiting CxlQueues::waiting(Time now) {
  CxlWaiting waiting;
  if (size_ == 0) {
    return waiting;
  }
  CxlCreditCounts left = gate_.left();
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const std::size_t turn = turn_ + i;
    const CxlChannel channel = channels_[turn < channels_.size() ? turn : turn - channels_.size()];
    Queue& queue = queues_[index_of(channel)];
    if (queue.entries.empty()) {
      continue;
    }
    while (queue.arrived < queue.entries.size() && queue.entries[queue.arrived].arrival <= now) {
      ++queue.arrived;
    }
    if (queue.arrived == 0) {
      continue;
    }
    const auto room = static_cast<std::size_t>(CxlCreditGate::room(left, channel));
    std::size_t count = std::min({queue.arrived, room, kMostSeen});
    if (channel == CxlChannel::kH2dReq) {
      count = ahead_of_responses(queue, count);
    }
    CxlCreditGate::spend(left, channel, static_cast<std::uint32_t>(count));
    waiting.of(channel) = static_cast<std::uint16_t>(count);
    if (queue.partial > 0) {
      waiting.partial_lines = 0;
      for (std::size_t n = 0; n < count; ++n) {
        const bool is_one = is_partial(*queue.entries[n].packet->cxl);
        waiting.partial_lines |= std::uint64_t{is_one ? 1U : 0U} << n;
      }
    }
  }
  return waiting;
}

// A snoop never goes before a GO that was sent before it, nor in one flit with it. [COH-1.5]
std::size_t CxlQueues::ahead_of_responses(const Queue& snoops, std::size_t count) const {
  const Queue& responses = queues_[index_of(CxlChannel::kH2dRsp)];
  std::size_t ahead = count;
  while (!responses.entries.empty() && ahead > 0 &&
         snoops.entries[ahead - 1].number > responses.entries.front().number) {
    --ahead;
  }
  return ahead;
}

PacketRef CxlQueues::take(CxlChannel channel) {
  Queue& queue = queues_[index_of(channel)];
  // Broken on purpose: the two oldest, where both could go and neither takes byte enables along.
  if (breaks_order_ && channel != CxlChannel::kH2dReq && queue.arrived > 1 && queue.partial == 0) {
    std::swap(queue.entries[0].packet, queue.entries[1].packet);
    breaks_order_ = false;
  }
  PacketRef packet = std::move(queue.entries.front().packet);
  queue.entries.pop_front();
  --queue.arrived;
  queue.partial -= is_partial(*packet->cxl) ? 1 : 0;
  --size_;
  while (channels_[turn_] != channel) {
    turn_ = turn_ + 1 == channels_.size() ? 0 : turn_ + 1;
  }
  turn_ = turn_ + 1 == channels_.size() ? 0 : turn_ + 1;
  gate_.spend(channel);
  return packet;
}

void CxlQueues::reset() {
  for (Queue& queue : queues_) {
    queue.entries.clear();
    queue.arrived = queue.partial = 0;
  }
  size_ = 0;
  gate_.reset();
}

// One that has come since the last look waits since it came.
std::array<Time, kCxlCredits> CxlQueues::blocked_since(Time now) const {
  std::array<Time, kCxlCredits> since = {Time::never(), Time::never(), Time::never()};
  for (const CxlChannel channel : channels_) {
    const Queue& queue = queues_[index_of(channel)];
    if (queue.entries.empty() || queue.entries.front().arrival > now ||
        CxlCreditGate::room(gate_.left(), channel) > 0) {
      continue;
    }
    for (std::size_t credit = 0; credit < kCxlCredits; ++credit) {
      if (info_of(channel).credits[credit] > 0) {
        since[credit] = std::min(since[credit], std::max(queue.entries.front().arrival, noted_));
      }
    }
  }
  return since;
}

void CxlQueues::note_stalls(Time now) {
  if (size_ > 0 || is_stalled_) {
    const std::array<Time, kCxlCredits> since = blocked_since(now);
    is_stalled_ = false;
    for (std::size_t credit = 0; credit < kCxlCredits; ++credit) {
      if (since[credit] == Time::never()) {
        stalls_[credit].stop(now);
      } else {
        stalls_[credit].start(since[credit]);
        is_stalled_ = true;
      }
    }
  }
  noted_ = now;
}

std::array<StallCount, kCxlCredits> CxlQueues::waits(Time now) const {
  return {stalls_[0].so_far(now), stalls_[1].so_far(now), stalls_[2].so_far(now)};
}

std::string CxlQueues::starved() const {
  std::string text;
  for (std::size_t c = 0; c < kCxlChannels; ++c) {
    const auto channel = static_cast<CxlChannel>(c);
    if (queues_[c].arrived > 0 && CxlCreditGate::room(gate_.left(), channel) == 0) {
      text += fmt::format("{}{} {} messages wait for credits", text.empty() ? "" : ", ",
                          queues_[c].entries.size(), info_of(channel).name);
    }
  }
  return text;
}

}  // namespace flitwise
