// SPDX-License-Identifier: Apache-2.0
// Packets that go out, retry timers, and completions.
#include <algorithm>

#include "flitwise/link_socket.h"
#include "rdma/hca.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kBeatBytes = 64;

std::uint32_t beats_of(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + kBeatBytes - 1) / kBeatBytes);
}

}  // namespace

// It may have a packet to send, and is pinned until it has none. REQUIRES: it is pinned.
void Hca::ready(std::uint32_t pair) {
  if (!pairs_[pair].is_ready) {
    pairs_[pair].is_ready = true;
    pin(pair);
    ready_.push_back(pair);
  }
}

// The next packet of the queue pair whose turn it is; its payload is read. [VB-4]
bool Hca::make_packet(Time now) {
  const bool has_room = dma_memory_used_ + config_.rdma.mtu <= config_.rdma.dma_memory;
  memory_wait_.set(!ready_.empty() && !has_room, memory_waits_, now);
  if (ready_.empty() || !has_room || made_.size() >= config_.rdma.fifo) {
    return false;
  }
  const std::uint32_t number = ready_.front();
  ready_.pop_front();
  Pair& pair = pairs_[number];
  RdmaPacket packet;
  // Its answer to an atomic is not known before memory has told.
  const bool waits = atomic_ && atomic_->pair == number;
  if (waits || !pair.rules.next(packet)) {
    after_rules(number, now);
    pair.is_ready = false;
    release(number);
    return true;
  }
  after_rules(number, now);
  ready_.push_back(number);
  HcaBuilt made;
  made.frame = frames_->make(0);
  made.parts = make_frame(packet, config_.end, made.frame->bytes);
  made.frame->wire_bytes = wire_bytes_of(made.frame->bytes.size());
  made.payload_bytes = packet.payload_bytes;
  made.needs = info_of(packet.opcode).is_request() ? 0 : pair.last_payload;
  made.ready = now;
  std::uint8_t* into = made.frame->bytes.data() + made.parts.payload;
  if (const std::uint8_t* const bytes = commands_.take_payload(pair.payloads, packet)) {
    std::copy_n(bytes, packet.payload_bytes, into);
    packet.payload = {};
    made.payload_bytes = 0;  // in the memory for it
  }
  dma_memory_used_ += made.payload_bytes;
  for (const Sge& piece : packet.payload) {
    HcaDma::Job& read = dma_.make();
    read.kind = HcaDma::Kind::kPayload;
    read.queue_pair = number;
    read.address = piece.address;
    read.bytes = piece.bytes;
    read.into = into;
    read.needs = made.needs;  // a READ finds what was written before it
    read.tag = first_made_ + made_.size();
    into += piece.bytes;
    ++made.reads;
    dma_.start(read, now);
  }
  made_.push_back(std::move(made));
  return true;
}

// Payload that cannot be read ends its queue pair: nobody has the bytes.
void Hca::payload_came(const HcaDma::Job& job, Time now) {
  HcaBuilt& made = made_[job.tag - first_made_];
  --made.reads;
  if (!job.is_ok) {
    made.is_lost = true;
    pairs_[job.queue_pair].rules.modify(QpState::kError);
    after_rules(job.queue_pair, now);
  }
}

// In their order: answers once what they tell of has gone to memory. [HP-5]
bool Hca::build(Time now) {
  if (made_.empty() || made_.front().reads > 0 || build_.is_full() ||
      !dma_.is_payload_done(made_.front().needs)) {
    return false;
  }
  const std::uint32_t beats = beats_of(made_.front().frame->bytes.size());
  build_.push(std::move(made_.front()), now, beats, config_.rdma.timing.clock * beats);
  made_.pop_front();
  ++first_made_;
  return true;
}

// The port takes a frame when the one before it has left.
bool Hca::transmit(Time now) {
  if (!build_.is_due(now) || port_free_ > now) {
    return false;
  }
  const HcaBuilt built = build_.take();
  dma_memory_used_ -= built.payload_bytes;
  if (built.is_lost) {
    ++totals_.lost_packets;
    return true;
  }
  Frame& frame = *built.frame;
  seal_roce(frame.bytes.data(), built.parts);
  const Time span = config_.time_on_wire(frame.wire_bytes);
  port_free_ = now + span;
  port_busy_ += span;
  ++totals_.sent_frames;
  totals_.sent_bytes += frame.wire_bytes;
  port_->send(frame, port_free_);
  return true;
}

// What the rules have said by the way: completions, and times to wait.
void Hca::after_rules(std::uint32_t number, Time now) {
  Pair& pair = pairs_[number];
  for (CompletionQueue* const queue : {&sends_, &receives_}) {
    while (const auto done = queue->poll()) {
      complete_.push({*done, pair.last_payload}, now);
    }
  }
  if (pair.rules.state() == QpState::kError) {
    commands_.close_all(pair.commands);
    commands_.close_all(pair.payloads);
  }
  const RcRequester& requester = pair.rules.requester();
  if (pair.progress != requester.progress() || !requester.timer_runs()) {
    pair.progress = requester.progress();
    pair.progress_at = now;
  }
  if (config_.rdma.timeout > 0 && requester.timer_runs() && !pair.has_timer) {
    pair.has_timer = true;
    pair.progress_at = now;
    timers_.add({number, false}, now + config_.retry_time());
  }
  if (requester.waits_for_rnr() && !pair.waits_for_rnr) {
    pair.waits_for_rnr = true;
    timers_.add({number, true}, now + HcaConfig::kRnrSpan);
  }
}

// A retry timer that runs out too early, for there was progress, is set again. [LR-3] [VB-9]
bool Hca::run_timer(Time now) {
  if (!timers_.is_due(now)) {
    return false;
  }
  const HcaTimer timer = timers_.take();
  Pair& pair = pairs_[timer.pair];
  if (timer.is_rnr) {
    pair.waits_for_rnr = false;
    pair.rules.end_rnr_wait();
    kick(timer.pair, now);
    return true;
  }
  const Time due = pair.progress_at + config_.retry_time();
  pair.has_timer = pair.rules.requester().timer_runs();
  if (!pair.has_timer) {
    return true;
  }
  if (due > now) {
    timers_.add(timer, due);
    return true;
  }
  pair.rules.time_out();
  pair.has_timer = false;
  pair.progress_at = now;
  after_rules(timer.pair, now);
  kick(timer.pair, now);
  return true;
}

// Payload goes before what tells of it. [VB-6]
bool Hca::complete(Time now) {
  if (!complete_.is_due(now)) {
    return false;
  }
  const HcaTold told = complete_.take();
  std::uint64_t& index = completions_[told.completion.is_receive ? 1 : 0];
  HcaDma::Job& write = dma_.make();
  write.kind = HcaDma::Kind::kCompletion;
  write.is_read = false;
  write.address = config_.area(0).completion(told.completion.is_receive,
                                             static_cast<std::uint32_t>(index % config_.rdma.cq));
  write.bytes = config_.rdma.cqe;
  write.needs = told.needs;
  const CompletionEntry entry = encode(told.completion, phase_of_entry(index, config_.rdma.cq));
  write.own.assign(entry.begin(), entry.end());
  write.own.resize(config_.rdma.cqe);
  ++index;
  ++totals_.cqes;
  dma_.start(write, now);
  return true;
}

}  // namespace flitwise
