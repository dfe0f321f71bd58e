// SPDX-License-Identifier: Apache-2.0
#include "pio/egress.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

namespace flitwise {

namespace {

VlTable table_of_weights(const VlWeights& weights) {
  VlTable table;
  std::transform(weights.begin(), weights.end(), table.begin(), [](const auto& entry) {
    return VlWeight{static_cast<std::uint8_t>(entry.first),
                    static_cast<std::uint8_t>(entry.second)};
  });
  return table;
}

}  // namespace

Egress::Egress(const PioConfig& config, SendEngine& rules, const PacketTraits& traits)
    : config_(config),
      rules_(rules),
      traits_(traits),
      random_(traits.seed),
      port_(config.egress.rate_gbps, config.egress.buffer),
      begun_(kSendMemoryBlocks, Time::never()) {
  rules_.set_launch_fifo_packets(config.egress.launch_fifo);
  if (!config.egress.high.empty() || !config.egress.low.empty()) {
    const VlTables tables = {table_of_weights(config.egress.high),
                             table_of_weights(config.egress.low),
                             static_cast<std::uint16_t>(config.egress.high_limit)};
    rules_.set_vl_tables(tables);
    port_.set_vl_tables(tables);
  }
}

void Egress::start(Time now) {
  if (config_.egress.stall > Time{}) {
    stall_from_ = now + config_.egress.stall_from;
    port_.stall(queue_of_vl(config_.egress.stalled_vl), stall_from_,
                stall_from_ + config_.egress.stall);
  }
}

void Egress::connect(NicPort& port, FramePool& frames, FrameSender::Peer peer) {
  port_.limit(peer.buffer);
  wire_.emplace(port, frames, std::move(peer));
}

void Egress::work(Time now) {
  read_out(now);
  send(now);  // whoever leaves makes room
  launch(now);
  arbitrate(now);
  note_hold(now);
  send(now);
}

void Egress::send(Time now) {
  port_.work(
      now,
      [this](const EgressPort::Start& packet) {
        port_waits_.add(std::max(packet.ready, packet.has_room), packet.begin);
        sending_.add(packet.begin, packet.end);
        note_start(packet);
        if (wire_) {
          wire_->start(packet);
        }
      },
      [this](unsigned queue, std::uint32_t bytes, Time begun, Time end) {
        EgressLane& lane = lanes_[queue];
        ++lane.packets;
        lane.bytes += bytes;
        ++counts_.packets;
        counts_.bytes += bytes;
        last_end_ = end;
        if (begun != Time::never()) {
          lane.latency.record(end - begun);
        }
      });
}

void Egress::note_start(const EgressPort::Start& packet) {
  const bool is_alone = (packet.lanes & (packet.lanes - 1)) == 0;
  lanes_[packet.queue].contended_bytes += is_alone ? 0 : packet.bytes;
  if (stall_from_ != Time::never() && packet.queue == queue_of_vl(config_.egress.stalled_vl)) {
    const Time waits = std::max({packet.ready, packet.has_room, packet.is_first});
    stalled_.add(std::max(waits, stall_from_),
                 std::min(packet.begin, stall_from_ + config_.egress.stall));
  }
}

LatencyHistogram Egress::latency() const {
  LatencyHistogram all;
  for (const EgressLane& lane : lanes_) {
    all.add(lane.latency);
  }
  return all;
}

// Does anybody see when the packet that is read has been read? Not where no packet waits behind it,
// no credits return with it, and no return waits that would tell of it: then whatever happens next
// looks first.
bool Egress::is_read_unseen() const {
  if (!is_reading() || wire_ || has_launched() || port_.may_stall() ||
      config_.clear == PioClear::kBlock || reading_.pbc.credit_return || rules_.has_return()) {
    return false;
  }
  const LaunchedPacket& packet = *rules_.leaving(vl_of_queue(reading_.queue));
  if (!rules_.is_of_this_life(packet)) {
    return false;
  }
  const SendContext& context = rules_.context(packet.source);
  const unsigned threshold = context.setup().threshold;
  return !context.setup().early_return &&
         (threshold == 0 || context.pending() + packet.blocks < threshold);
}

Time Egress::port_drained(Time now) const {
  return is_read_unseen() ? std::max(port_.drained_with(reading_.pbc.wire_bytes(),
                                                        reading_.end + config_.timing.egress),
                                     now)
                          : port_.drained(now);
}

// Without a peer the port goes on by itself: it is looked at where somebody waits for its room, and
// at the end.
Time Egress::next_work(Time now) const {
  Time next = Time::never();
  if (is_reading()) {
    next = is_read_unseen() ? next : reading_.end;
  } else if (!lane_wait_.is_open() && rules_.next_vl().queue != kVlQueues) {
    next = now + config_.timing.clock;  // what came before was dropped
  }
  if (rules_.next_source() != LaunchArbiter::kNone) {
    next = std::min(next, std::max(next_launch_, now + Time{1}));
  }
  return wire_ || lane_wait_.is_open() ? std::min(next, port_.next(now)) : next;
}

// One grant in each clock. [PIO-6.2]
void Egress::launch(Time now) {
  if (next_launch_ <= now && rules_.launch()) {
    next_launch_ = now + config_.timing.clock;
    launching_.add(now, next_launch_);
  }
}

void Egress::note_hold(Time now) {
  hold_wait_.set(rules_.holds_source(), fifo_waits_, now);
}

// The packet has been read out of send memory, a block in each clock, or the next block of it has.
// Where its context has been initialised meanwhile, its bytes are gone. [PIO-6.8, 12.25, 12.36]
void Egress::read_out(Time now) {
  const bool is_by_block = config_.clear == PioClear::kBlock;
  while (is_reading() && reading_.end <= now) {
    const unsigned vl = vl_of_queue(reading_.queue);
    const LaunchedPacket packet = *rules_.leaving(vl);
    const unsigned end = is_by_block ? packet.cleared + 1U : packet.blocks;
    const bool is_alive = rules_.is_alive(packet);
    reading_.is_known = reading_.is_known && is_alive;
    for (unsigned i = packet.cleared; reading_.is_known && i < end; ++i) {
      check_block(packet, i);
    }
    cleared_blocks_ += packet.source < kSendContexts ? end - packet.cleared : 0;
    is_by_block ? rules_.clear_block(vl) : rules_.clear(vl);
    if (end < packet.blocks) {
      reading_.end += config_.timing.clock;
      continue;
    }
    overtaken_ += is_alive ? 0 : 1;
    if (traits_.is_hostile(packet.source)) {
      ++counts_.hostile_packets;
    } else if (reading_.is_known) {
      check_.note(reading_.passed, packet.source, reading_.queue, reading_.pbc.packet_bytes());
    }
    if (packet.source >= kSendContexts) {
      cleared_engines_ |= 1U << (packet.source - kSendContexts);
      ++counts_.sdma_packets;
    }
    port_.put(reading_.queue, reading_.pbc.wire_bytes(), reading_.end + config_.timing.egress,
              reading_.begun);
    reading_ = {};
  }
}

unsigned Egress::reading_blocks() const {
  if (!is_reading()) {
    return 0;
  }
  const LaunchedPacket& packet = *rules_.leaving(vl_of_queue(reading_.queue));
  return packet.source < kSendContexts ? packet.blocks - packet.cleared : 0;
}

// The lanes whose buffers have room for the blocks of the packet that goes next. [PIO-6.5, 6.6]
void Egress::arbitrate(Time now) {
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
    if (waiting != 0) {
      lane_wait_.begin(now);
    }
    return;
  }
  lane_wait_.end(lane_waits_, now);
  const LaunchedPacket chosen = rules_.launch_fifos().front(vl_of_queue(choice.queue));
  const double faults = traits_.integrity_faults;
  rules_.arbitrate(faults == 0 || !random_.chance(faults), may_go);
  const LaunchedPacket* const packet = rules_.leaving(vl_of_queue(choice.queue));
  if (packet != nullptr) {
    const int blocks = config_.clear == PioClear::kBlock ? 1 : packet->blocks;
    reading_ = {choice.queue,
                now + config_.timing.clock * blocks,
                begin_of(*packet),
                rules_.pbc_of(*packet),
                {}};
    reading_.is_known = traits_.has_stamp(packet->source);
    reads_until_ = now + config_.timing.clock * packet->blocks;
    reading_out_.add(now, reads_until_);
    if (wire_) {
      wire_->add(*packet, reading_.pbc, rules_);
    }
  } else if (chosen.source >= kSendContexts) {
    sdma_begin_of(chosen);
  }
}

