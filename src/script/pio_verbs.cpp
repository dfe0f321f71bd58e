// SPDX-License-Identifier: Apache-2.0
// The verbs of PIO send memory, a row each.
#include <fmt/format.h>

#include "script/pio_script.h"

namespace flitwise {

using PioNumbers = std::vector<std::uint64_t>;

/// What the verbs do.
struct PioActions {
  static SendEngine& engine(PioScript& script) { return script.engine_; }

  static void restart(PioScript& script, const PioLine& line);
  static void set_up(PioScript& script, const PioLine& line);
  static void commit(PioScript& script, const PioLine& line);
  static void arbitrate(PioScript& script, const PioLine& line);
  static void clear(PioScript& script, const PioLine& line);
  static void clear_block(PioScript& script, const PioLine& line);
  static void hold(PioScript& script, const PioLine& line);
  static void counts(PioScript& script, const PioLine& line);
  static void status(PioScript& script, const PioLine& line);
  static void block(PioScript& script, const PioLine& line);
};

namespace {

using PioKind = PioArgument::Kind;

const PioArgument kPioContext{"ctx", PioKind::kNumber, 0, kSendContexts - 1};
const PioArgument kPioBlocks{"blocks", PioKind::kNumber, 1, Pbc::kMostBlocks};
const PioArgument kPioVl{"vl", PioKind::kNumber, 0, kManagementVl};
const PioArgument kPioAddress{"return_addr", PioKind::kAddress};
const PioArgument kPioThreshold{"threshold", PioKind::kNumber, 0, kCreditRing - 1};
const PioArgument kPioIntact{"integrity_ok", PioKind::kFlag};
constexpr std::uint64_t kMostWriteBytes = 4096;  // of one TLP

PioArgument pio_flag(const char* name) {
  return {name, PioKind::kFlag};
}
PioArgument pio_number(const char* name, std::uint64_t most) {
  return {name, PioKind::kNumber, 0, most};
}
PioArgument pio_weights(const char* name) {
  return {name, PioKind::kPairs, 0, kDataVls - 1, kVlTableEntries, kMostVlWeight};
}

VlTable table_of(const PioNumbers& numbers, std::size_t first) {
  VlTable table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = {static_cast<std::uint8_t>(numbers[first + 2 * i]),
                static_cast<std::uint8_t>(numbers[first + 2 * i + 1])};
  }
  return table;
}

// "write_overflow disallowed_packet", or none.
std::string errors_text(const SendContext& context) {
  std::string text;
  for (int i = 0; i < kSendErrors; ++i) {
    const auto error = static_cast<SendError>(i);
    if (context.has_error(error)) {
      text += std::string(text.empty() ? "" : " ") + name_of(error);
    }
  }
  return text.empty() ? "none" : text;
}

template <void (SendEngine::*act)(unsigned, bool)>
void with_flag(PioScript& script, const PioLine& line) {
  (PioActions::engine(script).*act)(static_cast<unsigned>(line.numbers[0]), line.numbers[1] != 0);
}
template <void (SendEngine::*act)(unsigned, std::uint16_t)>
void with_number(PioScript& script, const PioLine& line) {
  (PioActions::engine(script).*act)(static_cast<unsigned>(line.numbers[0]),
                                    static_cast<std::uint16_t>(line.numbers[1]));
}
template <void (SendEngine::*act)(unsigned)>
void of_context(PioScript& script, const PioLine& line) {
  (PioActions::engine(script).*act)(static_cast<unsigned>(line.numbers[0]));
}

void program_sets(PioScript& script, const PioLine& line) {
  for (unsigned set = 0; set < kContextSets; ++set) {
    PioActions::engine(script).set_group(set, static_cast<unsigned>(line.numbers[set]));
  }
}
void program_address(PioScript& script, const PioLine& line) {
  PioActions::engine(script).set_return_address(static_cast<unsigned>(line.numbers[0]),
                                                line.numbers[1]);
}
void program_tables(PioScript& script, const PioLine& line) {
  PioActions::engine(script).set_vl_tables(
      {table_of(line.numbers, 0), table_of(line.numbers, std::size_t{2} * kVlTableEntries),
       static_cast<std::uint16_t>(line.numbers.back())});
}
void fill_packet(PioScript& script, const PioLine& line) {
  const PioNumbers& n = line.numbers;
  PioActions::engine(script).fill(static_cast<unsigned>(n[0]), static_cast<unsigned>(n[1]),
                                  static_cast<unsigned>(n[2]), n[3] != 0);
}
void fill_sdma(PioScript& script, const PioLine& line) {
  const PioNumbers& n = line.numbers;
  PioActions::engine(script).sdma_fill(static_cast<unsigned>(n[0]), static_cast<unsigned>(n[1]),
                                       static_cast<unsigned>(n[2]));
}
void write_window(PioScript& script, const PioLine& line) {
  PioActions::engine(script).write(static_cast<std::uint32_t>(line.numbers[0]), line.bytes.data(),
                                   line.bytes.size());
}
void size_fifos(PioScript& script, const PioLine& line) {
  PioActions::engine(script).set_launch_fifo_packets(line.numbers[0]);
}
void launch_one(PioScript& script, const PioLine& /*line*/) {
  PioActions::engine(script).launch();
}

}  // namespace

