// SPDX-License-Identifier: Apache-2.0
// The traffic engine.
#include "endpoint/dma_engine.h"

#include <fmt/format.h>

#include "common/byte_vector.h"
#include "common/random.h"
#include "common/ranges.h"
#include "endpoint/bar_access.h"
#include "flitwise/error.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {
constexpr std::uint32_t kNoMessage = 0;  // tokens of messages are their slot plus one

// model: when an engine starts within its issue interval is nobody's choice.
Time phase_of(Time interval, std::uint64_t seed) {
  if (interval <= Time{}) {
    return Time{};
  }
  Random random = Random(seed).split("issue_phase");
  return {static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(interval.fs)))};
}
}  // namespace

DmaEngine::DmaEngine(std::string name, const char* direction, const WorkloadConfig& workload,
                     const DeviceConfig& device, const RunConfig& run, Time clock, Hooks hooks)
    : Bystander(std::move(name)),
      direction_(direction),
      hooks_(std::move(hooks)),
      workload_(Workload::make(workload, device, run.seed, run.warmup)),
      interval_(device.dma.issue_interval),
      clock_(clock),
      phase_(phase_of(interval_, run.seed)),
      warmup_(run.warmup),
      limit_(device.dma.outstanding),
      doorbell_area_{device.functions.bar_size / 2, device.functions.bar_size / 2, 0,
                     device.functions.count},
      total_(workload_->left()),
      messages_(kMessages) {}

bool DmaEngine::load() {
  if (!has_item_ && !is_exhausted_) {
    has_item_ = workload_->next(item_);
    is_exhausted_ = !has_item_;
    if (is_exhausted_) {
      hooks_.work_ended();
    }
  }
  return has_item_;
}

[[gnu::flatten]] bool DmaEngine::next(Time now, Transfer& transfer) {
  asked_ = now;
  if (now < earliest_) {
    return false;
  }
  return (busy_messages_ > 0 && next_of_message(now, transfer)) || next_from_stream(now, transfer);
}

// The messages in flight take turns.
bool DmaEngine::next_of_message(Time now, Transfer& transfer) {
  for (std::size_t i = 0; i < kMessages; ++i) {
    const std::size_t slot = (turn_ + i) % kMessages;
    if (!messages_[slot].is_free() && issue(slot, now, transfer)) {
      turn_ = slot + 1;
      return true;
    }
  }
  return false;
}

bool DmaEngine::issue(std::size_t slot, Time now, Transfer& transfer) {
  Message& message = messages_[slot];
  const auto token = static_cast<std::uint32_t>(slot + 1);
  while (message.next < message.count && !message.is_waiting) {
    const WorkItem& item = message.items[message.next];
    if (item.depends_on_previous && message.in_flight > 0) {
      message.is_waiting = true;
      return false;
    }
    if (is_held_up(item.op, now)) {
      return false;
    }
    ++message.next;
    ++message.in_flight;
    if (item.op != Op::kDoorbell) {
      fill(item, token, message.counts, now, transfer);
      transfer.ends_context = item.ends_context && !is_end_passed_on(item.domain, message.number);
      return true;
    }
    ++message.doorbells;
    hooks_.ring(item, token);
  }
  return false;
}

bool DmaEngine::next_from_stream(Time now, Transfer& transfer) {
  while (load() && origin_ + item_.at <= now) {
    if (!item_.ends_message) {
      // It begins with its first item, and is counted from there on.
      const bool has_slot = busy_messages_ < kMessages;
      full_since_ = has_slot ? full_since_ : std::min(full_since_, now);
      if (!has_slot || is_held_up(item_.op, now)) {
        return false;
      }
      take_message();
      if (next_of_message(now, transfer)) {
        return true;
      }
      continue;
    }
    if (is_held_up(item_.op, now)) {
      return false;
    }
    note_start();
    has_item_ = false;
    fill(item_, kNoMessage, counts_, now, transfer);
    transfer.ends_context = item_.ends_context && !is_end_passed_on(item_.domain, started_);
    return true;
  }
  return false;
}