// Known before its blocks are free, and software begins another packet there.
Time Egress::begin_of(const LaunchedPacket& packet) {
  if (packet.source >= kSendContexts) {
    return sdma_begin_of(packet);
  }
  if (!rules_.is_of_this_life(packet)) {
    return Time::never();
  }
  Time& begun = begun_[rules_.context(packet.source).assembly().index_of(packet.place)];
  return std::exchange(begun, Time::never());
}

void Egress::sdma_begins(unsigned engine, unsigned blocks, Time when) {
  RingPackets& packets = sdma_begun_[engine];
  make_room(packets.waiting);
  packets.waiting.push_back({packets.end, when});
  packets.end += blocks;
  ++described_;
}

void Egress::forget(Time now) {
  read_out(now);
  if (is_reading()) {
    if (wire_) {
      wire_->drop_last(reading_.queue);
    }
    reading_ = {};
  }
  rules_.forget_launched();
  lane_wait_.end(lane_waits_, now);
  forget_sdma();
}

// Each packet that was described has been read out, was dropped, or is lost now.
void Egress::forget_sdma() {
  const std::uint64_t over = counts_.sdma_packets + rules_.lost_sdma_packets() + forgotten_sdma_;
  forgotten_sdma_ += described_ - std::min(described_, over);
  for (unsigned engine = 0; engine < kSdmaEngines; ++engine) {
    sdma_begun_[engine].waiting.clear();
    sdma_begun_[engine].end = rules_.sdma(engine).launch_place();
  }
}

