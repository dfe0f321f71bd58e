// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_packet_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/ranges.h"
#include "rdma/hca_dma.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kBeatBytes = 64;

std::uint32_t beats_of(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + kBeatBytes - 1) / kBeatBytes);
}

}  // namespace

void HcaPacketBuilder::ready(std::uint32_t pair, Time now) {
  if (!s_.pairs[pair].is_ready) {
    s_.pairs[pair].is_ready = true;
    s_.states.pin(pair);
    ready_.push(s_.config.place_of(pair), pair);
    ask_at(now);
  }
}

// What is behind goes first, so that there is room for what is before.
bool HcaPacketBuilder::run(Time now) {
  bool has_moved = false;
  while (transmit(now)) {
    has_moved = true;
  }
  while (build(now)) {
    has_moved = true;
  }
  while (make(now)) {
    has_moved = true;
  }
  return has_moved;
}

// Where something waits for room, or for payload to be in memory, any other stage may make it go
// on; the end of a read says so itself.
void HcaPacketBuilder::settle(Time now) {
  const bool waits_for_port =
      queue_.is_due(now) || !again_.empty() || (has_control() && s_.pairs.are_served());
  HcaStage::settle(now);
  const Time next = !waits_for_port ? queue_.next()
                    : port_->is_paused()
                        ? Time::never()
                        : port_->wire_free_at() - s_.config.rdma.timing.clock + Time{1};
  const bool waits_for_read =
      !made_.empty() && made_.front().reads > 0 && (ready_.empty() || s_.pairs.are_served());
  ask((ready_.empty() && made_.empty()) || waits_for_read ? next : now, next);
}

// The next packet of the queue pair whose turn it is; its payload is read. [VB-4]
bool HcaPacketBuilder::make(Time now) {
  const bool has_room = memory_used_ + s_.config.rdma.mtu <= s_.config.rdma.dma_memory;
  memory_wait_.set(!ready_.empty() && !has_room, memory_waits_, now);
  const bool is_full = made_.size() >= queue_.depth();
  reads_wait_.set(!ready_.empty() && has_room && is_full && made_.front().reads > 0, reads_waits_,
                  now);
  if (ready_.empty() || !s_.pairs.are_served() || !has_room || is_full) {
    return false;
  }
  HcaBuilt made;
  made.pair = ready_.take();
  HcaPair& pair = s_.pairs[made.pair];
  RdmaPacket packet;
  // Its answer to an atomic is not known before memory has told.
  const bool has_packet = !s_.receives.is_in_atomic(made.pair) && next_packet(made, packet, now);
  s_.outcomes.after_rules(made.pair, now);
  if (!has_packet) {
    pair.is_ready = false;
    s_.states.release(made.pair);
    return true;
  }
  ready_.push(s_.config.place_of(made.pair), made.pair);
  make_frame_of(packet, pair.peer, made);
  made.needs = info_of(packet.opcode).is_request() ? 0 : pair.last_payload;
  read_payload(packet, made, now);
  make_room(made_);
  made_.push_back(std::move(made));
  queue_.hold(now);
  return true;
}

bool HcaPacketBuilder::next_packet(HcaBuilt& made, RdmaPacket& packet, Time now) {
  if (s_.carriers == nullptr) {
    return s_.pairs[made.pair].rules.next(packet, now);
  }
  const bool has_packet = s_.carriers->next_packet(made, packet, now);
  if (has_packet) {
    made.packet = s_.arrived.make(packet);
  }
  return has_packet;
}

// The one place that knows the addresses of both ends; of a session they are others.
void HcaPacketBuilder::make_frame_of(const RdmaPacket& packet, unsigned peer, HcaBuilt& made) {
  made.frame = frames_->make(0);
  made.parts = make_frame(packet, {s_.config.adapter, peer}, made.frame->bytes);
  made.frame->wire_bytes = wire_bytes_of(made.frame->bytes.size());
}

void HcaPacketBuilder::read_payload(const RdmaPacket& packet, HcaBuilt& made, Time now) {
  std::uint8_t* into = made.frame->bytes.data() + made.parts.payload;
  if (const std::uint8_t* const bytes =
          s_.commands.take_payload(s_.pairs[made.pair].payloads, packet)) {
    std::copy_n(bytes, packet.payload_bytes, into);
    return;  // it is in the memory for it
  }
  made.payload_bytes = packet.payload_bytes;
  memory_used_ += made.payload_bytes;
  for (const Sge& piece : packet.payload) {
    HcaJob& read = s_.dma.make(*this, HcaJobKind::kPayload, true);
    read.queue_pair = made.pair;
    read.address = piece.address;
    read.bytes = piece.bytes;
    read.into = into;
    read.needs = made.needs;  // a READ finds what was written before it
    read.tag = first_made_ + made_.size();
    into += piece.bytes;
    ++made.reads;
    s_.dma.start(read, now);
  }
}

// Payload that cannot be read ends its queue pair: nobody has the bytes.
void HcaPacketBuilder::done(HcaJob& job, Time now) {
  HcaBuilt& made = made_[job.tag - first_made_];
  --made.reads;
  ask_at(now);
  if (!job.is_ok) {
    made.is_lost = true;
  }
  if (!job.is_ok && !s_.pairs.is_down(job.queue_pair)) {
    s_.pairs[job.queue_pair].rules.modify(QpState::kError);
    s_.outcomes.after_rules(job.queue_pair, now);
  }
}

