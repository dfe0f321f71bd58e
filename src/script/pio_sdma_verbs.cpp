// SPDX-License-Identifier: Apache-2.0
// The verbs of SDMA rings, and the host memory that they read.
#include <fmt/format.h>

#include <limits>

#include "script/pio_script.h"

namespace flitwise {

struct PioSdmaActions {
  static void poke(PioScript& script, const PioLine& line);
  static void set_up(PioScript& script, const PioLine& line);
  static void size_buffer(PioScript& script, const PioLine& line);
  static void write_tail(PioScript& script, const PioLine& line);
  static void answer(PioScript& script, const PioLine& line);
  static void restart(PioScript& script, const PioLine& line);
  static void disable(PioScript& script, const PioLine& line);
  static void look(PioScript& script, const PioLine& line);
};

namespace {

using SdmaKind = PioArgument::Kind;

const PioArgument kPioEngine{"engine", SdmaKind::kNumber, 0, kSdmaEngines - 1};

PioArgument sdma_number(const char* name,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return {name, SdmaKind::kNumber, 0, most};
}
unsigned engine_of(const PioLine& line) {
  return static_cast<unsigned>(line.numbers[0]);
}

// "bad_length", or none. A packet that was dropped does not halt the engine. [PIO-12.34]
std::string sdma_errors_text(const SdmaRing& ring, bool has_dropped) {
  std::string text = has_dropped ? name_of(SendError::kDisallowedPacket) : "";
  for (int i = 0; i < kSdmaErrors; ++i) {
    const auto error = static_cast<SdmaError>(i);
    text += ring.has_error(error) ? std::string(text.empty() ? "" : " ") + name_of(error) : "";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void PioSdmaActions::poke(PioScript& script, const PioLine& line) {
  for (std::size_t i = 0; i < line.bytes.size(); ++i) {
    script.memory_[line.numbers[0] + i] = line.bytes[i];
  }
}

void PioSdmaActions::set_up(PioScript& script, const PioLine& line) {
  const unsigned engine = engine_of(line);
  const SdmaSetup setup{line.numbers[1], static_cast<unsigned>(line.numbers[2]), line.numbers[3],
                        script.sdma_[engine].buffer_blocks};
  const std::string flaw = SdmaRing::setup_flaw(setup);
  if (!flaw.empty()) {
    script.sink_({{"event", "error"},
                  {"kind", "pio_setup_refused"},
                  {"detail", fmt::format("engine {}: {}", engine, flaw)}});
    return;
  }
  script.engine_.sdma_set_up(engine, setup);
}

void PioSdmaActions::size_buffer(PioScript& script, const PioLine& line) {
  script.sdma_[engine_of(line)].buffer_blocks = static_cast<unsigned>(line.numbers[1]);
}

void PioSdmaActions::write_tail(PioScript& script, const PioLine& line) {
  script.engine_.sdma_write_tail(engine_of(line), line.numbers[1]);
}

// Bytes that nobody has written are 0.
void PioSdmaActions::answer(PioScript& script, const PioLine& line) {
  std::vector<SdmaRead>& reads = script.sdma_[engine_of(line)].reads;
  if (line.numbers[1] >= reads.size()) {
    return;
  }
  const auto which = reads.begin() + static_cast<std::ptrdiff_t>(line.numbers[1]);
  const SdmaRead read = *which;
  reads.erase(which);
  if (line.numbers[2] == 0) {
    script.engine_.sdma_fail(engine_of(line), read.tag);
    return;
  }
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < read.bytes; ++i) {
    const auto byte = script.memory_.find(read.address + i);
    bytes.push_back(byte == script.memory_.end() ? std::uint8_t{0} : byte->second);
  }
  script.engine_.sdma_take(engine_of(line), read.tag, bytes.data());
}

void PioSdmaActions::restart(PioScript& script, const PioLine& line) {
  script.engine_.sdma_restart(engine_of(line));
}

void PioSdmaActions::disable(PioScript& script, const PioLine& line) {
  script.engine_.sdma_disable(engine_of(line));
}

void PioSdmaActions::look(PioScript& script, const PioLine& line) {
  const SdmaRing& ring = script.engine_.sdma_ring(engine_of(line));
  const bool has_dropped = script.engine_.sdma(engine_of(line)).has_error();
  script.sink_({{"event", "sdma_engine"},
                {"engine", line.numbers[0]},
                {"running", ring.is_running()},
                {"errors", sdma_errors_text(ring, has_dropped)},
                {"head", ring.head()},
                {"waiting", ring.waiting()},
                {"reads", ring.reads_outstanding()},
                {"used_blocks", ring.used_blocks()},
                {"waits_for_room", ring.waits_for_room()}});
}

// Without time, all reads that can go out have gone out.
void PioScript::tell_sdma(unsigned engine) {
  while (const std::optional<SdmaRead> read = engine_.sdma_next_read(engine)) {
    sdma_[engine].reads.push_back(*read);
    if (form_ == Form::kLines) {
      sink_({{"sdma_read", {engine, read->address, read->bytes}}});
    } else {
      sink_({{"event", "sdma_read"},
             {"engine", engine},
             {"addr", json_value::hex_number(read->address)},
             {"bytes", read->bytes}});
    }
  }
  if (const std::optional<SdmaHeadWrite> write = engine_.sdma_take_head_write(engine)) {
    if (form_ == Form::kLines) {
      sink_({{"sdma_head", {engine, write->address, write->head, write->interrupts ? 1 : 0}}});
    } else {
      sink_({{"event", "sdma_head"},
             {"engine", engine},
             {"addr", json_value::hex_number(write->address)},
             {"head", write->head},
             {"interrupt", write->interrupts}});
    }
  }
}

std::vector<PioVerb> pio_sdma_verbs() {
  return {
      {"poke",
       {sdma_number("addr"), {"hex", SdmaKind::kHex, 1, kMostSdmaPacketBytes}},
       PioSdmaActions::poke},
      {"sdma_ring",
       {kPioEngine, sdma_number("base"), sdma_number("entries", 0xffff), sdma_number("head_addr")},
       PioSdmaActions::set_up},
      {"sdma_buffer",
       {kPioEngine, {"blocks", SdmaKind::kNumber, 1, SdmaRing::kMostBufferBlocks}},
       PioSdmaActions::size_buffer},
      {"sdma_tail", {kPioEngine, sdma_number("tail", 0xffff)}, PioSdmaActions::write_tail},
      {"sdma_answer",
       {kPioEngine, sdma_number("read", 0xffff), {"ok", SdmaKind::kFlag}},
       PioSdmaActions::answer},
      {"sdma_restart", {kPioEngine}, PioSdmaActions::restart},
      {"sdma_disable", {kPioEngine}, PioSdmaActions::disable},
      {"sdma_status", {kPioEngine}, PioSdmaActions::look}};
}

}  // namespace flitwise
