// SPDX-License-Identifier: Apache-2.0
// The verbs of cores and software that feed PIO send memory, a row each.
#include <fmt/format.h>

#include "script/pio_script.h"

namespace flitwise {

/// What these verbs do. Thread t is thread t % 2 of core t / 2.
struct PioHostActions {
  static HostCore& core_of(PioScript& script, std::uint64_t thread) {
    return script.cores_[thread / HostCore::kThreads];
  }
  static unsigned thread_of(std::uint64_t thread) {
    return static_cast<unsigned>(thread % HostCore::kThreads);
  }
  static void write_out(PioScript& script, HostCore& core, const StoreBlock& block);
  static void settle(PioScript& script, HostCore& core);
  static bool refuses(PioScript& script, std::uint64_t address, std::size_t bytes);
  static void stall(PioScript& script, std::uint64_t thread, std::uint64_t address);

  static void core(PioScript& script, const PioLine& line);
  static void store(PioScript& script, const PioLine& line);
  static void fence(PioScript& script, const PioLine& line);
  static void acknowledge(PioScript& script, const PioLine& line);
  static void evict(PioScript& script, const PioLine& line);
  static void look(PioScript& script, const PioLine& line);
  static void send(PioScript& script, const PioLine& line);
  static void store_packet(PioScript& script, const PioLine& line);
};

namespace {

using HostKind = PioArgument::Kind;

const PioArgument kHostCore{"core", HostKind::kNumber, 0, PioScript::kPioCores - 1};
const PioArgument kHostThread{"thread", HostKind::kNumber, 0,
                              PioScript::kPioCores* HostCore::kThreads - 1};

}  // namespace

void PioHostActions::write_out(PioScript& script, HostCore& core, const StoreBlock& block) {
  for (const StoreWrite& write : StoreWrites(block)) {
    script.engine_.write(static_cast<std::uint32_t>(write.address), write.data, write.bytes);
  }
  core.release(block);
}

// Without time, whatever may leave the store buffer has left it.
void PioHostActions::settle(PioScript& script, HostCore& core) {
  while (const StoreBlock* const block = core.next_to_write()) {
    write_out(script, core, *block);
  }
}

// What is no store is an error.
bool PioHostActions::refuses(PioScript& script, std::uint64_t address, std::size_t bytes) {
  const bool is_good = StoreBuffer::is_store(address, bytes);
  if (!is_good) {
    script.sink_({{"event", "error"},
                  {"kind", "pio_store_refused"},
                  {"detail", fmt::format("{} bytes at {} seen; expected 8, 16, 32 or 64 bytes from "
                                         "a multiple of 8 on, within one block of 64",
                                         bytes, json_value::hex_number(address))}});
  }
  return !is_good;
}

void PioHostActions::stall(PioScript& script, std::uint64_t thread, std::uint64_t address) {
  script.sink_(
      {{"event", "pio_stall"}, {"thread", thread}, {"addr", json_value::hex_number(address)}});
}

void PioHostActions::core(PioScript& script, const PioLine& line) {
  script.cores_[line.numbers[0]] =
      HostCore(static_cast<unsigned>(line.numbers[1]), static_cast<unsigned>(line.numbers[2]));
}

void PioHostActions::store(PioScript& script, const PioLine& line) {
  const std::uint64_t thread = line.numbers[0], address = line.numbers[1];
  if (refuses(script, address, line.bytes.size())) {
    return;
  }
  HostCore& core = core_of(script, thread);
  if (!core.store(thread_of(thread), address, line.bytes.data(), line.bytes.size())) {
    stall(script, thread, address);
  }
  settle(script, core);
}

void PioHostActions::fence(PioScript& script, const PioLine& line) {
  HostCore& core = core_of(script, line.numbers[0]);
  if (!core.fence(thread_of(line.numbers[0]))) {
    script.sink_({{"event", "pio_stall"}, {"thread", line.numbers[0]}});
  }
  settle(script, core);
}

void PioHostActions::acknowledge(PioScript& script, const PioLine& line) {
  HostCore& core = core_of(script, line.numbers[0]);
  if (core.is_fence_out(thread_of(line.numbers[0]))) {
    core.acknowledge(thread_of(line.numbers[0]));
    settle(script, core);
  }
}

void PioHostActions::evict(PioScript& script, const PioLine& line) {
  HostCore& core = script.cores_[line.numbers[0]];
  if (const StoreBlock* const block = core.buffer().oldest()) {
    write_out(script, core, *block);
    settle(script, core);
  }
}

void PioHostActions::look(PioScript& script, const PioLine& line) {
  const HostCore& core = script.cores_[line.numbers[0]];
  const StoreCounts& counts = core.buffer().counts();
  script.sink_({{"event", "pio_core"},
                {"core", line.numbers[0]},
                {"stores", counts.stores},
                {"whole_writes", counts.whole_writes},
                {"partial_writes", counts.partial_writes},
                {"held_bytes", core.buffer().held_bytes()},
                {"waiting", fmt::format("{} {}", core.waiting(0), core.waiting(1))},
                {"fenced", fmt::format("{:d} {:d}", core.is_fenced(0), core.is_fenced(1))},
                {"fences", core.fences()},
                {"stalls", core.stalls()}});
}

void PioHostActions::send(PioScript& script, const PioLine& line) {
  const std::uint64_t thread = line.numbers[0];
  const auto context = static_cast<unsigned>(line.numbers[1]);
  const auto blocks = static_cast<unsigned>(line.numbers[2]);
  SenderCredits& credits = script.credits_[context];
  if (!credits.may_fill(blocks)) {
    const unsigned threshold = script.engine_.context(context).setup().threshold;
    script.sink_({{"event", "pio_wait"},
                  {"ctx", context},
                  {"blocks", blocks},
                  {"available", credits.available()},
                  {"needs_force", credits.needs_force(blocks, threshold)}});
    return;
  }
  // Each block leaves when it is full, so that one free block is enough for all of them.
  const HostCore& core = core_of(script, thread);
  if (!core.is_idle(thread_of(thread)) || core.buffer().held_blocks() == core.buffer().blocks()) {
    stall(script, thread, encode_window({false, context, credits.next_block(), 0}));
    return;
  }
  store_packet(script, line);
  credits.fill(blocks);
}

// REQUIRES: the thread is idle, and a block is free.
void PioHostActions::store_packet(PioScript& script, const PioLine& line) {
  const std::uint64_t thread = line.numbers[0];
  const auto context = static_cast<unsigned>(line.numbers[1]);
  const auto blocks = static_cast<unsigned>(line.numbers[2]);
  const auto store_bytes = static_cast<unsigned>(line.numbers[5]);
  const SenderCredits& credits = script.credits_[context];
  HostCore& core = core_of(script, thread);
  const std::uint64_t pbc =
      encode(pbc_of_blocks(blocks, static_cast<unsigned>(line.numbers[3]), line.numbers[4] != 0));
  std::array<std::uint8_t, kSendBlockBytes> bytes{};
  for (unsigned i = 0; i < blocks; ++i) {
    for (unsigned byte = 0; byte < bytes.size(); ++byte) {
      const bool is_pbc = i == 0 && byte < kQwBytes;
      bytes[byte] = static_cast<std::uint8_t>(is_pbc ? pbc >> 8 * byte : i * 8 + byte / kQwBytes);
    }
    const unsigned slot = (credits.next_block() + i) % credits.depth();
    const std::uint64_t address = encode_window({i == 0, context, slot, 0});
    for (unsigned byte = 0; byte < bytes.size(); byte += store_bytes) {
      core.store(thread_of(thread), address + byte, bytes.data() + byte, store_bytes);
    }
    settle(script, core);
  }
}

std::vector<PioVerb> pio_host_verbs() {
  const PioArgument context{"ctx", HostKind::kNumber, 0, kSendContexts - 1};
  return {{"core",
           {kHostCore,
            {"blocks", HostKind::kNumber, 1, StoreBuffer::kMostBlocks},
            {"window", HostKind::kNumber, 0, HostCore::kMostWaiting}},
           PioHostActions::core},
          {"store",
           {kHostThread,
            {"addr", HostKind::kNumber, 0, 2 * kPioWindowBytes - 1},
            {"hex", HostKind::kHex, 1, kSendBlockBytes}},
           PioHostActions::store},
          {"sfence", {kHostThread}, PioHostActions::fence},
          {"ack", {kHostThread}, PioHostActions::acknowledge},
          {"evict", {kHostCore}, PioHostActions::evict},
          {"core_counts", {kHostCore}, PioHostActions::look},
          {"send",
           {kHostThread,
            context,
            {"blocks", HostKind::kNumber, 1, kMostPacketBlocks},
            {"vl", HostKind::kNumber, 0, kManagementVl},
            {"credit_return", HostKind::kFlag},
            {"store_bytes", HostKind::kPower, kQwBytes, kSendBlockBytes}},
           PioHostActions::send}};
}

}  // namespace flitwise
