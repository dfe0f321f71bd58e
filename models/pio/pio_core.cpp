// SPDX-License-Identifier: Apache-2.0
#include "pio/pio_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

// The share of one thread in a number.
std::uint64_t share_of(std::uint64_t all, unsigned number, unsigned threads) {
  return all / threads + (number < all % threads ? 1 : 0);
}

}  // namespace

PioCore::PioCore(const sc_core::sc_module_name& name, const PioCoreConfig& config,
                 const WorkloadConfig& workload, const DeviceConfig& device, const RunConfig& run,
                 Hooks hooks)
    : ComponentModule(name),
      config_(config),
      hooks_(std::move(hooks)),
      wakeup_("wakeup", config.cores.timing.clock),
      core_(config.cores.store_buffers, config.cores.window),
      is_simple_(config.cores.threads == 1 && config.cores.window == 0 &&
                 config.cores.fence == StoreFence::kNone && config.cores.sdma_from == 0 &&
                 config.cores.hostile == 0),
      threads_(config.cores.threads),
      random_(Random(run.seed).split(this->name())) {
  wakeup_.wakes("work", [this] { work(); });
  const unsigned all = config.all_threads();
  for (unsigned i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    const unsigned number = config.first_thread + i;
    for (unsigned context = number; context < config.engine.contexts; context += all) {
      const unsigned depth = config.engine.depth_of(context);
      thread.contexts.push_back({context, SenderCredits(depth), 0});
      if (config.engine.egress.is_hostile(context)) {
        const Random own = random_.split("hostile " + std::to_string(context));
        thread.contexts.back().hostile.emplace(context, depth, own);
      }
    }
    thread.recovery = std::make_unique<ContextRecovery>(hooks_.recovery);
    WorkloadConfig own = workload;
    const unsigned senders = std::min(all, config.engine.contexts);  // the others have no context
    own.domains = static_cast<unsigned>(thread.contexts.size());
    own.requests = number < senders ? share_of(workload.requests, number, senders) : 0;
    own.rate_mrps = workload.rate_mrps / senders;
    const std::uint64_t warmup = number < senders ? share_of(run.warmup, number, senders) : 0;
    thread.total = own.requests + warmup;
    if (thread.total > 0) {
      const Random random = Random(run.seed).split("thread " + std::to_string(number));
      thread.stream = Workload::make(own, device, Random(random).next(), warmup);
    }
    thread.is_exhausted = thread.total == 0;
    senders_ += thread.total > 0 ? 1U : 0U;
  }
}

void PioCore::start(Time now) {
  origin_ = now;
  if (is_exhausted()) {
    hooks_.work_ended();
  }
  wakeup_.at(now);
}

void PioCore::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  catch_up(now);
  release_due(now);
  for (unsigned i = 0; i < threads_.size(); ++i) {
    if (threads_[i].fence_due <= now) {
      core_.acknowledge(i);
      threads_[i].fence_due = Time::never();
    }
    run(i, now);
  }
  drain(now);
  Time next = Time::never();
  for (unsigned i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    if (core_.is_fence_out(i) && thread.fence_due == Time::never()) {
      thread.fence_due = now + config_.cores.timing.fence;
    }
    next = std::min({next, thread.fence_due, next_of(thread)});
  }
  if (needs_releases() && !is_unseen()) {
    next = std::min(next, releases_.next());
  }
  wakeup_.at(next);
}

void PioCore::release_due(Time now) {
  while (releases_.is_due(now)) {
    core_.release(*releases_.take());
  }
}

// While full blocks wait for room in the IIO, nobody sees when a thread fills a block that is free
// again: none leaves before those. So the core sleeps until there is room.
bool PioCore::is_unseen() const {
  const Thread& thread = threads_.front();
  return room_wait_.is_open() && is_simple_ && thread.place_wait.is_open() &&
         thread.packet.context != nullptr && !is_exhausted();
}

