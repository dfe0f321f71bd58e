// SPDX-License-Identifier: Apache-2.0
#include "pio/send_context.h"

namespace flitwise {

void SendContext::set_up(SendMemory& memory, const SendContextSetup& setup) {
  if (has_setup()) {
    end_life();
  }
  memory_ = &memory;
  setup_ = setup;
  is_forced_ = false;
  barred_vls_ = 0;
  set_early_return(setup.early_return);
  begin_life();
  enable();
}

void SendContext::initialise() {
  end_life();
  begin_life();
}

void SendContext::end_life() {
  lost_packets_ += packets_to_launch();
  past_.launched += launched_;
  past_.returned += returned_;
}

void SendContext::begin_life() {
  memory_->clear(setup_.base, setup_.depth);
  assembly_.start(*memory_, setup_.base, setup_.depth);
  launched_ = freed_ = partly_free_ = returned_ = fill_place_ = freed_at_error_ = 0;
  errors_ = 0;
  ++life_;
}

// Those that are complete, and those whose PBC alone is here.
std::uint64_t SendContext::packets_to_launch() const {
  std::uint64_t packets = 0;
  for (std::uint64_t place = launched_; place < assembly_.done(); ++packets) {
    place += memory_->packet_at(assembly_.index_of(place)).blocks;
  }
  for (std::size_t index = setup_.base; index < setup_.base + setup_.depth; ++index) {
    const SendBlock& block = memory_->block(index);
    const bool has_sop = (block.sops & SendBlock::kSop) != 0;
    packets += block.is_begun() && has_sop && (block.qws & kPbcQw) != 0 ? 1 : 0;
    packets += memory_->has_waiting(index) && memory_->waiting(index).begins_packet() ? 1 : 0;
  }
  return packets;
}

void SendContext::halt(SendError error) {
  note_error(error);
  freed_at_error_ = freed();
}

void SendContext::set_early_return(bool is_on) {
  setup_.early_return = is_on;
  if (is_on && memory_ != nullptr) {
    memory_->keep_waiting_writes();
  }
}

bool SendContext::waits(unsigned slot) const {
  return memory_->block(setup_.base + slot).use == BlockUse::kDraining;
}

std::optional<SendError> SendContext::write(unsigned slot, const BlockWrite& write) {
  if (!waits(slot)) {
    return take(slot, write);
  }
  const std::size_t index = setup_.base + slot;
  const std::optional<SendError> flaw = flaw_of_waiting(index, write);
  if (flaw) {
    note_refused(write);
  } else {
    memory_->store_waiting(index, write);
  }
  return flaw;
}

std::optional<SendError> SendContext::flaw_of_waiting(std::size_t index,
                                                      const BlockWrite& write) const {
  const WaitingWrites& waiting = memory_->waiting(index);
  if ((waiting.qws & write.qws) != 0) {
    return SendError::kWriteOverflow;
  }
  if (waiting.qws != 0 && waiting.is_sop != write.is_sop) {
    return SendError::kInconsistentSop;
  }
  return std::nullopt;
}

std::optional<SendError> SendContext::take(unsigned slot, const BlockWrite& write) {
  if (const auto flaw = assembly_.flaw_of(slot, write)) {
    note_refused(write);
    return flaw;
  }
  assembly_.take(slot, write);
  std::optional<SendError> flaw = assembly_.head_flaw();
  while (!flaw && assembly_.is_head_complete()) {  // the packet behind it may be complete already
    assembly_.finish_head();
    flaw = assembly_.head_flaw();
  }
  return flaw;
}

const SendPacket* SendContext::to_launch() const {
  const bool may_launch = is_enabled_ && !is_halted() && launched_ < assembly_.done();
  return may_launch ? &memory_->packet_at(assembly_.index_of(launched_)) : nullptr;
}

FreedBlocks SendContext::release(std::uint64_t place) {
  memory_->packet_at(assembly_.index_of(place)).is_released = true;
  FreedBlocks freed;
  free_in_order(freed);
  return freed;
}

void SendContext::free_in_order(FreedBlocks& freed) {
  while (freed_ < launched_ && partly_free_ == 0) {  // else it cannot be released
    oldest_ = memory_->packet_at(assembly_.index_of(freed_));
    if (!oldest_.is_released) {
      for (; partly_free_ < oldest_.drained; ++partly_free_) {
        memory_->open(assembly_.index_of(freed_ + partly_free_));
      }
      freed.blocks += oldest_.drained;
      return;
    }
    open_or_drain(freed_, oldest_);
    freed.blocks += oldest_.blocks;
    freed.asks_for_return |= oldest_.returns_credits;
    freed_ += oldest_.blocks;
  }
}

FreedBlocks SendContext::drain_block(std::uint64_t place, unsigned index) {
  if (place > freed_) {
    SendPacket& packet = memory_->packet_at(assembly_.index_of(place));
    if (++packet.drained == packet.blocks) {
      packet.is_released = packet.is_drained = true;
    }
    return {};
  }
  memory_->open(assembly_.index_of(place + index));
  if (place < freed_) {
    return {};
  }
  if (partly_free_ == 0) {
    oldest_ = memory_->packet_at(assembly_.index_of(place));
  }
  FreedBlocks freed{1, false};
  if (++partly_free_ == oldest_.blocks) {
    freed.asks_for_return = oldest_.returns_credits;
    freed_ += oldest_.blocks;
    partly_free_ = 0;
    free_in_order(freed);
  }
  return freed;
}

FreedBlocks SendContext::drain(std::uint64_t place) {
  SendPacket& packet = memory_->packet_at(assembly_.index_of(place));
  packet.is_drained = true;
  if (place < freed_) {
    open_or_drain(place, packet);
    return {};
  }
  return release(place);
}

// Its blocks are free to be written, or will be when they have been read out. [PIO-7.5]
void SendContext::open_or_drain(std::uint64_t place, const SendPacket& packet) {
  for (unsigned i = 0; i < packet.blocks; ++i) {
    const std::size_t index = assembly_.index_of(place + i);
    if (packet.is_drained || i < packet.drained) {
      memory_->open(index);
    } else {
      memory_->block(index).use = BlockUse::kDraining;
    }
  }
}

std::optional<SendError> SendContext::write_waiting(std::uint64_t place, unsigned blocks) {
  std::optional<SendError> flaw;
  for (unsigned i = 0; i < blocks && !flaw; ++i) {
    const auto slot = static_cast<unsigned>((place + i) % setup_.depth);
    const std::size_t index = setup_.base + slot;
    if (!memory_->has_waiting(index)) {
      continue;
    }
    const WaitingWrites waiting = memory_->waiting(index);
    for (unsigned qw = 0; qw < kSendBlockBytes / kQwBytes && !flaw; ++qw) {
      const auto bit = static_cast<std::uint8_t>(1U << qw);
      if ((waiting.qws & bit) != 0) {
        flaw = take(slot, {bit, waiting.is_sop,
                           memory_->waiting_bytes(index) + std::size_t{qw} * kQwBytes});
      }
    }
    memory_->drop_waiting(index);
  }
  return flaw;
}

}  // namespace flitwise
