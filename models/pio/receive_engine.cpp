// SPDX-License-Identifier: Apache-2.0
#include "pio/receive_engine.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "common/ranges.h"

namespace flitwise {
namespace {

// QW `place` of a packet, from 1 on; what lies behind its end is 0.
std::uint64_t qw_of_packet(const std::vector<std::uint8_t>& bytes, std::uint64_t place) {
  std::array<std::uint8_t, kQwBytes> qw{};
  const std::size_t first = (place - 1) * kQwBytes;
  std::copy_n(bytes.data() + first, std::min<std::size_t>(kQwBytes, bytes.size() - first),
              qw.begin());
  return boost::endian::load_little_u64(qw.data());
}

HeaderFlags flags_of(std::uint32_t bytes, unsigned lane, const ReceiveQueue::Place& place) {
  return {static_cast<std::uint16_t>(bytes), static_cast<std::uint8_t>(vl_of_queue(lane)),
          place.number};
}

constexpr unsigned kFlags = ReceiveQueue::kEntryBytes - kQwBytes;  // in an entry

}  // namespace

ReceiveEngine::Hooks ReceiveEngine::hooks_at(Endpoint& endpoint, MemoryPort& memory,
                                             const NicPort& peer,
                                             std::function<bool()> are_writes_lost) {
  return {[&endpoint] { endpoint.wake(); }, [&peer] { return peer.sent(); },
          [&memory](std::uint64_t address, std::uint8_t* bytes, std::size_t size) {
            return memory.peek(address, bytes, size);
          },
          std::move(are_writes_lost)};
}

ReceiveEngine::ReceiveEngine(const sc_core::sc_module_name& name, std::string device,
                             const ReceiveConfig& config, NicPort& port, Hooks hooks)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      port_(port),
      hooks_(std::move(hooks)),
      wakeup_("wakeup", config.pio.timing.clock),
      last_(config.domains) {
  wakeup_.wakes("work", [this] { work(); });
  for (unsigned domain = 0; domain < config.domains; ++domain) {
    queues_.emplace_back(config.buffer_base + domain * config.buffer_size, config.buffer_size);
  }
  port.on_frame([this](Frame& frame) {
    arriving_.add(&frame, std::max(frame.last, flitwise::now()));
    wakeup_.at(arriving_.next());
  });
}

void ReceiveEngine::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  while (arriving_.is_due(now)) {
    receive(arriving_.take(), now);
  }
  wakeup_.at(arriving_.next());
}

// The parser takes one packet in each clock. A crossing later the DMA engine, in the clock of the
// PCIe interface, may write it.
void ReceiveEngine::receive(FrameRef frame, Time now) {
  Packet packet;
  packet.bytes = static_cast<std::uint32_t>(frame->bytes.size());
  if (config_.sender.has_stamp(frame->source)) {
    check_.note(frame->source, frame->lane, packet.bytes,
                [&](std::uint64_t place) { return qw_of_packet(frame->bytes, place); });
  }
  held_[frame->lane] += frame->wire_bytes;
  most_held_ = std::max(most_held_, held_[frame->lane]);
  ++totals_.packets;
  totals_.bytes += frame->wire_bytes;
  const Time begin = std::max(now, next_parse_);
  next_parse_ = begin + config_.pio.timing.clock;
  packet.ready = begin + config_.pio.receive.timing.parse + config_.pio.timing.crossing;
  packet.domain = frame->source % config_.domains;
  packet.place = queues_[packet.domain].take(packet.payload_bytes());
  packet.writes = packet.payload_bytes() > 0 ? 2 : 1;
  last_[packet.domain][packet.place.number % ReceiveQueue::kEntries] = {packet.place, frame->source,
                                                                        packet.bytes, frame->lane};

  frame->bytes.resize(packet.bytes + ReceiveQueue::kEntryBytes);
  std::uint8_t* const entry = frame->bytes.data() + packet.bytes;
  std::fill_n(entry, ReceiveQueue::kEntryBytes, std::uint8_t{0});
  std::copy_n(frame->bytes.data(), std::min(packet.bytes, ReceiveQueue::kHeaderBytes), entry);
  boost::endian::store_little_u64(entry + kFlags,
                                  flags_of(packet.bytes, frame->lane, packet.place).encode());
  packet.frame = std::move(frame);
  packets_.push(waiting_, packets_.open(std::move(packet)));
  hooks_.work_appeared();
}

