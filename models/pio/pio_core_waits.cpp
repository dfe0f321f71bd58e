// SPDX-License-Identifier: Apache-2.0
// What threads wait for, and how much of their time they store.
#include <fmt/format.h>

#include <algorithm>

#include "flitwise/link_socket.h"
#include "pio/pio_core.h"

namespace flitwise {
namespace {

// Of a context that somebody else has initialised, or whose word in memory somebody else has
// written, software knows nothing that makes sense.
std::string used_text(const SenderCredits& credits) {
  if (credits.used() <= credits.depth()) {
    return fmt::format("{} of {} blocks used", credits.used(), credits.depth());
  }
  return fmt::format(
      "the device has returned {} blocks by the word in memory, and software has filled {}, both "
      "modulo {}; expected 0 to {} fewer: was the context initialised, or the word written, by "
      "somebody else?",
      credits.shadow(), credits.filled(), kCreditRing, credits.depth());
}

}  // namespace

std::string PioCore::waiting() const {
  std::string text;
  for (const Thread& thread : threads_) {
    const auto number = config_.first_thread + static_cast<unsigned>(&thread - threads_.data());
    if (thread.in_error != nullptr) {
      text += fmt::format("{}: thread {} recovers context {}: it waits for {}\n", name(), number,
                          thread.in_error->number,
                          thread.recovery->is_active() ? thread.recovery->step() : "its fence");
    } else if (thread.credit_wait.is_open()) {
      const Context& context = thread.contexts[to_int(thread.item.domain)];
      const bool is_refused = hooks_.are_returns_lost && hooks_.are_returns_lost();
      text += fmt::format("{}: thread {} waits for credits of context {}: {}{}\n", name(), number,
                          context.number, used_text(context.credits),
                          is_refused ? "; the host has refused writes with returned credits" : "");
    } else if (thread.ring_wait.is_open()) {
      text += fmt::format("{}: thread {} waits for room in the ring of an SDMA engine\n", name(),
                          number);
    } else if (thread.place_wait.is_open()) {
      text += fmt::format("{}: thread {} waits for {}\n", name(), number,
                          thread.waits_for_fence ? "its fence" : "a block of the store buffer");
    }
  }
  if (room_wait_.is_open()) {
    text += fmt::format("{}: a write waits for room in the IIO\n", name());
  }
  return text;
}

// A thread gives up a device that does not come back.
Time PioCore::waits_until() const {
  Time end{};
  for (const Thread& thread : threads_) {
    end = std::max(end, thread.recovery->gives_up_at());
  }
  return end;
}

Component::Counts PioCore::errors() const {
  return given_up_ == 0 ? Counts() : Counts{{"device_gone", given_up_}};
}

void PioCore::start_window() {
  const Time now = flitwise::now();
  for (WaitBook* const book : {&place_waits_, &credit_waits_, &deep_credit_waits_, &room_waits_,
                               &fence_waits_, &ring_waits_, &recovery_waits_}) {
    book->start_window(now);
  }
  storing_ = describing_ = Time{};
  window_begin_ = now;
}

// The work of its threads for packets: of blocks, or of descriptors, whichever takes longer; of
// both, what takes most of it is what makes them faster.
WaitResult PioCore::work_of_threads() const {
  const auto& timing = config_.cores.timing;
  const bool describes = describing_ > storing_;
  const Time step = describes ? timing.descriptor : timing.store;
  const bool is_source = !describes && timing.source > time_of_stores();
  const char* const key = is_source             ? "host.cores.timing.source"
                          : step < timing.clock ? "host.cores.timing.clock"
                          : describes           ? "host.cores.timing.descriptor"
                                                : "host.cores.timing.store";
  WaitResult work{{name(), "threads", ResourceRole::kServer, "down", "write", key, senders_}};
  const Time window = std::min(window_end_, flitwise::now()) - window_begin_;
  work.busy =
      window > Time{} ? std::min((storing_ + describing_).ns() / (window.ns() * senders_), 1.0) : 0;
  work.span = window;
  return work;
}

// Its key is the depth of the contexts that were waited for longer.
WaitResult PioCore::wait_for_credits() const {
  const PioConfig& pio = config_.engine.pio;
  const bool is_deep =
      deep_credit_waits_.total() + deep_credit_waits_.total() > credit_waits_.total();
  return credit_waits_.result({name(), "send_credits", ResourceRole::kSlots, "down", "write",
                               is_deep ? "device.pio.deep_depth" : "device.pio.depth",
                               is_deep ? pio.deep_depth : pio.depth});
}

std::vector<WaitResult> PioCore::waits() const {
  const CoresConfig& cores = config_.cores;
  const auto of = [&](const WaitBook& book, const char* what, ResourceRole role, const char* key,
                      std::uint64_t capacity) {
    return book.result({name(), what, role, "down", "write", key, capacity});
  };
  std::vector<WaitResult> all;
  if (senders_ > 0) {
    all.push_back(work_of_threads());
  }
  all.insert(all.end(),
             {of(place_waits_, "store_buffer", ResourceRole::kSlots, "host.cores.store_buffers",
                 cores.store_buffers),
              wait_for_credits(),
              of(room_waits_, "iio_writes", ResourceRole::kQueue, "host.cores.write_queue",
                 cores.write_queue),
              of(fence_waits_, "fence", ResourceRole::kSlots, "host.cores.fence", cores.threads),
              of(recovery_waits_, "recovery", ResourceRole::kSlots, "", cores.threads)});
  if (cores.sdma_from > 0) {
    const SdmaArea area = config_.engine.sdma_area(0);
    const bool is_memory = area.places() < area.entries / 2;
    all.push_back(of(ring_waits_, "sdma_ring", ResourceRole::kSlots,
                     is_memory ? "workload.buffer_size" : "device.pio.sdma.ring",
                     is_memory ? area.places() : area.entries));
  }
  return all;
}

}  // namespace flitwise
