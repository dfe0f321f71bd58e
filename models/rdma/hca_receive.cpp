// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_receive.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "rdma/hca_dma.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kWordBytes = 8;

bool takes_buffer(const RdmaPacket& packet) {
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  return info.is_request() &&
         (info.kind == RdmaPacketKind::kSend ? info.is_first : info.has_immediate);
}

}  // namespace

bool HcaReceive::run(Time now) {
  bool has_moved = false;
  while (release(now) || take(now)) {
    has_moved = true;
  }
  return has_moved;
}

// A packet that needs a receive buffer waits for the entry where software has posted one.
bool HcaReceive::waits_for_buffer(std::uint32_t number, bool takes_buffer, Time now) {
  HcaPair& pair = s_.pairs[number];
  const bool may_come = pair.receive.left() > 0 && !pair.receive.is_lost;
  if (!takes_buffer || !pair.buffers.empty() || !may_come) {
    return false;
  }
  s_.rings.read(number, true, now);
  return true;
}

bool HcaReceive::take(Time now) {
  if (!queue_.is_due(now) || releasing_ || atomic_ || !s_.entries.has_room() ||
      !s_.outcomes.has_room()) {
    return false;
  }
  HcaArrived& first = queue_.front();
  HcaPair& pair = s_.pairs[first.pair];
  const bool is_ahead = !buffers_.empty() && info_of(first.packet->opcode).is_request() &&
                        psn_distance(first.packet->psn, pair.rules.responder().expected()) > 0;
  if (waits_for_buffer(first.pair, takes_buffer(*first.packet) && !is_ahead, now)) {
    s_.totals.rq_misses += first.waits_for_entry ? 0 : 1;
    first.waits_for_entry = true;
    return false;
  }
  HcaArrived arrived = queue_.take(now);
  if (s_.carriers != nullptr) {
    s_.carriers->before_rules(arrived, now);
  }
  const bool was_held = is_ahead && pair.rules.held().contains(arrived.packet->psn);
  const RdmaEffect effect = pair.rules.receive(*arrived.packet, now, arrived.came);
  if (effect.kind == RdmaEffect::Kind::kSlowDown && s_.carriers != nullptr) {
    s_.carriers->slow_down(arrived, now);
  }
  if (is_ahead && !was_held && pair.rules.held().contains(arrived.packet->psn)) {
    hold(arrived, effect.kind != RdmaEffect::Kind::kHold);
  }
  begin_release(arrived.pair);
  place(arrived, effect, now);
  return true;
}

// ---- packets ahead of others [RX-2]

// The part of a READ that is asked for again may come ahead of the whole: the rules forget it then,
// and no frame waits for it.
void HcaReceive::hold(HcaArrived& arrived, bool is_placed) {
  ReorderBuffer& buffer = buffers_[arrived.pair];
  if (buffer.places.empty()) {
    std::size_t places = 1;
    while (places <= s_.pairs[arrived.pair].rules.setup().reorder_window) {
      places *= 2;
    }
    buffer.places.resize(places);
  }
  Held& held = buffer.at(arrived.packet->psn);
  let_go(arrived.pair, held);
  held.takes_buffer = takes_buffer(*arrived.packet);
  if (!is_placed && arrived.packet->payload_bytes > 0) {
    held.frame = arrived.frame;
    held.payload = arrived.payload;
    ++buffer.frames;
    ++held_frames_;
  }
  peak_held_ = std::max(peak_held_, buffer.frames);
}

void HcaReceive::let_go(std::uint32_t pair, Held& held) {
  const std::size_t frames = held.frame == nullptr ? 0 : 1;
  buffers_[pair].frames -= frames;
  held_frames_ -= frames;
  held = Held();
}

// The queue pair stays pinned.
void HcaReceive::begin_release(std::uint32_t pair) {
  if (!buffers_.empty() && !s_.pairs[pair].rules.held().empty()) {
    s_.states.pin(pair);
    releasing_ = pair;
  }
}

// The next packet that is in order now.
bool HcaReceive::release(Time now) {
  if (!releasing_ || atomic_ || !s_.entries.has_room() || !s_.outcomes.has_room()) {
    return false;
  }
  const std::uint32_t number = *releasing_;
  QueuePair& rules = s_.pairs[number].rules;
  const Psn expected = rules.responder().expected();
  RdmaPacket packet;
  RdmaEffect effect;
  if (rules.held().contains(expected)) {
    if (waits_for_buffer(number, buffers_[number].at(expected).takes_buffer, now)) {
      return false;
    }
    if (rules.release(packet, effect, now)) {
      HcaArrived arrived;
      arrived.packet = s_.arrived.make(packet);
      Held& held = buffers_[number].at(expected);
      arrived.pair = number;
      arrived.frame = held.frame;
      arrived.is_in_ram = false;
      arrived.payload = held.payload;
      let_go(number, held);
      s_.states.pin(number);
      place(arrived, effect, now);
      return true;
    }
  }
  releasing_.reset();
  s_.packets.ready(number, now);
  s_.states.release(number);
  return true;
}

