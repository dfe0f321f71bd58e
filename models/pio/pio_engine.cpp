// SPDX-License-Identifier: Apache-2.0
#include "pio/pio_engine.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "endpoint/bar_access.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

constexpr std::size_t kMostReadBytes = 4096;

// What is counted from the start of the run, of which a result has the window.
constexpr std::uint64_t PioResult::*kCountsOfARun[] = {
    &PioResult::packets,       &PioResult::bytes,
    &PioResult::sdma_packets,  &PioResult::hostile_packets,
    &PioResult::lost_packets,  &PioResult::posted_writes,
    &PioResult::due_to_pbc,    &PioResult::due_to_threshold,
    &PioResult::due_to_force,  &PioResult::due_to_early,
    &PioResult::due_to_error,  &PioResult::coalesced_returns,
    &PioResult::return_writes, &PioResult::steered_returns,
    &PioResult::interrupts};

unsigned group_exponent(unsigned contexts) {
  return static_cast<unsigned>(__builtin_ctz(contexts));
}

}  // namespace

PioEngine::PioEngine(const sc_core::sc_module_name& name, std::string device,
                     const PioEngineConfig& config, std::function<void()> work_appeared)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      wakeup_("wakeup", config.pio.timing.clock),
      egress_(config_.pio, rules_, config.egress),
      returns_(rules_, config_, work_appeared),
      sdma_(config_, rules_, std::move(work_appeared), [this](Time when) { wakeup_.at(when); }),
      registers_(rules_, config.pio.timing.crossing) {
  wakeup_.wakes("work", [this] { work(); });
  for (unsigned set = 0; set < kContextSets; ++set) {
    rules_.set_group(set, group_exponent(config.pio.group));
  }
  set_up_contexts();
}

void PioEngine::set_up_contexts() {
  unsigned base = 0;
  for (unsigned context = 0; context < config_.contexts; ++context) {
    const unsigned depth = config_.depth_of(context);
    rules_.set_up(context, {base, depth, static_cast<std::uint16_t>(config_.pio.threshold),
                            config_.pio.early_return, false});
    rules_.set_return_address(context,
                              config_.shadow_of(context) / kSendBlockBytes * kSendBlockBytes);
    base += depth;
  }
}

// model: what software has programmed before the run stays, as if it did so again. [PIO-9.9]
void PioEngine::reset() {
  const Time now = flitwise::now();
  ++resets_;
  egress_.forget(now);
  set_up_contexts();
  for (unsigned context = 0; context < config_.contexts; ++context) {
    rules_.disable(context);
  }
  for (unsigned engine = 0; engine < config_.sdma_engines(); ++engine) {
    rules_.sdma_restart(engine);
    rules_.sdma_disable(engine);
  }
  while (!arrivals_.empty()) {
    const Arrival arrival = arrivals_.take();
    if (arrival.region == kWindow) {
      take(arrival, now);  // refused, and counted
    } else {
      registers_.lose();
    }
  }
  registers_.forget(now);
  returns_.forget();
  sdma_.forget();
  wakeup_.at(now);
}

bool PioEngine::restart_sdma() {
  if (!sdma_.is_quiet()) {
    return false;
  }
  egress_.forget_sdma();
  for (unsigned engine = 0; engine < config_.sdma_engines(); ++engine) {
    rules_.sdma_restart(engine);
  }
  return true;
}

void PioEngine::claim(BarMap& map) {
  map.claim({kPioWindow, kPioWindowBytes, 0, 1}, *this, kWindow);
  map.claim({kPioRegisters, SendRegisters::kBytes, 0, 1}, *this, kRegisters);
  map.claim({kSdmaTails, kSdmaEngines * std::uint64_t{kQwBytes}, 0, 1}, *this, kTails);
}

void PioEngine::connect(NicPort& port, FramePool& frames, FrameSender::Peer peer) {
  egress_.connect(port, frames, std::move(peer));
  port.on_room([this](const Frame& frame, Time when) {
    egress_.add_room(frame.lane, frame.wire_bytes, when);
    wakeup_.at(when);
  });
}

