// SPDX-License-Identifier: Apache-2.0
// How threads get their credits: looks, forces, and what they do about contexts in error. And what
// hostile processes do, which count none.
#include <algorithm>
#include <utility>

#include "common/ranges.h"
#include "flitwise/link_socket.h"
#include "pio/pio_core.h"

namespace flitwise {
namespace {

// model: software that still waits writes ForceReturn again after so long.
constexpr Time kForceAgain = Time::from_us(1);
// model: one that is to be interrupted looks so often all the same, since a context may have failed
// before its interrupt was on.
constexpr Time kLookAgain = Time::from_us(16);
// model: a thread that has waited for long looks less often, and sees its credits so much of the
// wait later at most.
constexpr std::int64_t kPollsOfAWait = 16;

}  // namespace

// False: the context is in error or was reset, or a return of before its last initialisation has
// just come. Its counter says nothing then. [PIO-7.6, 9.1, 12.40]
bool PioCore::look_at_credits(Thread& thread, Context& context, Time now) {
  const std::uint64_t qw = hooks_.look(config_.engine.shadow_of(context.number));
  const bool is_in_error = context.was_reset || (qw & kCreditStatus) != 0;
  if (is_in_error) {
    end_credit_wait(thread, context, now);
    thread.recovery_wait.begin(now);
    thread.in_error = &context;
    thread.needs_fence = true;  // what the thread has stored has to be out
  } else if (!context.hostile) {
    context.credits.take(qw);
  }
  return !is_in_error;
}

void PioCore::end_credit_wait(Thread& thread, const Context& context, Time now) {
  if (thread.credit_wait.is_open() && config_.engine.is_deep(context.number)) {
    deep_credit_waits_.add(thread.credit_wait.since(), now);
  }
  thread.credit_wait.end(credit_waits_, now);
}

// A thread without enough credits: what it asks the device for, and when it looks again.
void PioCore::await_credits(Thread& thread, const Context& context, unsigned blocks, Time now) {
  thread.credit_wait.begin(now);
  const bool needs_force = context.credits.needs_force(blocks, config_.engine.pio.threshold);
  if (config_.cores.credit_wait == DriverWait::kPoll) {
    if (needs_force && is_force_due(thread, context, now)) {
      force(thread, context, now);
    }
    thread.free = now + std::max(config_.cores.timing.credit_poll,
                                 Time{(now - thread.credit_wait.since()).fs / kPollsOfAWait});
    return;
  }
  // A return may have gone out before the interrupt is on: the force makes another one. (Linux
  // hfi1)
  const bool is_off = thread.interrupts != &context;
  if (is_off) {
    let_interrupt(thread, context, true);
  }
  if (is_off || (needs_force && is_force_due(thread, context, now))) {
    force(thread, context, now);
  }
  thread.free = now + (needs_force ? kForceAgain : kLookAgain);
}

void PioCore::let_interrupt(Thread& thread, const Context& context, bool is_on) {
  const PioConfig& pio = config_.engine.pio;
  const SendContextSetup setup = {0, 0, static_cast<std::uint16_t>(pio.threshold), pio.early_return,
                                  is_on};
  make_room(thread.control);
  thread.control.push_back(
      {SendRegisters::kCreditControl, context.number, SendRegisters::credit_control_of(setup)});
  thread.interrupts = is_on ? &context : nullptr;
}

void PioCore::interrupt(unsigned number, Time when) {
  Thread& thread = threads_[number];
  const Time look = when + config_.cores.timing.interrupt;
  if (thread.credit_wait.is_open() && thread.in_error == nullptr && look < thread.free) {
    thread.free = look;
    wakeup_.at(look);
  }
}

// A force may come before enough blocks are free. Where it has returned too little, or nothing for
// a while, another one follows. [PIO-7.9]
bool PioCore::is_force_due(const Thread& thread, const Context& context, Time now) const {
  return thread.control.empty() &&
         (thread.forced_at == Time::never() || thread.forced_shadow != context.credits.shadow() ||
          now - thread.forced_at >= kForceAgain);
}

void PioCore::force(Thread& thread, const Context& context, Time now) {
  for (const std::uint64_t is_on : {1U, 0U}) {
    make_room(thread.control);
    thread.control.push_back({SendRegisters::kCreditForce, context.number, is_on});
  }
  thread.forced_at = now;
  thread.forced_shadow = context.credits.shadow();
}

// A thread is the only one that writes to its contexts: with its stores out, nobody does. [PIO-9.7]
void PioCore::recover(unsigned number) {
  Thread& thread = threads_[number];
  if (core_.is_fenced(number) || core_.waiting(number) > 0 || thread.recovery->is_active()) {
    return;
  }
  const unsigned context = thread.in_error->number;
  thread.recovery->start(
      context, config_.engine.shadow_of(context), std::exchange(thread.in_error->was_reset, false),
      [this, &thread](ContextRecovery::Outcome outcome) { recovered(thread, outcome); });
}

void PioCore::device_was_reset() {
  for (Thread& thread : threads_) {
    for (Context& context : thread.contexts) {
      context.was_reset = true;
    }
    if (thread.recovery->is_active()) {
      thread.in_error->was_reset = false;
      thread.recovery->device_was_reset();
    }
  }
}

void PioCore::recovered(Thread& thread, ContextRecovery::Outcome outcome) {
  using Outcome = ContextRecovery::Outcome;
  Context& context = *thread.in_error;
  thread.in_error = nullptr;
  thread.free = flitwise::now();
  thread.recovery_wait.end(recovery_waits_, thread.free);
  if (outcome == Outcome::kDeviceGone) {
    context.was_reset = true;
    thread.has_given_up = true;
    thread.credit_wait.end(credit_waits_, thread.free);
    thread.ring_wait.end(ring_waits_, thread.free);
  } else if (outcome == Outcome::kBegunAnew) {
    context.credits = SenderCredits(context.credits.depth());
    thread.forced_at = Time::never();
    if (context.hostile) {
      context.hostile->restart();
    }
  } else {
    thread.free += config_.cores.timing.credit_poll;
  }
  wakeup_.at(thread.free);
}

// All that it has still to send is over.
void PioCore::give_up(Thread& thread, Time now) {
  while (load(thread, now)) {
    const Context& context = thread.contexts[to_int(thread.item.domain)];
    thread.has_item = thread.is_described = false;
    hooks_.given_up();
    ++(context.hostile ? hostile_packets_ : given_up_);
  }
}

// As many writes as its packet has blocks. model: each leaves by itself, as if it were evicted at
// once, since the store buffer holds whole QWs alone.
void PioCore::write_anything(Thread& thread, Time now) {
  Packet& packet = thread.packet;
  if (!has_room(now)) {
    thread.free = now + config_.cores.timing.credit_poll;
    return;
  }
  const HostileWrite write = packet.context->hostile->next();
  hooks_.write(kPioWindow + write.offset, write.data.data(), write.bytes);
  written_bytes_ += write.bytes;
  ++blocks_;
  spend(thread, config_.cores.timing.source + time_of_stores(), storing_, now);
  if (++packet.block == packet.blocks) {
    packet.context = nullptr;
    ++hostile_packets_;
  }
}

}  // namespace flitwise