// The wait begins when the item could go but for the reads that are out, and ends with one of them.
bool DmaEngine::is_held_up(Op op, Time now) {
  if (op != Op::kRead || reads_ < limit_) {
    return false;
  }
  held_up_since_ = std::min(held_up_since_, now);
  return true;
}

// Moves a message of several items from the stream into a slot. REQUIRES: one is free.
void DmaEngine::take_message() {
  const auto slot = static_cast<std::size_t>(
      find_if(messages_, [](const Message& m) { return m.is_free(); }) - messages_.begin());
  note_start();
  Message& message = messages_[slot];
  message = Message{};
  message.counts = counts_;
  message.number = started_;
  for (bool is_last = false; !is_last && load();) {
    FLITWISE_CHECK(message.count < kMostItems, "a message of more than 8 items");
    message.items[message.count++] = item_;
    is_last = item_.ends_message;
    has_item_ = false;
  }
  ++busy_messages_;
  turn_ = slot;
}

// A context ends with the last step of all its messages: where an earlier one has steps left, the
// last of them ends it.
bool DmaEngine::is_end_passed_on(DomainId domain, std::uint64_t number) {
  for (Message& message : messages_) {
    for (std::size_t i = message.count; i > message.next && message.number < number; --i) {
      WorkItem& item = message.items[i - 1];
      if (item.domain == domain && item.op != Op::kDoorbell) {
        item.ends_context = true;
        return true;
      }
    }
  }
  return false;
}

void DmaEngine::note_start() {
  ++started_;
  if (!counts_ && started_ > warmup_) {
    counts_ = true;
    hooks_.counting_starts();
  }
}

// A request that only waited for the clock leaves the rhythm as it is, so that the interval holds
// on average; one that waited for something else begins it anew.
void DmaEngine::fill(const WorkItem& item, std::uint32_t token, bool counts, Time now,
                     Transfer& transfer) {
  // With open arrivals a request begins when it arrives, not when the engine gets to it.
  const Time issue = item.at.fs > 0 ? origin_ + item.at : now;
  const Time ready = std::max(earliest_, origin_ + item.at);
  transfer = {item.op, item.domain, item.address, item.bytes, issue, ready, token, counts};
  ++given_;
  ++issued_[static_cast<std::size_t>(item.op)];
  to_peers_[static_cast<std::size_t>(item.op)] += peers_.contains(item.address) ? 1 : 0;
  if (item.op == Op::kRead) {
    outstanding_use_.set(++reads_, now);
  }
  const bool waited_for_clock = now - earliest_ < clock_;
  earliest_ = (waited_for_clock ? earliest_ : now) + interval_;
}

void DmaEngine::end_work() {
  if (!is_exhausted_) {
    is_exhausted_ = true;
    has_item_ = false;
    total_ = started_;
    hooks_.work_ended();
  }
}

Time DmaEngine::next_at() const {
  // Within the issue interval nobody has looked into the stream yet.
  const bool may_have_work = busy_messages_ > 0 || (!has_item_ && !is_exhausted_);
  Time when = may_have_work ? earliest_ : Time::never();
  if (has_item_) {
    when = std::min(when, std::max(earliest_, origin_ + item_.at));
  }
  // What had its time when next() was asked waits for something else.
  return when > asked_ ? when : Time::never();
}

void DmaEngine::add_progress(Progress& sum) const {
  sum.steps += started_;
  sum.completed += ended_ + ended_steps_;
  sum.requests += total_;
  sum.requests_over += ended_ + ended_messages_;
}

void DmaEngine::start_window() {
  outstanding_waits_.start_window(now());
  outstanding_use_.start_window(now());
  message_waits_.start_window(now());
  issued_ = to_peers_ = {};
  window_begin_ = now();
  window_end_ = Time::never();
}

void DmaEngine::end_window() {
  outstanding_use_.end_window(now());
  window_end_ = now();
}

void DmaEngine::extend_window() {
  outstanding_use_.extend_window();
  window_end_ = Time::never();
}