// What is not a run of QWs within one block is refused by its shape, whatever its bytes.
void PioEngine::mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                           Time now) {
  constexpr std::uint64_t kBegins[] = {kPioWindow, kPioRegisters, kSdmaTails};
  Arrival arrival;
  arrival.region = static_cast<Region>(place.region);
  arrival.offset = static_cast<std::uint32_t>(place.offset - kBegins[place.region]);
  arrival.bytes = static_cast<std::uint32_t>(size);
  std::copy_n(bytes, std::min<std::size_t>(size, kSendBlockBytes), arrival.data.begin());
  if (place.region == kWindow) {
    ++totals_.posted_writes;
    written_bytes_ += size;
  }
  const Time due = now + config_.pio.timing.crossing;
  arrivals_.add(arrival, due);
  wakeup_.at(due);
}

// The window is for writing. [PIO-12.26]
void PioEngine::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  if (read.place.region == kRegisters) {
    registers_.read(read, kPioRegisters, access, now);
    wakeup_.at(registers_.next());
    return;
  }
  std::array<std::uint8_t, kMostReadBytes> ones;
  ones.fill(0xff);
  ++window_reads_;
  access.answer(read, ones.data(), now);
}

void PioEngine::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  egress_.catch_up(now);
  while (arrivals_.is_due(now)) {
    take(arrivals_.take(), now);
  }
  registers_.work(now);
  egress_.work(now);
  returns_.note_returns(now);
  sdma_.work(now, egress_.take_cleared_engines());
  const Time next =
      std::min({arrivals_.next(), registers_.next(), egress_.next_work(now), sdma_.next_work()});
  wakeup_.at(next == Time::never() ? egress_.port_drained(now) : next);
}

// The tail of an engine takes a write of its first bytes; of other ones it takes none.
void PioEngine::take(const Arrival& arrival, Time now) {
  const std::uint32_t engine = arrival.offset / kQwBytes;
  if (arrival.region == kWindow) {
    rules_.write(arrival.offset, arrival.data.data(), arrival.bytes);
  } else if (arrival.region == kRegisters) {
    registers_.write(arrival.offset, arrival.data.data(), arrival.bytes);
  } else if (arrival.offset % kQwBytes == 0 && engine < config_.sdma_engines()) {
    sdma_.write_tail(engine, boost::endian::load_little_u64(arrival.data.data()), now);
  }
}

std::string PioEngine::waiting() const {
  std::vector<std::string> all = egress_.waits_for();
  if (const std::string returns = returns_.waits_for(); !returns.empty()) {
    all.push_back(returns);
  }
  if (const std::string sdma = sdma_.waits_for(); !sdma.empty()) {
    all.push_back(sdma);
  }
  return all.empty() ? "" : fmt::format("{}: {}\n", name(), fmt::join(all, ", "));
}

void PioEngine::start_window() {
  const Time now = flitwise::now();
  egress_.start_window(now);
  returns_.start_window(now);
  sdma_.start_window(now);
  before_ = totals();
  window_begin_ = now;
  returned_before_ = returned();
  counts_ = true;
}

// count(context), of all that are set up.
template <class Count>
std::uint64_t PioEngine::sum_of_contexts(Count count) const {
  std::uint64_t sum = 0;
  for (unsigned context = 0; context < config_.contexts; ++context) {
    sum += count(rules_.context(context));
  }
  return sum;
}

// Of all lives of contexts.
std::uint64_t PioEngine::returned() const {
  return sum_of_contexts(
      [](const SendContext& one) { return one.past().returned + one.returned(); });
}

// What was free and not returned when a life ended is forgotten.
std::uint64_t PioEngine::free_and_returned() const {
  return sum_of_contexts([](const SendContext& one) { return one.past().returned + one.freed(); });
}

// Packets that have left the port are known where somebody has looked at it.
std::uint64_t PioEngine::left_packets() const {
  const EgressCounts& counts = egress_.counts();
  return counts.packets - std::min(counts.packets, counts.hostile_packets);
}