// In their order: answers once what they tell of has gone to memory. [HP-5]
bool HcaPacketBuilder::build(Time now) {
  if (made_.empty() || made_.front().reads > 0 || queue_.is_full() ||
      !s_.dma.is_payload_done(made_.front().needs)) {
    return false;
  }
  const std::uint32_t beats = beats_of(made_.front().frame->bytes.size());
  const unsigned choice =
      s_.carriers == nullptr ? 0 : s_.carriers->choice_clocks(made_.front().pair);
  queue_.let_go(now);  // its time there goes on in the queue
  push(std::move(made_.front()), now, beats, s_.config.rdma.timing.clock * (beats + choice));
  made_.pop_front();
  ++first_made_;
  return true;
}

// The port takes a frame at the last clock before it is free, to begin with it right then, unless
// its peer keeps it from that. Control messages go first. [CC-6]
bool HcaPacketBuilder::transmit(Time now) {
  if (port_->is_paused() || port_->wire_free_at() >= now + s_.config.rdma.timing.clock) {
    return false;
  }
  if (has_control() && s_.pairs.are_served()) {
    transmit_control(now);
    return true;
  }
  if (again_.empty() && !queue_.is_due(now)) {
    return false;
  }
  HcaBuilt built = again_.empty() ? queue_.take(now) : std::move(again_.front());
  if (!again_.empty()) {
    again_.pop_front();
  }
  if (send(built, now)) {
    put_on_wire(*built.frame, now);
    if (forger_) {
      forger_->follow(built, *frames_, [&](Frame& forged) { put_on_wire(forged, now); });
    }
  }
  return true;
}

// Its frame is whole then. False: it does not leave, or later.
bool HcaPacketBuilder::send(HcaBuilt& built, Time now) {
  using Sent = HcaCarriers::Sent;
  Sent sent = Sent::kYes;
  if (built.is_lost || s_.pairs.is_down(built.pair)) {
    ++s_.totals.lost_packets;
    sent = Sent::kNo;
  } else if (s_.carriers != nullptr) {
    sent = s_.carriers->send(built, now);
  } else {
    seal_roce(built.frame->bytes.data(), built.parts);
  }
  if (sent == Sent::kLater) {
    parked_.push_back(std::move(built));
    return false;
  }
  memory_used_ -= built.payload_bytes;
  if (sent == Sent::kNo && s_.carriers != nullptr) {
    s_.carriers->drop(built);
  }
  return sent == Sent::kYes;
}

void HcaPacketBuilder::sessions_are_back(Time now) {
  if (!parked_.empty()) {
    std::move(parked_.begin(), parked_.end(), std::back_inserter(again_));
    parked_.clear();
    ask_at(now);
  }
}

void HcaPacketBuilder::transmit_control(Time now) {
  const FrameRef frame = frames_->make(0);
  s_.carriers->take_control(frame->bytes);
  frame->wire_bytes = wire_bytes_of(frame->bytes.size());
  put_on_wire(*frame, now);
}

void HcaPacketBuilder::put_on_wire(Frame& frame, Time now) {
  const Time span = s_.config.time_on_wire(frame.wire_bytes);
  port_busy_ += span;
  ++s_.totals.sent_frames;
  s_.totals.sent_bytes += frame.wire_bytes;
  port_->send(frame, std::max(port_->wire_free_at(), now) + span);
}

bool HcaPacketBuilder::holds(std::uint32_t place) const {
  const auto is_of_it = [&](const HcaBuilt& built) {
    return s_.config.place_of(built.pair) == place;
  };
  return any_of(made_, is_of_it) || queue_.has(is_of_it) || any_of(parked_, is_of_it) ||
         any_of(again_, is_of_it);
}

void HcaPacketBuilder::add_errors(std::map<std::string, std::uint64_t>& errors) const {
  errors["frame_forged"] += forged();
}

void HcaPacketBuilder::start_window(Time now) {
  HcaStage::start_window(now);
  memory_waits_.start_window(now);
  reads_waits_.start_window(now);
  window_begin_ = now;
  port_busy_ = Time{};
}

void HcaPacketBuilder::add_more_waits(const std::string& place, Time now,
                                      std::vector<WaitResult>& all) const {
  all.push_back(memory_waits_.result({place, "dma_memory", ResourceRole::kSlots, "down", "write",
                                      "device.rdma.dma_memory", s_.config.rdma.dma_memory}));
  all.push_back(reads_waits_.result({place, "payload_reads", ResourceRole::kSlots, "down", "write",
                                     "device.rdma.fifo", queue_.depth()}));
  WaitResult port{{place, "port", ResourceRole::kServer, "down", "write", s_.config.rate_key, 1}};
  const Time window = std::min(window_end_, now) - window_begin_;
  port.busy = window > Time{} ? std::min(port_busy_.ns() / window.ns(), 1.0) : 0;
  port.span = window;
  all.push_back(port);
}

}  // namespace flitwise