// What the thread did meanwhile, at its own times. A look at its credits takes place now.
void PioCore::catch_up(Time now) {
  if (!is_unseen()) {
    return;
  }
  Thread& thread = threads_.front();
  const Time clock = config_.cores.timing.clock;
  for (;;) {
    const Time due = std::min(releases_.next(), next_of(thread));
    if (due >= now || next_edge(due, clock) >= now || is_exhausted()) {
      return;
    }
    release_due(next_edge(due, clock));
    run(0, next_edge(due, clock));
  }
}

// Places that are free matter to whoever waits for one, and to the end of a fence.
bool PioCore::needs_releases() const {
  return any_of(threads_, [this](const Thread& thread) {
    const auto number = static_cast<unsigned>(&thread - threads_.data());
    return thread.place_wait.is_open() || core_.is_fenced(number) || core_.waiting(number) > 0;
  });
}

// When a thread has something to do that no other event brings: one that waits for the store buffer
// goes on with a block that is out.
Time PioCore::next_of(const Thread& thread) const {
  const bool has_work = thread.packet.context != nullptr || thread.needs_fence || thread.has_item ||
                        !thread.is_exhausted;
  const bool is_stalled = (thread.place_wait.is_open() && !may_store(thread)) ||
                          (thread.in_error != nullptr && !thread.needs_fence);
  const bool waits_for_iio =
      thread.is_described && room_wait_.is_open() && thread.free <= flitwise::now();
  if (origin_ == Time::never() || !has_work || is_stalled || waits_for_iio) {
    return Time::never();
  }
  const bool waits_for_arrival = thread.packet.context == nullptr && thread.has_item;
  return waits_for_arrival ? std::max(thread.free, origin_ + thread.item.at) : thread.free;
}

bool PioCore::load(Thread& thread, Time now) {
  if (!thread.has_item && !thread.is_exhausted) {
    thread.has_item = thread.stream->next(thread.item);
    thread.begun = thread.item.at > Time{} ? origin_ + thread.item.at : now;
    thread.is_exhausted = !thread.has_item;
    if (is_exhausted()) {
      hooks_.work_ended();
    }
  }
  return thread.has_item;
}

// A thread goes on until it has to wait, for time or for something else.
void PioCore::run(unsigned number, Time now) {
  Thread& thread = threads_[number];
  while (origin_ <= now && thread.free <= now) {
    if (thread.needs_fence) {
      if (!fence(number, now)) {
        return;
      }
    } else if (thread.in_error != nullptr) {
      recover(number);
      return;
    } else if (thread.has_given_up) {
      give_up(thread, now);
      return;
    } else if (thread.packet.context == nullptr) {
      if (!load(thread, now) || origin_ + thread.item.at > now) {
        return;
      }
      if (!(goes_by_sdma(thread) ? send_by_sdma(thread, now) : begin_packet(thread, now))) {
        return;
      }
    } else if (thread.packet.context->hostile) {
      write_anything(thread, now);
    } else if (!thread.packet.is_ready) {
      if (!prepare_block(number, now)) {
        return;
      }
    } else if (!store_block(number, now)) {
      return;
    }
  }
}

// Reads the source of a block and spends the time of its stores. Behind a fence that is open it
// reads alone: no store of it is done before that has ended. A core that runs ahead takes no notice
// of it here. [PIO-4.4]
bool PioCore::prepare_block(unsigned number, Time now) {
  Thread& thread = threads_[number];
  Packet& packet = thread.packet;
  const bool is_fenced = config_.cores.window == 0 && core_.is_fenced(number);
  const Time source = packet.is_read ? Time{} : config_.cores.timing.source;
  if (is_fenced && packet.is_read) {
    stall(number, now, true);
    return false;
  }
  stall(number, now, false);
  packet.is_read = true;
  packet.is_ready = !is_fenced;
  spend(thread, is_fenced ? source : source + time_of_stores(), storing_, now);
  if (packet.is_ready && !may_store(thread)) {  // it will have to wait then
    thread.waits_for_fence = core_.is_fenced(number);
    thread.place_wait.begin(thread.free);
  }
  return true;
}

// Would the block that comes next, or a part of it, have its place now? A core that runs ahead
// finds out by trying.
bool PioCore::may_store(const Thread& thread) const {
  const auto number = static_cast<unsigned>(&thread - threads_.data());
  return config_.cores.window > 0
             ? !thread.place_wait.is_open()
             : !core_.is_fenced(number) && thread.packet.context != nullptr &&
                   core_.buffer().takes(address_of(thread.packet) + thread.packet.stored);
}