std::uint64_t PioEngine::lost_packets() const {
  std::uint64_t sum = rules_.lost_sdma_packets() + egress_.forgotten_sdma();
  for (unsigned context = 0; context < config_.contexts; ++context) {
    sum += config_.egress.is_hostile(context) ? 0 : rules_.context(context).lost_packets();
  }
  return sum;
}

// Those of which a reset took not even the PBC to the device, once nothing is on its way.
std::uint64_t PioEngine::never_came() const {
  const PioSent sent = sent_ && resets_ > 0 ? sent_() : PioSent{};
  const std::uint64_t known = left_packets() + lost_packets();
  return sent.is_out && is_quiet() ? sent.packets - std::min(sent.packets, known) : 0;
}

std::vector<WaitResult> PioEngine::waits() const {
  const Time window = std::min(window_end_, flitwise::now()) - window_begin_;
  std::vector<WaitResult> all = egress_.waits(name(), window);
  all.push_back(returns_.waits(name()));
  for (WaitResult& one : sdma_.waits(name())) {
    all.push_back(std::move(one));
  }
  return all;
}

PioResult PioEngine::totals() const {
  PioResult sum = totals_;
  sum.packets = egress_.counts().packets;
  sum.bytes = egress_.counts().bytes;
  sum.sdma_packets = egress_.counts().sdma_packets;
  sum.hostile_packets = egress_.counts().hostile_packets;
  sum.lost_packets = lost_packets();
  const ReturnCounts& returns = rules_.return_counts();
  sum.due_to_threshold = returns.threshold;
  sum.due_to_pbc = returns.pbc;
  sum.due_to_force = returns.force;
  sum.due_to_early = returns.early;
  sum.due_to_error = returns.error;
  sum.coalesced_returns = returns.coalesced;
  sum.return_writes = returns.writes;
  sum.steered_returns = returns_.steered();
  sum.interrupts = returns_.interrupts();
  return sum;
}

void PioEngine::report_route(RunResult& result, const RequestRoute& route,
                             std::uint64_t packets) const {
  RequestRoute& used = result.routes.emplace_back(route);
  used.requests = packets;
  used.begin = window_begin_;
  used.end = std::min(window_end_, flitwise::now());
}

// Those that packets have left by: a row each, and how many they are.
std::uint64_t PioEngine::report_lanes(RunResult& result) const {
  std::uint64_t rows = 0, bytes = 0, contended = 0;
  for (unsigned queue = 0; queue < kVlQueues; ++queue) {
    bytes += egress_.lane(queue).bytes;
    contended += egress_.lane(queue).contended_bytes;
  }
  const auto share_of = [](std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  };
  for (unsigned queue = 0; queue < kVlQueues; ++queue) {
    const EgressLane& lane = egress_.lane(queue);
    if (lane.packets == 0) {
      continue;
    }
    PioVlResult row;
    row.device = device_;
    row.vl = std::to_string(vl_of_queue(queue));
    row.packets = lane.packets;
    row.bytes = lane.bytes;
    row.share = share_of(lane.bytes, bytes);
    row.contended_bytes = lane.contended_bytes;
    row.contended_share = share_of(lane.contended_bytes, contended);
    row.stalled = queue == queue_of_vl(config_.pio.egress.stalled_vl) ? egress_.stalled() : Time{};
    row.take(lane.latency);
    result.rows<PioVlResult>().push_back(std::move(row));
    ++rows;
  }
  return rows;
}

void PioEngine::report(RunResult& result) const {
  PioResult row = totals();
  row.device = device_;
  for (const auto count : kCountsOfARun) {
    row.*count -= before_.*count;
  }
  row.lost_packets += never_came();
  row.blocks = free_and_returned() - returned_before_;
  row.returned = returned() - returned_before_;
  row.pending = row.blocks - row.returned;
  row.take(egress_.latency());
  row.vls = report_lanes(result);
  row.errors = errors();
  report_route(result, route_, row.packets - row.sdma_packets);
  if (config_.uses_sdma) {
    report_route(result, sdma_route_, row.sdma_packets);
  }
  result.rows<PioResult>().push_back(std::move(row));
}

