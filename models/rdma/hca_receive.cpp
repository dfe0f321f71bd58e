// SPDX-License-Identifier: Apache-2.0
// Frames that come in, what the rules say of them, and what goes to host memory.
#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "flitwise/link_socket.h"
#include "rdma/hca.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kWordBytes = 8;

std::uint32_t beats_of_payload(std::uint32_t bytes) {
  return std::max(1U, (bytes + 63) / 64);
}

bool takes_buffer(const RdmaPacket& packet) {
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  return info.is_request() &&
         (info.kind == RdmaPacketKind::kSend ? info.is_first : info.has_immediate);
}

}  // namespace

void Hca::connect(NicPort& port, FramePool& frames, const Hca& peer) {
  port_ = &port;
  frames_ = &frames;
  peer_ = &peer;
  port.on_frame([this](Frame& frame) {
    arriving_.add(&frame, std::max(frame.last, flitwise::now()));
    wakeup_.at(arriving_.next());
  });
  port.on_room([](const Frame&, Time) {});  // the cable has no credits
}

void Hca::drop(const char* why, const Frame& frame) {
  ++drops_[why];
  give_room(frame);
}

// Nothing tells the peer to wait: a frame without room is lost. [HP-10]
bool Hca::take_frame(Time now) {
  if (!arriving_.is_due(now)) {
    return false;
  }
  const FrameRef frame = arriving_.take();
  ++totals_.received_frames;
  ram_used_ += frame->wire_bytes;
  if (ram_used_ > config_.rdma.payload_ram) {
    drop("payload_ram", *frame);
    return true;
  }
  peak_ram_ = std::max(peak_ram_, ram_used_);
  Arrived arrived;
  arrived.frame = frame;
  const std::uint32_t beats = (frame->wire_bytes + 63) / 64;
  check_.push(std::move(arrived), now, beats);
  return true;
}

// Checks that need no queue pair, and which one it is for. [RX-1]
bool Hca::check(Time now) {
  if (!check_.is_due(now) || fetch_.is_full()) {
    return false;
  }
  Arrived arrived = check_.take();
  const auto packet = packet_of(arrived.frame->bytes, arrived.parts);
  if (!packet || !packet->is_intact) {
    drop(packet ? name_of(QpCounter::kBadIcrc) : "not_roce", *arrived.frame);
    return true;
  }
  arrived.packet = *packet;
  arrived.pair = packet->queue_pair - kFirstQueuePair;
  if (arrived.pair >= config_.pairs) {
    drop(name_of(QpCounter::kBadQueuePair), *arrived.frame);
    return true;
  }
  fetch_.push(std::move(arrived), now);
  return true;
}

// One that needs a receive queue entry that software has posted, and the adapter has not read yet,
// waits for it. So do all while an atomic is carried out. [HP-5]
bool Hca::receive(Time now) {
  if (!receive_.is_due(now) || atomic_ || entry_.is_full()) {
    return false;
  }
  Arrived& first = receive_.front();
  Pair& pair = pairs_[first.pair];
  if (takes_buffer(first.packet) && pair.buffers.empty() && pair.receive.left() > 0) {
    totals_.rq_misses += first.waits_for_entry ? 0 : 1;
    first.waits_for_entry = true;
    read_ring(first.pair, true, now);
    return false;
  }
  Arrived arrived = receive_.take();
  const RdmaEffect effect = pair.rules.receive(arrived.packet);
  place(arrived, effect, now);
  return true;
}

void Hca::place(Arrived& arrived, const RdmaEffect& effect, Time now) {
  const std::uint32_t number = arrived.pair;
  Pair& pair = pairs_[number];
  HcaReceived received;
  received.pair = number;
  received.frame = arrived.frame;
  std::uint64_t left = effect.kind == RdmaEffect::Kind::kResult    ? kWordBytes
                       : effect.kind == RdmaEffect::Kind::kPayload ? effect.view.bytes()
                                                                   : 0;
  if (left == 0) {
    give_room(*arrived.frame);
  }
  const bool takes_entry = takes_buffer(arrived.packet);
  const std::uint8_t* from = arrived.frame->bytes.data() + arrived.parts.payload;
  for (const Sge& piece : effect.view) {
    if (left == 0 || piece.bytes == 0) {
      continue;
    }
    left -= piece.bytes;
    received.from = effect.kind == RdmaEffect::Kind::kResult ? nullptr : from;
    received.value = arrived.packet.original;
    received.target = piece;
    received.number = pair.last_payload = dma_.take_payload_number();
    received.is_last = left == 0;
    from += piece.bytes;
    entry_.push(received, now, 1, takes_entry ? config_.rdma.timing.entry : Time{});
  }
  after_rules(number, now);
  if (effect.kind == RdmaEffect::Kind::kAtomic) {
    HcaDma::Job& read = dma_.make();
    read.kind = HcaDma::Kind::kOperand;
    read.queue_pair = number;
    read.address = effect.view.pieces[0].address;
    read.bytes = kWordBytes;
    read.needs = pair.last_payload;
    dma_.start(read, now);
    atomic_ = std::move(arrived);  // which stays pinned
    return;
  }
  ready(number);
  release(number);
}

// One that cannot be read ends its queue pair.
void Hca::finish_atomic(const HcaDma::Job& job, Time now) {
  Arrived arrived = std::move(*atomic_);
  Pair& pair = pairs_[job.queue_pair];
  const std::uint64_t original = boost::endian::load_little_u64(job.own.data());
  pair.rules.finish_atomic(original);
  if (job.is_ok) {
    HcaDma::Job& write = dma_.make();
    write.kind = HcaDma::Kind::kResult;
    write.is_read = false;
    write.queue_pair = job.queue_pair;
    write.address = job.address;
    write.bytes = kWordBytes;
    write.own.resize(kWordBytes);
    boost::endian::store_little_u64(write.own.data(), atomic_result(arrived.packet, original));
    write.tag = pair.last_payload = dma_.take_payload_number();
    dma_.start(write, now);
  } else {
    pair.rules.modify(QpState::kError);
    after_rules(job.queue_pair, now);
  }
  atomic_.reset();
  ready(job.queue_pair);
  release(job.queue_pair);
}

// Keys have been held against it by the rules: what is left is its way to memory. [HP-7]
bool Hca::validate(Time now) {
  if (validate_.is_due(now)) {
    HcaReceived received = validate_.take();
    HcaDma::Job& write = dma_.make();
    write.kind = HcaDma::Kind::kReceived;
    write.is_read = false;
    write.queue_pair = received.pair;
    write.address = received.target.address;
    write.bytes = received.target.bytes;
    write.from = received.from;
    if (received.from == nullptr) {
      write.own.resize(kWordBytes);
      boost::endian::store_little_u64(write.own.data(), received.value);
    }
    write.tag = received.number;
    write.frame = std::move(received.frame);
    write.is_last = received.is_last;
    dma_.start(write, now);
    return true;
  }
  if (entry_.is_due(now) && !validate_.is_full()) {
    HcaReceived received = entry_.take();
    const std::uint32_t beats = beats_of_payload(received.target.bytes);
    validate_.push(std::move(received), now, beats);
    return true;
  }
  return false;
}

void Hca::placed(HcaDma::Job& job) {
  dma_.payload_done(job.tag);
  if (job.kind == HcaDma::Kind::kReceived) {
    totals_.placed_bytes += job.bytes;
    if (job.is_last) {
      give_room(*job.frame);
    }
    job.frame.reset();
  }
}

}  // namespace flitwise
