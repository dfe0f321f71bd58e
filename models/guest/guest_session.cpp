// SPDX-License-Identifier: Apache-2.0
// Time stands still while the guest runs, and passes while it waits.
#include "guest/guest_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/byte_vector.h"
#include "common/interrupt.h"
#include "flitwise/error.h"
#include "stats/progress_watch.h"

namespace flitwise {
namespace {

constexpr unsigned kCommands = 0, kInterrupts = 1;  // queues of a device
constexpr std::int64_t kFsPerNs = 1'000'000;
// The guest takes back what it was given when it hears of it, and looks by itself where it waits
// for a read. Its queues have 256 entries.
constexpr unsigned kMostUnheard = 64;
constexpr double kEndSeconds = 10;

}  // namespace

GuestSession::GuestSession(Machine& machine, GuestPlan plan)
    : machine_(machine),
      plan_(std::move(plan)),
      bus_(machine.bridge()),
      devices_(
          "pci", [this](VhostDevice& device, unsigned queue) { kicked(device, queue); },
          [this](const GuestMemory& memory) { take_memory(memory); }),
      messenger_(
          "msi", [this](VhostDevice& device, unsigned queue) { kicked(device, queue); },
          [this](const GuestMemory& memory) { take_memory(memory); }),
      peer_(
          plan_.folder, {&devices_, &messenger_},
          {[this] { return now_ns(); }, [this] { return process_->look() && !is_interrupted(); }}) {
  hear_interrupts();
}

void GuestSession::hear_interrupts() {
  const Time latency = machine_.config.host.timing.root_port;
  for (const auto& port : machine_.fabric().root_ports) {
    port->watch_memory([this, latency](const Packet& packet, std::uint64_t address) {
      if (address != kMsiAddress || packet.payload_bytes != 4) {
        return;
      }
      const auto data = static_cast<std::uint32_t>(little_endian(packet.payload.data(), 4));
      machine_.bridge().after(latency, [this, data] {
        messages_.push_back(data);
        sc_core::sc_pause();
      });
    });
  }
}

// Both devices hand over the same.
void GuestSession::take_memory(const GuestMemory& memory) {
  for (const GuestMemory::Mapped& one : memory.regions()) {
    if (!machine_.host(0).own_memory()->map(one.region.address, one.region.size, one.file.get(),
                                            one.region.offset)) {
      fail(fmt::format("the guest has memory at {:#x}, {:#x} bytes, outside of host.memory.size",
                       one.region.address, one.region.size));
    }
  }
}

void GuestSession::kicked(VhostDevice& device, unsigned queue) {
  if (queue == kCommands) {
    take_commands(device);
  } else {
    has_room_ = true;
  }
}

// A write is given back at once: its bytes have been taken.
void GuestSession::take_commands(VhostDevice& device) {
  Virtqueue& queue = device.queue(kCommands);
  while (std::optional<VirtqueueChain> chain = queue.take()) {
    std::optional<PciCommand> command =
        decode_pci_command(chain->readable, chain->writable_bytes());
    const bool is_ours =
        &device == &devices_ &&
        (command && (command->op == PciOp::kMmioRead || command->op == PciOp::kMmioWrite));
    if (!is_ours) {  // nobody is there
      queue.answer(*chain, std::vector<std::uint8_t>(chain->writable_bytes(), 0xff));
    } else if (command->is_read()) {
      unheard_ = 0;
      bus_.access(std::move(*command),
                  [&queue, chain = std::move(*chain)](const std::vector<std::uint8_t>& bytes) {
                    queue.answer(chain, bytes);
                  });
    } else {
      ++unheard_;
      queue.give_back(*chain, 0);
      bus_.access(std::move(*command), {});
    }
  }
}

// Rounded up: the simulation has been there when the guest gets there.
std::uint64_t GuestSession::now_ns() const {
  return static_cast<std::uint64_t>((now().fs + kFsPerNs - 1) / kFsPerNs);
}

Time GuestSession::wanted_time() const {
  constexpr auto kMost = static_cast<std::uint64_t>(kLongestRun.fs / kFsPerNs);
  return Time{static_cast<std::int64_t>(std::min(*peer_.wanted(), kMost)) * kFsPerNs};
}

void GuestSession::serve() {
  if (!peer_.serve_until_waiting(plan_.patience)) {
    fail(fmt::format("the guest has said nothing for {} s", plan_.patience.count()));
  }
}

// Interrupts first; then what the guest may take back.
void GuestSession::tell_guest() {
  Virtqueue& room = messenger_.queue(kInterrupts);
  bool is_told = false;
  while (has_news()) {
    const std::optional<VirtqueueChain> chain = room.take();
    has_room_ = chain.has_value();
    if (chain) {
      room.answer(*chain, encode_msi(kMsiAddress, messages_.front()));
      messages_.pop_front();
      ++interrupts_;
      is_told = true;
    }
  }
  bool is_heard =
      !is_told || !room.wants_calls() || peer_.call(messenger_, kInterrupts, plan_.patience);
  if (unheard_ >= kMostUnheard && devices_.queue(kCommands).wants_calls()) {
    unheard_ = 0;
    is_heard = is_heard && peer_.call(devices_, kCommands, plan_.patience);
  }
  if (!is_heard) {
    fail(fmt::format("the guest has not taken an interrupt for {} s", plan_.patience.count()));
  }
}

void GuestSession::run() {
  process_ = std::make_unique<GuestProcess>(plan_.words, plan_.folder, plan_.console);
  machine_.power_on();
  serve();
  while (!peer_.is_gone()) {
    tell_guest();
    if (peer_.is_gone() || is_interrupted()) {
      break;
    }
    if (!peer_.wanted()) {
      fail("the guest waits for no time");
    }
    const Time until = wanted_time();
    if (until >= kLongestRun && bus_.is_idle()) {
      fail("the guest sleeps for ever");
    }
    machine_.run_to(until, [this] { return has_news(); });
    if (now() >= until) {
      peer_.run(*peer_.wanted());
      serve();
    }
  }
  if (is_interrupted()) {
    throw Interrupted();
  }
  process_->wait(kEndSeconds);
  if (!process_->ended_well()) {
    fail("the guest " + process_->end_text());
  }
}

std::uint64_t GuestSession::flaws() const {
  std::uint64_t sum = 0;
  for (const VhostDevice* device : {&devices_, &messenger_}) {
    for (unsigned queue = 0; queue < VhostDevice::kQueues; ++queue) {
      sum += device->queue(queue).flaws();
    }
  }
  return sum;
}

void GuestSession::fail(const std::string& what) {
  process_->look();
  throw SimulationError(fmt::format("{}, at {} ns of simulated time; the last of its console:\n{}",
                                    what, now_ns(), process_->last_lines()));
}

}  // namespace flitwise