Component::Counts PioEngine::errors() const {
  Counts all;
  for (int i = 0; i < kSendErrors; ++i) {
    if (const auto error = static_cast<SendError>(i); rules_.errors(error) > 0) {
      all[name_of(error)] = rules_.errors(error);
    }
  }
  for (unsigned engine = 0; engine < config_.sdma_engines(); ++engine) {
    for (int i = 0; i < kSdmaErrors; ++i) {
      if (const auto error = static_cast<SdmaError>(i); rules_.sdma_ring(engine).has_error(error)) {
        ++all[std::string("sdma_") + name_of(error)];
      }
    }
  }
  if (rules_.lost_sdma_packets() > 0) {
    all["sdma_disallowed_packet"] = rules_.lost_sdma_packets();
  }
  if (rules_.bad_context_writes() > 0) {
    all["bad_context_write"] = rules_.bad_context_writes();
  }
  if (egress_.overtaken() > 0) {
    all["initialised_under_traffic"] = egress_.overtaken();
  }
  if (registers_.refused() > 0) {
    all["bad_register_access"] = registers_.refused();
  }
  if (window_reads_ > 0) {
    all["window_read"] = window_reads_;
  }
  return all;
}

// With early return the packet that is being read out counts as free already.
std::vector<CheckResult> PioEngine::checks() const {
  const std::uint64_t freed = free_and_returned();
  const std::uint64_t most = egress_.cleared_blocks() + rules_.dropped_blocks() +
                             (config_.pio.early_return ? egress_.reading_blocks() : 0U);
  const std::string own = device_ + ": ";
  return {{own + "packets of a context and VL left in order, with all their bytes",
           egress_.check().disordered() + egress_.check().corrupted() == 0,
           fmt::format("{} out of order, {} with wrong bytes", egress_.check().disordered(),
                       egress_.check().corrupted())},
          {own + "no more blocks are free than were cleared", freed <= most,
           fmt::format("{} free, {} cleared", freed, most)}};
}

// What a script writes by itself is not compared. What was launched before a context was
// initialised has left all the same. [PIO-12.36]
std::vector<CheckResult> PioEngine::checks_at_rest() const {
  const std::uint64_t freed =
      sum_of_contexts([](const SendContext& one) { return one.past().launched + one.freed(); });
  const std::uint64_t cleared = egress_.cleared_blocks() + rules_.dropped_blocks();
  const PioSent sent = sent_ ? sent_() : PioSent{};
  const std::string own = device_ + ": ";
  std::vector<CheckResult> all = {{own + "cleared blocks are free", freed == cleared,
                                   fmt::format("{} cleared, {} free", cleared, freed)}};
  all.push_back({own + "credit returns that were made were sent",
                 rules_.return_counts().writes == returns_.sent() + returns_.forgotten(),
                 fmt::format("{} made, {} sent", rules_.return_counts().writes, returns_.sent())});
  if (sent.packets > 0) {
    const bool came = resets_ > 0 ? sent.bytes >= written_bytes_ : sent.bytes == written_bytes_;
    all.push_back({own + "bytes that cores wrote came to send memory", came,
                   fmt::format("{} written, {} came", sent.bytes, written_bytes_)});
    const std::uint64_t left = left_packets();
    const std::uint64_t lost = lost_packets();
    const std::string halted = sdma_.waits_for();
    all.push_back({own + "packets that cores wrote left by the port or were lost with an error",
                   sent.packets >= left + lost &&
                       (sent.packets - left - lost) * kQwBytes <= sent.bytes - written_bytes_,
                   fmt::format("{} written, {} left, {} lost{}{}", sent.packets, left, lost,
                               halted.empty() ? "" : "; ", halted)});
  }
  return all;
}

}  // namespace flitwise