// The payload, and behind it the header: who sees the entry finds the payload. [PIO-1.4]
bool ReceiveEngine::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
  }
  const std::uint32_t token = waiting_.first;
  Packet& packet = packets_[token];
  const bool is_header = packet.is_payload_given || packet.payload_bytes() == 0;
  transfer = {};
  transfer.domain = DomainId{packet.domain};
  transfer.issue = transfer.ready = packet.ready;
  transfer.token = token * 2 + (is_header ? 1 : 0);
  transfer.counts = counts_;
  if (is_header) {
    transfer.address = packet.place.entry;
    transfer.bytes = ReceiveQueue::kEntryBytes;
    transfer.data = packet.frame->bytes.data() + packet.bytes;
    waits_.add(packet.ready, now);
    packets_.pop(waiting_);
  } else {
    transfer.address = packet.place.payload;
    transfer.bytes = packet.payload_bytes();
    transfer.data = packet.frame->bytes.data() + ReceiveQueue::kHeaderBytes;
    packet.is_payload_given = true;
  }
  return true;
}

void ReceiveEngine::finished(const TransferEnd& end) {
  const std::uint32_t token = end.token / 2;
  const bool is_header = end.token % 2 != 0;
  Packet& packet = packets_[token];
  last_end_ = std::max(last_end_, end.when);
  if (end.status != TransferStatus::kDone) {
    ++(is_header ? dropped_headers_ : dropped_payloads_);
  } else if (is_header) {
    ++totals_.header_writes;
  } else {
    ++totals_.payload_writes;
    totals_.payload_bytes += packet.payload_bytes();
  }
  if (!is_header || packet.payload_bytes() == 0) {
    held_[packet.frame->lane] -= packet.frame->wire_bytes;
    port_.free(*packet.frame);
  }
  if (--packet.writes == 0) {
    packet.frame.reset();
    packets_.close(token);
  }
}

std::string ReceiveEngine::waits_for() const {
  return packets_.open_count() == 0
             ? ""
             : fmt::format("{} received packets that wait to be written", packets_.open_count());
}

std::string ReceiveEngine::waiting() const {
  std::string text;
  if (!arriving_.empty()) {
    text = fmt::format("{}: {} packets on the wire\n", name(), arriving_.size());
  }
  for (unsigned lane = 0; lane < kVlQueues; ++lane) {
    if (held_[lane] > 0) {
      text += fmt::format("{}: VL {} holds {} of {} bytes of its receive buffer\n", name(),
                          vl_of_queue(lane), held_[lane], config_.pio.receive.buffer);
    }
  }
  return text;
}

void ReceiveEngine::start_window() {
  before_ = totals_;
  waits_.start_window(flitwise::now());
  counts_ = true;
}

std::vector<WaitResult> ReceiveEngine::waits() const {
  return {waits_.result({name(), "receive_writes", ResourceRole::kQueue, "up", "write", "", 0})};
}

void ReceiveEngine::report(RunResult& result) const {
  PioReceiveResult row = totals_;
  row.device = device_;
  row.packets -= before_.packets;
  row.bytes -= before_.bytes;
  row.header_writes -= before_.header_writes;
  row.payload_writes -= before_.payload_writes;
  row.payload_bytes -= before_.payload_bytes;
  result.rows<PioReceiveResult>().push_back(std::move(row));
}