void HcaReceive::drop_held(std::uint32_t pair) {
  if (!buffers_.empty() && buffers_[pair].frames > 0) {
    for (Held& held : buffers_[pair].places) {
      let_go(pair, held);
    }
  }
}

void HcaReceive::place(HcaArrived& arrived, const RdmaEffect& effect, Time now) {
  const std::uint32_t number = arrived.pair;
  HcaPair& pair = s_.pairs[number];
  HcaReceived received;
  received.pair = number;
  received.frame = arrived.frame;
  std::uint64_t left = effect.kind == RdmaEffect::Kind::kResult    ? kWordBytes
                       : effect.kind == RdmaEffect::Kind::kPayload ? effect.view.bytes()
                                                                   : 0;
  if (left == 0 && arrived.is_in_ram) {
    s_.frames.give_room(*arrived.frame);
  }
  const bool takes_entry = takes_buffer(*arrived.packet);
  const std::uint8_t* from = left == 0 ? nullptr : arrived.frame->bytes.data() + arrived.payload;
  for (const Sge& piece : effect.view) {
    if (left == 0 || piece.bytes == 0) {
      continue;
    }
    left -= piece.bytes;
    received.from = effect.kind == RdmaEffect::Kind::kResult ? nullptr : from;
    received.value = arrived.packet->original;
    received.target = piece;
    received.number = pair.last_payload = s_.dma.take_payload_number();
    received.is_last = left == 0 && arrived.is_in_ram;
    from += piece.bytes;
    s_.entries.place(received, takes_entry, now);
  }
  s_.outcomes.after_rules(number, now);
  if (effect.kind == RdmaEffect::Kind::kAtomic) {
    begin_atomic(arrived, effect, now);
    return;
  }
  s_.packets.ready(number, now);
  s_.states.release(number);
}

// The queue pair stays pinned.
void HcaReceive::begin_atomic(HcaArrived& arrived, const RdmaEffect& effect, Time now) {
  HcaJob& read = s_.dma.make(*this, HcaJobKind::kOperand, true);
  read.queue_pair = arrived.pair;
  read.address = effect.view.pieces[0].address;
  read.bytes = kWordBytes;
  read.needs = s_.pairs[arrived.pair].last_payload;
  s_.dma.start(read, now);
  atomic_ = std::move(arrived);
  atomic_use_.set(1, now);
}

void HcaReceive::done(HcaJob& job, Time now) {
  if (job.kind == HcaJobKind::kResult) {
    s_.dma.payload_done(job.tag);
  } else {
    finish_atomic(job, now);
  }
}

// One that cannot be read ends its queue pair.
void HcaReceive::finish_atomic(const HcaJob& job, Time now) {
  const HcaArrived arrived = std::move(*atomic_);
  HcaPair& pair = s_.pairs[job.queue_pair];
  const std::uint64_t original = boost::endian::load_little_u64(job.own.data());
  const bool is_down = s_.pairs.is_down(job.queue_pair);
  if (!is_down) {
    pair.rules.finish_atomic(original);
  }
  if (job.is_ok && !is_down) {
    HcaJob& write = s_.dma.make(*this, HcaJobKind::kResult, false);
    write.queue_pair = job.queue_pair;
    write.address = job.address;
    write.bytes = kWordBytes;
    write.own.resize(kWordBytes);
    boost::endian::store_little_u64(write.own.data(), atomic_result(*arrived.packet, original));
    write.tag = pair.last_payload = s_.dma.take_payload_number();
    s_.dma.start(write, now);
  } else if (!is_down) {
    pair.rules.modify(QpState::kError);
    s_.outcomes.after_rules(job.queue_pair, now);
  }
  atomic_.reset();
  atomic_use_.set(0, now);
  s_.packets.ready(job.queue_pair, now);
  s_.states.release(job.queue_pair);
}

void HcaReceive::start_window(Time now) {
  HcaStage::start_window(now);
  atomic_use_.start_window(now);
  window_begin_ = now;
}

void HcaReceive::end_window(Time when) {
  window_end_ = when;
  when == Time::never() ? atomic_use_.extend_window() : atomic_use_.end_window(when);
}

void HcaReceive::add_more_waits(const std::string& place, Time now,
                                std::vector<WaitResult>& all) const {
  WaitResult row{{place, "atomic", ResourceRole::kServer, "down", "write", "", 1}};
  row.busy = atomic_use_.mean(now);
  row.span = std::min(window_end_, now) - window_begin_;
  all.push_back(row);
}

std::string HcaReceive::waiting() const {
  std::string text = HcaStage::waiting();
  if (atomic_) {
    text +=
        (text.empty() ? "" : ", ") + fmt::format("an atomic of queue pair {} waits for host memory",
                                                 atomic_->pair + kFirstQueuePair);
  }
  return text;
}

}  // namespace flitwise
