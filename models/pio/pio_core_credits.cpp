// SPDX-License-Identifier: Apache-2.0
// How threads get their credits: looks, forces, and what they do about contexts in error. And what
// hostile processes do, which count none.
#include <algorithm>

#include "flitwise/link_socket.h"
#include "pio/pio_core.h"

namespace flitwise {
namespace {

// model: software that still waits writes ForceReturn again after so long.
constexpr Time kForceAgain = Time::from_us(1);

}  // namespace

// False: the context is in error, or a return of before its last initialisation has just come. Its
// counter says nothing then. [PIO-7.6, 9.1, 12.40]
bool PioCore::look_at_credits(Thread& thread, Context& context, Time now) {
  const std::uint64_t qw = hooks_.look(config_.engine.shadow_of(context.number));
  const bool is_in_error = (qw & kCreditStatus) != 0;
  if (is_in_error) {
    thread.credit_wait.begin(now);
    thread.in_error = &context;
    thread.needs_fence = true;  // what the thread has stored has to be out
  } else if (!context.hostile) {
    context.credits.take(qw);
  }
  return !is_in_error;
}

// A force may come before enough blocks are free. Where it has returned too little, or nothing for
// a while, another one follows. [PIO-7.9]
void PioCore::force_if_needed(Thread& thread, const Context& context, unsigned blocks, Time now) {
  const bool is_due = thread.forced_at == Time::never() ||
                      thread.forced_shadow != context.credits.shadow() ||
                      now - thread.forced_at >= kForceAgain;
  if (!is_due || thread.force_writes > 0 ||
      !context.credits.needs_force(blocks, config_.engine.pio.threshold)) {
    return;
  }
  thread.force_writes = 2;
  thread.forced_context = context.number;
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
  thread.recovery->start(context, config_.engine.shadow_of(context),
                         [this, &thread](bool was_halted) { recovered(thread, was_halted); });
}

void PioCore::recovered(Thread& thread, bool was_halted) {
  Context& context = *thread.in_error;
  thread.in_error = nullptr;
  thread.free = flitwise::now();
  if (was_halted) {
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
  spend(thread, time_of_block(), storing_, now);
  if (++packet.block == packet.blocks) {
    packet.context = nullptr;
    ++hostile_packets_;
  }
}

}  // namespace flitwise