Component::Counts ReceiveEngine::errors() const {
  Counts all;
  if (const std::uint64_t dropped = dropped_headers_ + dropped_payloads_; dropped > 0) {
    all["receive_write_dropped"] = dropped;
  }
  return all;
}

std::vector<CheckResult> ReceiveEngine::checks() const {
  const std::string own = device_ + ": ";
  const std::uint64_t sent = hooks_.peer_sent();
  return {
      {own + "packets that the peer sent came, or are on the wire",
       sent == totals_.packets + arriving_.size(),
       fmt::format("{} sent, {} came, {} on the wire", sent, totals_.packets, arriving_.size())},
      {own + "packets came in order, with all their bytes",
       check_.disordered() + check_.corrupted() == 0,
       fmt::format("{} out of order, {} with wrong bytes", check_.disordered(),
                   check_.corrupted())},
      {own + "no lane held more than its receive buffer", most_held_ <= config_.pio.receive.buffer,
       fmt::format("{} of {} bytes", most_held_, config_.pio.receive.buffer)}};
}

// Entry and payload, as software would read them.
bool ReceiveEngine::is_in_memory(const Came& came) const {
  std::array<std::uint8_t, ReceiveQueue::kEntryBytes> entry{};
  std::vector<std::uint8_t> bytes(came.bytes);
  const std::uint32_t header = std::min(came.bytes, ReceiveQueue::kHeaderBytes);
  if (!hooks_.peek(came.place.entry, entry.data(), entry.size()) ||
      !hooks_.peek(came.place.payload, bytes.data() + header, came.bytes - header)) {
    return false;
  }
  std::copy_n(entry.begin(), header, bytes.begin());
  PacketCheck::Passed passed;
  PacketCheck::read(passed, came.source, came.bytes, 0, came.bytes / kQwBytes + 2,
                    [&](std::uint64_t place) { return qw_of_packet(bytes, place); });
  return passed.is_whole &&
         HeaderFlags::decode(boost::endian::load_little_u64(entry.data() + kFlags)) ==
             flags_of(came.bytes, came.lane, came.place);
}

// Of the packets whose entry and payload no later one was written over.
std::size_t ReceiveEngine::missing(unsigned domain) const {
  const std::uint32_t packets = queues_[domain].packets();
  const auto nth_last = [&](std::uint32_t n) -> const Came& {
    return last_[domain][(packets - n) % ReceiveQueue::kEntries];
  };
  std::size_t missing = 0;
  for (std::uint32_t n = 1; n <= std::min<std::uint32_t>(packets, ReceiveQueue::kEntries); ++n) {
    const Came& came = nth_last(n);
    bool is_whole = config_.sender.has_stamp(came.source);
    for (std::uint32_t later = 1; later < n; ++later) {
      const Came& over = nth_last(later);
      is_whole = is_whole && (over.payload_end() <= came.place.payload ||
                              over.place.payload >= came.payload_end());
    }
    missing += is_whole && !is_in_memory(came) ? 1 : 0;
  }
  return missing;
}

std::vector<CheckResult> ReceiveEngine::checks_at_rest() const {
  const std::string own = device_ + ": ";
  std::vector<CheckResult> all = {
      {own + "a header was written for each packet that came",
       totals_.header_writes + dropped_headers_ == totals_.packets,
       fmt::format("{} written, {} dropped, {} came", totals_.header_writes, dropped_headers_,
                   totals_.packets)}};
  const bool are_lost = dropped_headers_ + dropped_payloads_ > 0 || hooks_.are_writes_lost();
  if (config_.sender.checks_bytes && !are_lost) {
    std::size_t wrong = 0;
    for (unsigned domain = 0; domain < config_.domains; ++domain) {
      wrong += missing(domain);
    }
    all.push_back({own + "packets that no later one was written over are in memory, header and "
                         "payload",
                   wrong == 0, fmt::format("{} are not", wrong)});
  }
  return all;
}

}  // namespace flitwise