std::uint64_t PioCore::address_of(const Packet& packet) const {
  const unsigned block = (packet.first_block + packet.block) % packet.context->credits.depth();
  return kPioWindow + encode_window({packet.block == 0, packet.context->number, block, 0});
}

Time PioCore::time_of_stores() const {
  const auto& timing = config_.cores.timing;
  const auto stores = static_cast<std::int64_t>(kSendBlockBytes / config_.cores.store_bytes);
  return std::max(timing.store, timing.clock) * stores;
}

// Software looks at its credits in memory where those that it knows do not suffice. A packet that
// may wait for ever needs a force. [PIO-7.8, 7.9]
bool PioCore::begin_packet(Thread& thread, Time now) {
  Context& context = thread.contexts[to_int(thread.item.domain)];
  Pbc pbc = Pbc::of_payload(thread.item.bytes);
  const unsigned blocks = pbc.blocks();
  const bool has_to_look =
      context.hostile || context.was_reset || !context.credits.may_fill(blocks);
  if (has_to_look && now < flitwise::now()) {
    thread.free = flitwise::now();  // caught up with
    return false;
  }
  if (has_to_look && !look_at_credits(thread, context, now)) {
    return false;
  }
  if (!context.credits.may_fill(blocks)) {
    await_credits(thread, context, blocks, now);
    return false;
  }
  end_credit_wait(thread, context, now);
  if (thread.interrupts != nullptr) {
    let_interrupt(thread, *thread.interrupts, false);
  }
  Packet& packet = thread.packet;
  packet = {};
  packet.context = &context;
  packet.first_block = static_cast<std::uint16_t>(context.credits.next_block());
  hooks_.begins(context.number, packet.first_block, context.hostile ? Time::never() : thread.begun);
  packet.blocks = static_cast<std::uint16_t>(blocks);
  pbc.vl = static_cast<std::uint8_t>(next_vl(context));
  const double asks = config_.cores.credit_requests;
  pbc.credit_return = asks > 0 && random_.chance(asks);
  packet.pbc = pbc;
  if (!context.hostile) {
    context.credits.fill(blocks);
  }
  thread.has_item = false;
  thread.forced_at = Time::never();
  return true;
}

bool PioCore::store_block(unsigned number, Time now) {
  Thread& thread = threads_[number];
  Packet& packet = thread.packet;
  const Context& context = *packet.context;
  const std::uint8_t* const bytes =
      writer_.block(packet.pbc, PacketStamp(context.number, context.packets), packet.block);
  const std::uint64_t address = address_of(packet);
  const unsigned step = config_.cores.store_bytes;
  for (; packet.stored < kSendBlockBytes; packet.stored += step) {
    if (!core_.store(number, address + packet.stored, bytes + packet.stored, step)) {
      stall(number, now, true);
      return false;
    }
  }
  stall(number, now, false);
  ++blocks_;
  packet.stored = 0;
  packet.is_read = packet.is_ready = false;
  const bool is_last = ++packet.block == packet.blocks;
  thread.needs_fence = config_.cores.fence == StoreFence::kBlock ||
                       (is_last && config_.cores.fence == StoreFence::kPacket);
  if (is_last) {
    ++packet.context->packets;
    ++packets_;
    packet.context = nullptr;
  }
  return true;
}

// What a thread waits for now: a fence that is not over, else a block.
void PioCore::stall(unsigned number, Time now, bool is_stalled) {
  Thread& thread = threads_[number];
  if (is_stalled) {
    thread.waits_for_fence = core_.is_fenced(number);
    thread.place_wait.begin(now);
  } else if (thread.place_wait.is_open()) {
    note_blocked_iio(thread, now);
    const Time since = thread.place_wait.since() + std::exchange(thread.iio_blocked, Time{});
    (thread.waits_for_fence ? fence_waits_ : place_waits_).add(since, now);
    thread.place_wait = {};
  }
}