// Packets of several VLs pass each other, but not by much.
Time Egress::sdma_begin_of(const LaunchedPacket& packet) {
  auto& waiting = sdma_begun_[packet.source - kSendContexts].waiting;
  RingPacket* const found =
      find_where(waiting, [&](const RingPacket& one) { return one.place == packet.place; });
  const Time begun = found != nullptr ? std::exchange(found->begun, Time::never()) : Time::never();
  while (!waiting.empty() && waiting.front().begun == Time::never()) {
    waiting.pop_front();
  }
  return begun;
}

// Its bytes are those of its stamp, which is the first QW behind the PBC.
void Egress::check_block(const LaunchedPacket& packet, unsigned index) {
  const std::uint8_t* const block = rules_.block_of(packet, index);
  const std::uint64_t first = std::uint64_t{index} * kQwsPerBlock;
  PacketCheck::read(reading_.passed, packet.source, reading_.pbc.packet_bytes(), first,
                    first + kQwsPerBlock, [block, first](std::uint64_t place) {
                      return boost::endian::load_little_u64(block + (place - first) * kQwBytes);
                    });
}

std::vector<std::string> Egress::waits_for() const {
  std::vector<std::string> all;
  if (!port_.is_empty()) {
    all.push_back(fmt::format("{} packets at the network port", port_.waiting()));
  }
  for (unsigned left = port_.lanes_without_room(); left != 0; left &= left - 1) {
    all.push_back(fmt::format("{} has no room for VL {}", wire_->peer().place,
                              vl_of_queue(static_cast<unsigned>(__builtin_ctz(left)))));
  }
  for (unsigned left = rules_.launch_fifos().filled(); left != 0; left &= left - 1) {
    const auto queue = static_cast<unsigned>(__builtin_ctz(left));
    const unsigned vl = vl_of_queue(queue);
    const bool is_starved =
        rules_.leaving(vl) == nullptr && rules_.next_vl(1U << queue).queue == kVlQueues;
    all.push_back(fmt::format("{} launched packets of VL {}{}", rules_.launch_fifos().size(vl), vl,
                              is_starved ? ", which has no weight in device.pio.egress" : ""));
  }
  return all;
}

void Egress::start_window(Time now) {
  read_out(now);
  send(now);
  lanes_ = {};
  for (WaitBook* const book : {&lane_waits_, &port_waits_, &fifo_waits_, &stalled_}) {
    book->start_window(now);
  }
  const std::array<std::pair<WaitBook*, Time>, 3> busy = {
      {{&launching_, next_launch_}, {&reading_out_, reads_until_}, {&sending_, port_.free_at()}}};
  for (const auto& [book, until] : busy) {
    book->start_window(now);
    book->add(now, until);  // what is under way
  }
  if (wire_) {
    wire_->start_window(now);
  }
}

// In the order of the way.
std::vector<WaitResult> Egress::waits(const std::string& place, Time window) const {
  const auto of = [&](const WaitBook& book, const char* what, ResourceRole role, const char* key,
                      std::uint64_t capacity) {
    return book.result({place, what, role, "down", "write", key, capacity});
  };
  // What is still under way at its end reaches beyond it.
  const auto server = [&](const WaitBook& book, const char* what, const char* key,
                          const WaitBook& busy) {
    WaitResult one = of(book, what, ResourceRole::kServer, key, 1);
    one.busy = window > Time{} ? std::min(busy.total().ns() / window.ns(), 1.0) : 0;
    one.span = window;
    return one;
  };
  std::vector<WaitResult> all = {of(fifo_waits_, "launch_fifo", ResourceRole::kSlots,
                                    "device.pio.egress.launch_fifo", config_.egress.launch_fifo),
                                 server({}, "launch", "device.pio.timing.clock", launching_),
                                 of(lane_waits_, "transmit_buffer", ResourceRole::kSlots,
                                    "device.pio.egress.buffer", config_.egress.buffer),
                                 server({}, "send_memory", "device.pio.timing.clock", reading_out_),
                                 server(port_waits_, "port", "device.pio.egress.rate", sending_)};
  if (wire_) {
    all.push_back(wire_->waits());
  }
  return all;
}

}  // namespace flitwise
