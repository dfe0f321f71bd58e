// SPDX-License-Identifier: Apache-2.0
#include "pio/send_context.h"

namespace flitwise {

void SendContext::set_up(SendMemory& memory, const SendContextSetup& setup) {
  memory_ = &memory;
  setup_ = setup;
  is_forced_ = false;
  barred_vls_ = 0;
  set_early_return(setup.early_return);
  restart();
}

void SendContext::restart() {
  memory_->clear(setup_.base, setup_.depth);
  assembly_.start(*memory_, setup_.base, setup_.depth);
  launched_ = freed_ = returned_ = fill_place_ = freed_at_error_ = 0;
  errors_ = 0;
  ++life_;
  is_enabled_ = true;
}

void SendContext::halt(SendError error) {
  note_error(error);
  freed_at_error_ = freed_;
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
  const WaitingWrites& waiting = memory_->waiting(index);
  if ((waiting.qws & write.qws) != 0) {
    return SendError::kWriteOverflow;
  }
  if (waiting.qws != 0 && waiting.is_sop != write.is_sop) {
    return SendError::kInconsistentSop;
  }
  memory_->store_waiting(index, write);
  return std::nullopt;
}

std::optional<SendError> SendContext::take(unsigned slot, const BlockWrite& write) {
  if (const auto flaw = assembly_.flaw_of(slot, write)) {
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
  while (freed_ < launched_) {  // else it cannot be released
    const SendPacket& oldest = memory_->packet_at(assembly_.index_of(freed_));
    if (!oldest.is_released) {
      break;
    }
    open_or_drain(freed_, oldest);
    freed.blocks += oldest.blocks;
    freed.asks_for_return |= oldest.returns_credits;
    freed_ += oldest.blocks;
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
    if (packet.is_drained) {
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