std::vector<WaitResult> DmaEngine::waits() const {
  std::vector<WaitResult> all = {
      outstanding_waits_.result({name(), "outstanding", ResourceRole::kSlots, direction_, "read",
                                 "device.dma.outstanding", limit_})};
  all.back().peak = outstanding_use_.peak();
  all.back().busy = outstanding_use_.mean(now()) / limit_;
  if (message_waits_.count() > 0) {
    all.push_back(message_waits_.result(
        {name(), "messages", ResourceRole::kSlots, direction_, "", "", kMessages}));
  }
  return all;
}

void DmaEngine::report(RunResult& result) const {
  for (const Route& one : routes_) {
    RequestRoute& route = result.routes.emplace_back(one.route);
    route.requests = issued_[static_cast<std::size_t>(one.op)];
    route.to_peers = to_peers_[static_cast<std::size_t>(one.op)];
    route.begin = window_begin_;
    route.end = std::min(window_end_, now());
  }
}

std::vector<CheckResult> DmaEngine::checks() const {
  const std::uint64_t over = ended_ + ended_steps_;
  std::vector<CheckResult> all = {
      {name() + std::string(": every transfer is done or has failed"), over == given_,
       fmt::format("{} given out, {} done, {} failed", given_, over - failed_, failed_)}};
  if (losses_) {
    const std::uint64_t missing = rung_ - doorbells_;
    const std::uint64_t lost = losses_();
    all.push_back({name() + std::string(": every doorbell arrived or was lost"), missing <= lost,
                   fmt::format("{} missing, {} writes lost with the link", missing, lost)});
  }
  return all;
}

void DmaEngine::finished(const TransferEnd& end) {
  failed_ += end.status == TransferStatus::kDone ? 0 : 1;
  if (end.op == Op::kRead) {
    outstanding_use_.set(--reads_, now());
    outstanding_waits_.add(held_up_since_, now());
    held_up_since_ = Time::never();
  }
  if (end.token == kNoMessage) {
    ++ended_;
  } else {
    ++ended_steps_;
    item_done(end.token);
  }
}

// Doorbells are not kept: they read 0.
void DmaEngine::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  static constexpr std::array<std::uint8_t, 4096> kZero{};
  access.answer(read, kZero.data(), now);
}

void DmaEngine::mmio_write(const MmioPlace& /*place*/, const std::uint8_t* bytes, std::size_t size,
                           Time /*now*/) {
  if (size >= 4) {
    doorbell_arrived(static_cast<std::uint32_t>(little_endian(bytes, 4)));
  }
}

void DmaEngine::doorbell_arrived(std::uint32_t token) {
  if (token == kNoMessage || token > kMessages || messages_[token - 1].doorbells == 0) {
    ++stray_doorbells_;
    return;
  }
  ++doorbells_;
  --messages_[token - 1].doorbells;
  item_done(token);
  hooks_.work_appeared();
}

void DmaEngine::item_done(std::uint32_t token) {
  Message& message = messages_[token - 1];
  --message.in_flight;
  message.is_waiting = message.is_waiting && message.in_flight > 0;
  // With open arrivals what waited for this step begins now, as does what comes behind it.
  const bool is_met = message.in_flight == 0 && message.next < message.count &&
                      message.items[message.next].depends_on_previous;
  for (std::size_t i = message.next; is_met && i < message.count; ++i) {
    Time& at = message.items[i].at;
    at = at.fs > 0 ? now() - origin_ : at;
  }
  if (message.in_flight == 0 && message.next == message.count) {
    message.count = 0;
    --busy_messages_;
    ++ended_messages_;
    message_waits_.add(full_since_, now());
    full_since_ = Time::never();
  }
}

std::string DmaEngine::waits_for() const {
  if (is_done()) {
    return "";
  }
  const auto doorbells = sum_of<unsigned>(messages_, &Message::doorbells);
  return fmt::format(
      "{} messages begun, {}; {} reads of at most {} and {} doorbells are out, {} messages "
      "of several steps are under way",
      started_, is_exhausted_ ? "no more to come" : "more to come", reads_, limit_, doorbells,
      busy_messages_);
}

}  // namespace flitwise
