// SPDX-License-Identifier: Apache-2.0
#include "pio/pio_engine.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "endpoint/bar_access.h"
#include "flitwise/link_socket.h"
#include "pio/packet_stamp.h"

namespace flitwise {
namespace {

constexpr std::size_t kMostReadBytes = 4096;

unsigned group_exponent(unsigned contexts) {
  return static_cast<unsigned>(__builtin_ctz(contexts));
}

}  // namespace

PioEngine::PioEngine(const sc_core::sc_module_name& name, std::string device,
                     const PioEngineConfig& config, std::function<void()> work_appeared)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      work_appeared_(std::move(work_appeared)),
      wakeup_("wakeup", config.pio.timing.clock),
      port_(config.pio.egress.rate_gbps, config.pio.egress.buffer) {
  wakeup_.wakes("work", [this] { work(); });
  rules_.set_launch_fifo_packets(config.pio.egress.launch_fifo);
  rules_.set_coalescing(true);
  for (unsigned set = 0; set < kContextSets; ++set) {
    rules_.set_group(set, group_exponent(config.pio.group));
  }
  unsigned base = 0;
  for (unsigned context = 0; context < config.contexts; ++context) {
    const unsigned depth = config.depth_of(context);
    rules_.set_up(context, {base, depth, static_cast<std::uint16_t>(config.pio.threshold),
                            config.pio.early_return, false});
    rules_.set_return_address(context,
                              config.shadow_of(context) / kSendBlockBytes * kSendBlockBytes);
    base += depth;
  }
  const auto& egress = config.pio.egress;
  if (egress.stall > Time{}) {
    port_.stall(queue_of_vl(egress.stalled_vl), egress.stall_from,
                egress.stall_from + egress.stall);
  }
  for (std::uint32_t slot = kReturnSlots; slot > 0; --slot) {
    free_slots_.push_back(slot - 1);
  }
}

void PioEngine::claim(BarMap& map) {
  map.claim({kPioWindow, kPioWindowBytes, 0, 1}, *this, kWindow);
  map.claim({kPioForce, kSendContexts * std::uint64_t{kQwBytes}, 0, 1}, *this, kForce);
}

// What is not a run of QWs within one block is refused by its shape, whatever its bytes.
void PioEngine::mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                           Time now) {
  const bool is_force = place.region == kForce;
  Arrival arrival;
  arrival.is_force = is_force;
  arrival.offset = static_cast<std::uint32_t>(place.offset - (is_force ? kPioForce : kPioWindow));
  arrival.bytes = static_cast<std::uint32_t>(size);
  std::copy_n(bytes, std::min<std::size_t>(size, kSendBlockBytes), arrival.data.begin());
  totals_.posted_writes += is_force ? 0 : 1;
  written_bytes_ += is_force ? 0 : size;
  const Time due = now + config_.pio.timing.crossing;
  arrivals_.add(arrival, due);
  wakeup_.at(due);
}

// The window is for writing. [PIO-12.26]
void PioEngine::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  std::array<std::uint8_t, kMostReadBytes> ones;
  ones.fill(0xff);
  ++window_reads_;
  access.answer(read, ones.data(), now);
}

void PioEngine::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  while (arrivals_.is_due(now)) {
    const Arrival arrival = arrivals_.take();
    if (!arrival.is_force) {
      rules_.write(arrival.offset, arrival.data.data(), arrival.bytes);
    } else if (arrival.offset % kQwBytes == 0 && arrival.offset / kQwBytes < config_.contexts) {
      rules_.force(arrival.offset / kQwBytes, (arrival.data[0] & 1U) != 0);
    }
  }
  read_out(now);
  if (next_launch_ <= now && rules_.launch()) {
    next_launch_ = now + config_.pio.timing.clock;
  }
  arbitrate(now);
  note_returns(now);
  send(now);
  wakeup_.at(next_work(now));
}