void PioActions::set_up(PioScript& script, const PioLine& line) {
  const PioNumbers& n = line.numbers;
  const auto context = static_cast<unsigned>(n[0]);
  const SendContextSetup setup{static_cast<unsigned>(n[1]), static_cast<unsigned>(n[2]),
                               static_cast<std::uint16_t>(n[3]), n[5] != 0, n[6] != 0};
  const std::string flaw = script.engine_.setup_flaw(context, setup);
  if (!flaw.empty()) {
    script.sink_({{"event", "error"},
                  {"kind", "pio_setup_refused"},
                  {"detail", fmt::format("context {}: {}", context, flaw)}});
    return;
  }
  script.engine_.set_up(context, setup);
  script.engine_.set_return_address(context, n[4]);
  script.credits_[context] = SenderCredits(setup.depth);
}

void PioActions::restart(PioScript& script, const PioLine& line) {
  const auto context = static_cast<unsigned>(line.numbers[0]);
  script.engine_.restart(context);
  script.credits_[context] = SenderCredits(script.credits_[context].depth());
}

void PioActions::commit(PioScript& script, const PioLine& line) {
  const auto vl = static_cast<unsigned>(line.numbers[0]);
  const bool was_busy = script.engine_.leaving(vl) != nullptr;
  script.engine_.commit(vl, line.numbers[1] != 0);
  if (const LaunchedPacket* const packet = script.engine_.leaving(vl); packet && !was_busy) {
    script.tell_committed(*packet);
  }
}

void PioActions::arbitrate(PioScript& script, const PioLine& line) {
  const unsigned queue = script.engine_.next_vl().queue;
  script.engine_.arbitrate(line.numbers[0] != 0);
  if (queue != kVlQueues) {
    if (const LaunchedPacket* const packet = script.engine_.leaving(vl_of_queue(queue))) {
      script.tell_committed(*packet);
    }
  }
}

void PioActions::clear(PioScript& script, const PioLine& line) {
  const auto vl = static_cast<unsigned>(line.numbers[0]);
  if (const LaunchedPacket* const packet = script.engine_.leaving(vl)) {
    script.tell_cleared(*packet);
    script.engine_.clear(vl);
  }
}

void PioActions::clear_block(PioScript& script, const PioLine& line) {
  const auto vl = static_cast<unsigned>(line.numbers[0]);
  const LaunchedPacket* const packet = script.engine_.leaving(vl);
  if (packet != nullptr && packet->cleared + 1 == packet->blocks) {
    script.tell_cleared(*packet);
  }
  script.engine_.clear_block(vl);
}

void PioActions::hold(PioScript& script, const PioLine& line) {
  script.holds_returns_ = line.numbers[0] != 0;
  script.engine_.set_coalescing(script.holds_returns_);
}