bool PioCore::fence(unsigned number, Time now) {
  Thread& thread = threads_[number];
  const bool is_taken = core_.fence(number);
  stall(number, now, !is_taken);
  thread.needs_fence = !is_taken;
  return is_taken;
}

// While a write waits for room in the IIO, blocks and fences wait for what is behind it.
void PioCore::note_blocked_iio(Thread& thread, Time now) const {
  if (room_wait_.is_open() && thread.place_wait.since() < now) {
    thread.iio_blocked += now - std::max(room_wait_.since(), thread.place_wait.since());
  }
}

bool PioCore::has_room(Time now) {
  const bool has_room = hooks_.has_room();
  for (Thread& thread : threads_) {
    if (has_room && room_wait_.is_open()) {
      note_blocked_iio(thread, now);
    }
  }
  room_wait_.set(!has_room, room_waits_, now);
  return has_room;
}

// Blocks leave side by side, and behind them what forces returns, as far as the IIO has room for
// the writes.
void PioCore::drain(Time now) {
  while (const StoreBlock* const block = core_.next_to_write()) {
    if (!has_room(now)) {
      return;
    }
    for (const StoreWrite& write : StoreWrites(*block)) {
      hooks_.write(write.address, write.data, write.bytes);
      written_bytes_ += write.bytes;
    }
    core_.leave(*block);
    releases_.add(block, now + config_.cores.timing.drain);
  }
  for (Thread& thread : threads_) {
    for (; !thread.control.empty(); thread.control.pop_front()) {
      if (!has_room(now)) {
        return;
      }
      const PioThread::ControlWrite& write = thread.control.front();
      const std::uint64_t value = boost::endian::native_to_little(write.value);
      hooks_.write(kPioRegisters + SendRegisters::offset_of(write.one, write.context),
                   reinterpret_cast<const std::uint8_t*>(&value), sizeof(value));
    }
  }
}

bool PioCore::is_exhausted() const {
  return all_of(threads_, [](const Thread& one) { return one.is_exhausted && !one.has_item; });
}

bool PioCore::is_quiet() const {
  const bool is_writing = any_of(threads_, [](const Thread& one) {
    return one.packet.context != nullptr || one.needs_fence || !one.control.empty() ||
           one.in_error != nullptr;
  });
  return !is_writing && holds_no_block() && core_.waiting(0) == 0 && core_.waiting(1) == 0 &&
         !core_.is_fenced(0) && !core_.is_fenced(1);
}

// Blocks whose writes are out only wait for their place to be free.
bool PioCore::holds_no_block() const {
  return core_.buffer().held_blocks() == releases_.size();
}

// A thread that waits for an arrival keeps its own pace.
Time PioCore::next_own_work() const {
  Time next = Time::never();
  for (const Thread& thread : threads_) {
    if (thread.packet.context == nullptr && thread.has_item && !thread.credit_wait.is_open() &&
        !thread.recovery_wait.is_open() && !thread.ring_wait.is_open()) {
      next = std::min(next, origin_ + thread.item.at);
    }
  }
  return next;
}

void PioCore::add_progress(Progress& sum) const {
  sum.steps += blocks_;
  sum.completed += packets_ + hostile_packets_ + given_up_;
  sum.requests_over += hostile_packets_ + given_up_;
  for (const Thread& thread : threads_) {
    sum.requests += thread.total;
  }
}

// What software has been told of is what the device has returned, but for what never came to
// memory. [PIO-12.33]
std::vector<CheckResult> PioCore::checks_at_rest() const {
  if (hooks_.are_returns_lost()) {
    return {};
  }
  unsigned wrong = 0;
  for (const Thread& thread : threads_) {
    for (const Context& one : thread.contexts) {
      if (one.was_reset) {
        continue;
      }
      const std::uint64_t shadow =
          hooks_.look_at_rest(config_.engine.shadow_of(one.number)) % kCreditRing;
      wrong += hooks_.returned(one.number) % kCreditRing == shadow ? 0 : 1;
    }
  }
  return {{name() + std::string(": credits in memory are those that were returned"), wrong == 0,
           fmt::format("{} contexts differ", wrong)}};
}

}  // namespace flitwise
