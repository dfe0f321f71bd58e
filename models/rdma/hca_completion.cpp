// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_completion.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "rdma/hca_dma.h"
#include "rdma/rnr_times.h"

namespace flitwise {

// What the rules have said by the way: completions, and times to wait.
void HcaCompletion::after_rules(std::uint32_t number, Time now) {
  HcaPair& pair = s_.pairs[number];
  collect(s_.config.place_of(number), now);
  if (pair.rules.state() == QpState::kError) {
    s_.commands.close_all(pair.commands);
    s_.commands.close_all(pair.payloads);
    s_.receives.drop_held(number);
  }
  const RcRequester& requester = pair.rules.requester();
  // What came meanwhile may have ended a wait, and begun another.
  pair.waits_for_rnr =
      pair.waits_for_rnr && requester.waits_for_rnr() && pair.progress == requester.progress();
  reads_.set(number, requester.waits_for() == RequesterWait::kReads, now);
  window_.set(number, requester.waits_for() == RequesterWait::kWindow, now);
  const bool timer_ran = std::exchange(pair.timer_runs, requester.timer_runs());
  if (pair.progress != requester.progress() || !timer_ran) {
    pair.progress = requester.progress();
    pair.progress_at = now;
  }
  if (s_.config.rdma.timeout > 0 && pair.timer_runs && !pair.has_timer) {
    pair.has_timer = true;
    pair.progress_at = now;
    timers_.add({number, false}, now + s_.config.retry_time());
  }
  if (requester.waits_for_rnr() && !pair.waits_for_rnr) {
    pair.waits_for_rnr = true;
    pair.rnr_due = now + rnr_time_of(requester.rnr_time());
    timers_.add({number, true}, pair.rnr_due);
  }
  if (s_.carriers != nullptr) {
    s_.carriers->after_rules(number, now);
  }
  ask_at(timers_.next());
}

// What the rules have left in their queues, as far as there is room.
void HcaCompletion::collect(std::uint32_t place, Time now) {
  HcaFunction& own = s_.pairs.function(place);
  for (CompletionQueue* const queue : {&own.sends, &own.receives}) {
    while (queue->size() > 0 && !queue_.is_full()) {
      const WorkCompletion done = *queue->poll();
      push({done, s_.pairs[done.queue_pair - kFirstQueuePair].last_payload}, now);
    }
  }
  if (own.sends.size() + own.receives.size() > 0 && !std::exchange(own.has_completions, true)) {
    full_.push_back(place);
  }
}

bool HcaCompletion::run(Time now) {
  bool has_moved = false;
  while (run_timer(now)) {
    has_moved = true;
  }
  while (complete(now)) {
    has_moved = true;
    if (!full_.empty()) {
      const std::uint32_t place = full_.front();
      full_.pop_front();
      s_.pairs.function(place).has_completions = false;
      collect(place, now);
    }
  }
  return has_moved;
}

void HcaCompletion::settle(Time now) {
  HcaStage::settle(now);
  ask_at(timers_.next());
}

void HcaCompletion::start_window(Time now) {
  HcaStage::start_window(now);
  reads_.start_window(now);
  window_.start_window(now);
}

void HcaCompletion::add_more_waits(const std::string& place, Time /*now*/,
                                   std::vector<WaitResult>& all) const {
  const RdmaConfig& rdma = s_.config.rdma;
  all.push_back(reads_.result({place, "max_rd_atomic", ResourceRole::kSlots, "down", "write",
                               "device.rdma.max_rd_atomic", rdma.max_rd_atomic}));
  all.push_back(window_.result(
      {place, "window", ResourceRole::kSlots, "down", "write", "device.rdma.window", rdma.window}));
}

// A retry timer that runs out too early, for there was progress, is set again. [LR-3] [VB-9]
bool HcaCompletion::run_timer(Time now) {
  if (!timers_.is_due(now)) {
    return false;
  }
  const HcaTimer timer = timers_.take();
  HcaPair& pair = s_.pairs[timer.pair];
  if (timer.is_rnr) {
    if (!pair.waits_for_rnr || pair.rnr_due > now) {
      return true;  // its wait ended before
    }
    pair.waits_for_rnr = false;
    pair.rules.end_rnr_wait();
    after_rules(timer.pair, now);
    s_.kicks.kick(timer.pair, now);
    return true;
  }
  if (!s_.pairs.are_served()) {  // nothing of it could have been answered
    pair.progress_at = now;
  }
  const Time due = pair.progress_at + s_.config.retry_time();
  pair.has_timer = pair.rules.requester().timer_runs();
  if (!pair.has_timer) {
    return true;
  }
  if (due > now) {
    timers_.add(timer, due);
    return true;
  }
  pair.rules.time_out(now, now - s_.config.retry_time());
  pair.has_timer = false;
  pair.progress_at = now;
  after_rules(timer.pair, now);
  s_.kicks.kick(timer.pair, now);
  return true;
}

// Payload goes before what tells of it. [VB-6]
bool HcaCompletion::complete(Time now) {
  if (!queue_.is_due(now)) {
    return false;
  }
  HcaTold told = queue_.take(now);
  const std::uint32_t pair = told.completion.queue_pair - kFirstQueuePair;
  const std::uint32_t place = s_.config.place_of(pair);
  if (s_.pairs.function(place).is_down) {
    return true;
  }
  told.completion.queue_pair = s_.config.index_of(pair) + kFirstQueuePair;
  const std::uint32_t queue = kCompletionQueues * place + (told.completion.is_receive ? 1 : 0);
  std::uint64_t& index = completions_[queue];
  HcaJob& write = s_.dma.make(*this, HcaJobKind::kCompletion, false);
  write.address = s_.config.area(place).completion(
      told.completion.is_receive, static_cast<std::uint32_t>(index % s_.config.rdma.cq));
  write.queue_pair = place;
  write.bytes = s_.config.rdma.cqe;
  write.needs = told.needs;
  const CompletionEntry entry = encode(told.completion, phase_of_entry(index, s_.config.rdma.cq));
  write.own.assign(entry.begin(), entry.end());
  write.own.resize(s_.config.rdma.cqe);
  ++index;
  ++s_.totals.cqes;
  s_.dma.start(write, now);
  if (events_.written(queue, told.needs)) {
    interrupt(queue, now);
  }
  return true;
}

// Timers of its queue pairs run out in vain.
void HcaCompletion::reset(std::uint32_t place) {
  for (std::uint32_t kind = 0; kind < kCompletionQueues; ++kind) {
    completions_[kCompletionQueues * place + kind] = 0;
    events_.forget(kCompletionQueues * place + kind);
  }
}

bool HcaCompletion::arm(std::uint32_t place, const CompletionArm& order, Time now) {
  if (order.queue >= kCompletionQueues) {
    return false;
  }
  const std::uint32_t queue = kCompletionQueues * place + order.queue;
  if (events_.arm({queue, order.taken})) {
    interrupt(queue, now);
  }
  return true;
}

// Behind the entries that it tells of, as the link keeps the order of writes. [RDM-11]
void HcaCompletion::interrupt(std::uint32_t queue, Time now) {
  HcaJob& message = s_.dma.make(*this, HcaJobKind::kInterrupt, false);
  message.queue_pair = queue / kCompletionQueues;
  message.address = s_.config.interrupt_address;
  message.bytes = sizeof(queue);
  message.needs = events_.needs(queue);
  message.own.resize(sizeof(queue));
  boost::endian::store_little_u32(message.own.data(), queue);
  ++s_.totals.interrupts;
  s_.dma.start(message, now);
}

}  // namespace flitwise