void PioEngine::send(Time now) {
  port_.work(
      now, [this](Time ready, Time begin) { port_waits_.add(ready, begin); },
      [this](unsigned queue, std::uint32_t bytes, Time end) {
        lanes_ |= 1U << queue;
        ++totals_.packets;
        totals_.bytes += bytes;
        last_end_ = end;
      });
}

// The port goes on by itself: it is looked at where somebody waits for its room, and at the end.
Time PioEngine::next_work(Time now) const {
  const bool is_launching = rules_.next_source() != LaunchArbiter::kNone;
  Time next = arrivals_.next();
  if (is_reading()) {
    next = std::min(next, read_end_);
  } else if (lane_since_ == Time::never() && has_launched()) {
    next = std::min(next, now + config_.pio.timing.clock);
  }
  if (is_launching) {
    next = std::min(next, std::max(next_launch_, now + Time{1}));
  }
  if (lane_since_ != Time::never()) {
    return std::min(next, port_.next(now));
  }
  return next == Time::never() ? port_.drained(now) : next;
}

// The packet has been read out of send memory, a block in each clock.
void PioEngine::read_out(Time now) {
  if (!is_reading() || read_end_ > now) {
    return;
  }
  const unsigned vl = vl_of_queue(reading_);
  const LaunchedPacket packet = *rules_.leaving(vl);
  const Pbc pbc = rules_.pbc_of(packet);
  if (config_.checks_bytes) {
    check_packet(packet, pbc);
  }
  port_.put(reading_, pbc.wire_bytes(), read_end_ + config_.pio.timing.egress);
  cleared_blocks_ += packet.blocks;
  rules_.clear(vl);
  reading_ = kVlQueues;
}

// The lanes whose buffers have room for the blocks of the packet that goes next. [PIO-6.5, 6.6]
void PioEngine::arbitrate(Time now) {
  if (is_reading()) {
    return;
  }
  unsigned may_go = 0, waiting = 0;
  for (unsigned left = rules_.launch_fifos().filled(); left != 0; left &= left - 1) {
    const auto queue = static_cast<unsigned>(__builtin_ctz(left));
    const unsigned blocks = rules_.launch_fifos().front(vl_of_queue(queue)).blocks;
    (port_.has_room(queue, blocks * kSendBlockBytes) ? may_go : waiting) |= 1U << queue;
  }
  if ((may_go | waiting) == 0) {
    return;
  }
  const VlArbiter::Choice choice = rules_.next_vl(may_go);
  if (choice.queue == kVlQueues) {
    lane_since_ = waiting != 0 ? std::min(lane_since_, now) : lane_since_;
    return;
  }
  if (lane_since_ != Time::never()) {
    lane_waits_.add(lane_since_, now);
    lane_since_ = Time::never();
  }
  rules_.arbitrate(true, may_go);
  const LaunchedPacket* const packet = rules_.leaving(vl_of_queue(choice.queue));
  if (packet != nullptr) {
    reading_ = choice.queue;
    read_end_ = now + config_.pio.timing.clock * packet->blocks;
  }
}

// Each context sends its packets of one VL in their order; whole, and none twice. [PIO-6.4]
void PioEngine::check_packet(const LaunchedPacket& packet, const Pbc& pbc) {
  const std::uint64_t qws = pbc.packet_bytes() / kQwBytes;
  if (qws == 0) {
    return;
  }
  const auto qw_at = [&](std::uint64_t place) {
    return boost::endian::load_little_u64(
        rules_.block_of(packet, static_cast<unsigned>(place / kQwBytes)) +
        place % kQwBytes * kQwBytes);
  };
  const PacketStamp stamp(qw_at(1));
  bool is_whole = stamp.context() == packet.source;
  for (std::uint64_t place = 2; place <= qws; ++place) {
    is_whole = is_whole && qw_at(place) == stamp.qw(place);
  }
  if (pbc.packet_bytes() % kQwBytes != 0) {  // one DW more
    is_whole = is_whole && static_cast<std::uint32_t>(qw_at(qws + 1)) ==
                               static_cast<std::uint32_t>(stamp.qw(qws + 1));
  }
  corrupted_ += is_whole ? 0 : 1;
  if (is_whole) {
    std::uint64_t& next = next_number_[packet.source * kVlQueues + queue_of_vl(packet.vl)];
    disordered_ += stamp.number() < next ? 1 : 0;
    next = stamp.number() + 1;
  }
}