void PioActions::status(PioScript& script, const PioLine& line) {
  const auto number = static_cast<unsigned>(line.numbers[0]);
  const SendContext& context = script.engine_.context(number);
  script.sink_({{"event", "pio_context"},
                {"ctx", number},
                {"enabled", context.is_enabled()},
                {"halted", context.is_halted()},
                {"errors", errors_text(context)},
                {"free", context.freed() % kCreditRing},
                {"returned", context.returned() % kCreditRing},
                {"pending", context.pending()},
                {"packet_blocks", context.assembly().done()},
                {"next_slot", context.assembly().done() % context.assembly().depth()}});
}

void PioActions::counts(PioScript& script, const PioLine& /*line*/) {
  std::string engines;
  for (unsigned i = 0; i < kSdmaEngines; ++i) {
    if (script.engine_.sdma(i).has_error()) {
      engines += fmt::format("{}{}", engines.empty() ? "" : " ", kSendContexts + i);
    }
  }
  std::string launched;
  for (unsigned queue = 0; queue < kVlQueues; ++queue) {
    launched += fmt::format("{}{}", launched.empty() ? "" : " ",
                            script.engine_.launch_fifos().size(vl_of_queue(queue)));
  }
  script.sink_({{"event", "pio_counts"},
                {"launched", launched},
                {"bad_context_writes", script.engine_.bad_context_writes()},
                {"mixed_address_returns", script.engine_.mixed_address_returns()},
                {"unaddressed_returns", script.engine_.unaddressed_returns()},
                {"sdma_errors", engines.empty() ? "none" : engines}});
}

void PioActions::block(PioScript& script, const PioLine& line) {
  const std::size_t index = line.numbers[0];
  script.sink_(
      {{"event", "pio_block"},
       {"block", index},
       {"qws", json_value::hex_number(script.engine_.memory().block(index).qws)},
       {"hex", json_value::hex_bytes(script.engine_.memory().bytes(index), kSendBlockBytes)}});
}

std::vector<PioVerb> pio_device_verbs() {
  return {
      {"device", {{"groups", PioKind::kList, 0, kMostGroupExponent, kContextSets}}, program_sets},
      {"setup",
       {kPioContext, pio_number("base", 0xffff), pio_number("depth", 0xffff), kPioThreshold,
        kPioAddress, pio_flag("early_return"), pio_flag("credit_interrupt")},
       PioActions::set_up},
      {"cr_addr", {kPioContext, kPioAddress}, program_address},
      {"write",
       {pio_number("addr", 2 * kPioWindowBytes - 1), {"hex", PioKind::kHex, 1, kMostWriteBytes}},
       write_window},
      {"fill",
       {pio_number("ctx", kWindowContexts - 1), kPioBlocks, kPioVl, pio_flag("credit_return")},
       fill_packet},
      {"sdma_fill", {pio_number("engine", kSdmaEngines - 1), kPioBlocks, kPioVl}, fill_sdma},
      {"launch", {}, launch_one},
      {"commit", {kPioVl, kPioIntact}, PioActions::commit},
      {"arbitrate", {kPioIntact}, PioActions::arbitrate},
      {"clear", {kPioVl}, PioActions::clear},
      {"clear_block", {kPioVl}, PioActions::clear_block},
      {"force", {kPioContext, pio_flag("on")}, with_flag<&SendEngine::force>},
      {"set_thr", {kPioContext, kPioThreshold}, with_number<&SendEngine::set_threshold>},
      {"set_early", {kPioContext, pio_flag("on")}, with_flag<&SendEngine::set_early_return>},
      {"bar_vls",
       {kPioContext, pio_number("vls", 0xffff)},
       with_number<&SendEngine::set_barred_vls>},
      {"vl_tables",
       {pio_weights("high"), pio_weights("low"), pio_number("limit", kMostHighLimit)},
       program_tables},
      {"launch_fifo", {{"packets", PioKind::kNumber, 1, kSendMemoryBlocks}}, size_fifos},
      {"disable", {kPioContext}, of_context<&SendEngine::disable>},
      {"restart", {kPioContext}, PioActions::restart},
      {"hold", {pio_flag("on")}, PioActions::hold},
      {"status", {kPioContext}, PioActions::status},
      {"counts", {}, PioActions::counts},
      {"block", {pio_number("block", kSendMemoryBlocks - 1)}, PioActions::block}};
}

}  // namespace flitwise