void PioEngine::note_returns(Time now) {
  if (rules_.has_return() && return_ready_ == Time::never()) {
    return_ready_ = now + config_.pio.timing.crossing;
    work_appeared_();
  }
}

bool PioEngine::next(Time now, Transfer& transfer) {
  if (!rules_.has_return() || now < return_ready_ || free_slots_.empty()) {
    return false;
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  const CreditReturn& first = rules_.first_return();
  Return& one = returns_[slot];
  for (std::size_t i = 0; i < kContextsPerSet; ++i) {
    one[i] = boost::endian::native_to_little(first.qws[i]);
  }
  count(first);
  transfer = {};
  transfer.domain = DomainId{rules_.group_of_context(first.context).first};
  transfer.address = first.address;
  transfer.bytes = kSendBlockBytes;
  transfer.issue = transfer.ready = return_ready_;
  transfer.token = slot;
  transfer.counts = counts_;
  transfer.data = reinterpret_cast<const std::uint8_t*>(one.data());
  return_waits_.add(return_ready_, now);
  rules_.take_return();
  return_ready_ = rules_.has_return() ? now : Time::never();
  return true;
}

Time PioEngine::next_at() const {
  return free_slots_.empty() ? Time::never() : return_ready_;
}

void PioEngine::finished(const TransferEnd& end) {
  free_slots_.push_back(end.token);
}

void PioEngine::count(const CreditReturn& one) {
  const std::uint64_t causes = one.qws[one.context % kContextsPerSet];
  const bool is_early = rules_.context(one.context).setup().early_return;
  const auto has = [&](CreditBits bit) { return (causes & bit) != 0 ? 1U : 0U; };
  (is_early ? totals_.due_to_early : totals_.due_to_threshold) += has(kDueToThreshold);
  (is_early ? totals_.due_to_early : totals_.due_to_pbc) +=
      has(kDueToPbc) != 0 && !(is_early && has(kDueToThreshold) != 0) ? 1 : 0;
  totals_.due_to_force += has(kDueToForce);
  totals_.due_to_error += has(kDueToError);
}

bool PioEngine::is_quiet() const {
  return arrivals_.empty() && !is_reading() && port_.is_empty() && !rules_.has_return() &&
         free_slots_.size() == kReturnSlots && !has_launched() &&
         rules_.next_source() == LaunchArbiter::kNone;
}

std::string PioEngine::waits_for() const {
  std::string text;
  if (port_.waiting() > 0) {
    text += fmt::format("{} packets at the network port", port_.waiting());
  }
  if (rules_.has_return()) {
    text += fmt::format("{}credit returns that wait to be sent", text.empty() ? "" : ", ");
  }
  return text;
}

std::string PioEngine::waiting() const {
  const std::string text = waits_for();
  return text.empty() ? "" : fmt::format("{}: {}\n", name(), text);
}

void PioEngine::start_window() {
  const Time now = flitwise::now();
  send(now);
  before_ = totals_;
  lanes_ = 0;
  window_begin_ = now;
  returned_before_ = sum_of_contexts(&SendContext::returned);
  counts_ = true;
  for (WaitBook* const book : {&lane_waits_, &port_waits_, &return_waits_}) {
    book->start_window(now);
  }
}

std::uint64_t PioEngine::sum_of_contexts(std::uint64_t (SendContext::*counter)() const) const {
  std::uint64_t sum = 0;
  for (unsigned context = 0; context < config_.contexts; ++context) {
    sum += (rules_.context(context).*counter)();
  }
  return sum;
}

std::vector<WaitResult> PioEngine::waits() const {
  const auto& egress = config_.pio.egress;
  WaitResult port = port_waits_.result(
      {name(), "port", ResourceRole::kServer, "down", "write", "device.pio.egress.rate", 1});
  const Time window = std::min(window_end_, flitwise::now()) - window_begin_;
  const double bits = 8.0 * static_cast<double>(totals_.bytes - before_.bytes);
  port.busy = window > Time{} ? bits / egress.rate_gbps / window.ns() : 0;
  return {lane_waits_.result({name(), "transmit_buffer", ResourceRole::kQueue, "down", "write",
                              "device.pio.egress.buffer", egress.buffer}),
          port,
          return_waits_.result(
              {name(), "returns", ResourceRole::kQueue, "up", "", "", CreditReturnQueue::kMost})};
}

void PioEngine::report(RunResult& result) const {
  PioResult row;
  row.device = device_;
  row.packets = totals_.packets - before_.packets;
  row.bytes = totals_.bytes - before_.bytes;
  row.due_to_threshold = totals_.due_to_threshold - before_.due_to_threshold;
  row.due_to_pbc = totals_.due_to_pbc - before_.due_to_pbc;
  row.due_to_force = totals_.due_to_force - before_.due_to_force;
  row.due_to_early = totals_.due_to_early - before_.due_to_early;
  row.due_to_error = totals_.due_to_error - before_.due_to_error;
  row.posted_writes = totals_.posted_writes - before_.posted_writes;
  row.blocks = sum_of_contexts(&SendContext::freed) - returned_before_;
  row.returned = sum_of_contexts(&SendContext::returned) - returned_before_;
  row.pending = sum_of_contexts(&SendContext::pending);
  row.vls = static_cast<std::uint64_t>(__builtin_popcount(lanes_));
  row.errors = errors();
  RequestRoute& route = result.routes.emplace_back(route_);
  route.requests = row.packets;
  route.begin = window_begin_;
  route.end = std::min(window_end_, flitwise::now());
  result.rows<PioResult>().push_back(std::move(row));
}

Component::Counts PioEngine::errors() const {
  Counts all;
  for (unsigned context = 0; context < config_.contexts; ++context) {
    for (int i = 0; i < kSendErrors; ++i) {
      if (const auto error = static_cast<SendError>(i); rules_.context(context).has_error(error)) {
        ++all[name_of(error)];
      }
    }
  }
  if (rules_.bad_context_writes() > 0) {
    all["bad_context_write"] = rules_.bad_context_writes();
  }
  if (window_reads_ > 0) {
    all["window_read"] = window_reads_;
  }
  return all;
}

// With early return the packet that is being read out counts as free already.
std::vector<CheckResult> PioEngine::checks() const {
  const std::uint64_t freed = sum_of_contexts(&SendContext::freed);
  const bool is_early = config_.pio.early_return && is_reading();
  const std::uint64_t most =
      cleared_blocks_ + (is_early ? rules_.leaving(vl_of_queue(reading_))->blocks : 0U);
  const std::string own = device_ + ": ";
  return {{own + "packets of a context and VL left in order, with all their bytes",
           disordered_ + corrupted_ == 0,
           fmt::format("{} out of order, {} with wrong bytes", disordered_, corrupted_)},
          {own + "no more blocks are free than were cleared", freed <= most,
           fmt::format("{} free, {} cleared", freed, most)}};
}

// What a script writes by itself is not compared.
std::vector<CheckResult> PioEngine::checks_at_rest() const {
  const std::uint64_t freed = sum_of_contexts(&SendContext::freed);
  const Sent sent = sent_ ? sent_() : Sent{};
  const std::string own = device_ + ": ";
  std::vector<CheckResult> all = {{own + "cleared blocks are free", freed == cleared_blocks_,
                                   fmt::format("{} cleared, {} free", cleared_blocks_, freed)}};
  if (sent.packets > 0) {
    all.push_back({own + "bytes that cores wrote came to send memory", sent.bytes == written_bytes_,
                   fmt::format("{} written, {} came", sent.bytes, written_bytes_)});
    all.push_back({own + "packets that cores wrote left by the port",
                   sent.packets == totals_.packets,
                   fmt::format("{} written, {} left", sent.packets, totals_.packets)});
  }
  return all;
}

}  // namespace flitwise
