// SPDX-License-Identifier: Apache-2.0
// Registers, writes, launch and egress.
#include "pio/send_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/byte_vector.h"

namespace flitwise {
namespace {

// Its PBC alone keeps it out of every launch FIFO. [PIO-12.5, 12.24]
bool is_disallowed(const LaunchedPacket& packet) {
  return !is_vl(packet.vl) || packet.blocks > kMostPacketBlocks;
}

}  // namespace

SendEngine::SendEngine() : contexts_(kSendContexts), sdma_(kSdmaEngines), rings_(kSdmaEngines) {}

std::string SendEngine::setup_flaw(unsigned context, const SendContextSetup& setup) const {
  if (setup.depth == 0 || setup.depth > kMostContextBlocks) {
    return fmt::format("depth {} seen; expected 1 to {} blocks", setup.depth, kMostContextBlocks);
  }
  if (setup.base + setup.depth > kSendMemoryBlocks) {
    return fmt::format(
        "base {} and depth {} seen; expected up to {} blocks of send memory together", setup.base,
        setup.depth, kSendMemoryBlocks);
  }
  for (unsigned i = 0; i < kSendContexts; ++i) {
    const SendContextSetup& other = contexts_[i].setup();
    if (i != context && contexts_[i].is_enabled() && setup.base < other.base + other.depth &&
        other.base < setup.base + setup.depth) {
      return fmt::format(
          "base {} and depth {} seen; expected none of the blocks {} to {} of context {}",
          setup.base, setup.depth, other.base, other.base + other.depth - 1, i);
    }
  }
  return "";
}

void SendEngine::set_up(unsigned context, const SendContextSetup& setup) {
  contexts_[context].set_up(memory_, setup);
  note_ready(context);
}

void SendEngine::set_threshold(unsigned context, std::uint16_t blocks) {
  contexts_[context].set_threshold(blocks);
}

void SendEngine::set_early_return(unsigned context, bool is_on) {
  contexts_[context].set_early_return(is_on);
}

void SendEngine::set_barred_vls(unsigned context, std::uint16_t vls) {
  contexts_[context].set_barred_vls(vls);
}

void SendEngine::disable(unsigned context) {
  contexts_[context].disable();
  note_ready(context);
}

bool SendEngine::initialise(unsigned context) {
  const bool may_be = contexts_[context].has_setup() && !contexts_[context].is_enabled();
  if (may_be) {
    contexts_[context].initialise();
  }
  return may_be;
}

bool SendEngine::enable(unsigned context) {
  if (contexts_[context].has_setup()) {
    contexts_[context].enable();
    note_ready(context);
  }
  return contexts_[context].is_enabled();
}

void SendEngine::restart(unsigned context) {
  disable(context);
  if (initialise(context)) {
    enable(context);
  }
}

void SendEngine::note_ready(unsigned context) {
  launch_arbiter_.set_ready(context, contexts_[context].to_launch() != nullptr);
}

// The context is looked up first; then the checks run in the order of [PIO-9.3].
void SendEngine::write(std::uint32_t offset, const std::uint8_t* data, std::size_t bytes) {
  const WindowAddress address = decode_window(offset);
  const std::optional<std::uint8_t> qws = qws_of_write(address.byte, bytes);
  const BlockWrite write{qws.value_or(0), address.is_sop, data};
  if (address.context >= kSendContexts) {
    ++bad_context_writes_;
    return;
  }
  SendContext& context = contexts_[address.context];
  if (!context.is_enabled()) {
    ++bad_context_writes_;
    context.note_refused(write);
  } else if (context.is_halted()) {
    context.note_refused(write);  // [PIO-12.9]
  } else if (!qws) {
    fail(address.context, SendError::kWriteCrossesBoundary, 0);
  } else if (address.block >= context.setup().depth) {
    context.note_refused(write);
    fail(address.context, SendError::kWriteOutOfBounds, 0);
  } else {
    take_write(address.context, address.block, write);
  }
}

void SendEngine::take_write(unsigned context, unsigned slot, const BlockWrite& write) {
  const std::optional<SendError> flaw = contexts_[context].write(slot, write);
  if (flaw) {
    fail(context, *flaw, 0);
  }
  note_ready(context);
}

void SendEngine::fill(unsigned context, unsigned blocks, unsigned vl, bool returns_credits) {
  if (context >= kSendContexts || !contexts_[context].is_enabled()) {
    bad_context_writes_ += blocks;
    return;
  }
  SendContext& filled = contexts_[context];
  const Pbc pbc = pbc_of_blocks(blocks, vl, returns_credits);
  std::array<std::uint8_t, kSendBlockBytes> block{};
  for (unsigned byte = 0; byte < kQwBytes; ++byte) {
    block[byte] = static_cast<std::uint8_t>(encode(pbc) >> 8 * byte);
  }
  for (unsigned i = 0; i < blocks && !filled.is_halted(); ++i) {
    const auto slot = static_cast<unsigned>(filled.fill_place() % filled.setup().depth);
    filled.filled();
    take_write(context, slot, {SendBlock::kFull, i == 0, block.data()});
    std::fill(block.begin(), block.begin() + kQwBytes, std::uint8_t{0});
  }
}

// REQUIRES: the source is ready.
LaunchedPacket SendEngine::next_packet(unsigned source) const {
  LaunchedPacket packet;
  packet.source = static_cast<std::uint16_t>(source);
  if (source < kSendContexts) {
    const SendContext& context = contexts_[source];
    packet.blocks = context.to_launch()->blocks;
    packet.vl = context.to_launch()->vl;
    packet.life = context.life();
    packet.place = context.launch_place();
  } else {
    const SdmaQueue& queue = sdma_[source - kSendContexts];
    packet.blocks = static_cast<std::uint16_t>(queue.blocks());
    packet.vl = static_cast<std::uint8_t>(queue.vl());
    packet.life = queue.life();
    packet.place = queue.launch_place();
  }
  return packet;
}

unsigned SendEngine::next_source() const {
  return launch_arbiter_.next([this](unsigned source) {
    const LaunchedPacket packet = next_packet(source);
    return is_disallowed(packet) || !fifos_.is_full(packet.vl);
  });
}

bool SendEngine::holds_source() const {
  return fifos_.has_full() && launch_arbiter_.next([this](unsigned source) {
    const LaunchedPacket packet = next_packet(source);
    return !is_disallowed(packet) && fifos_.is_full(packet.vl);
  }) != LaunchArbiter::kNone;
}

bool SendEngine::launch() {
  const unsigned source = next_source();
  if (source == LaunchArbiter::kNone) {
    return false;
  }
  const LaunchedPacket packet = next_packet(source);
  launch_arbiter_.granted(source);
  if (source < kSendContexts) {
    contexts_[source].launch();
    note_ready(source);
  } else {
    sdma_[source - kSendContexts].launch();
    admit_sdma(source - kSendContexts);
  }
  if (is_disallowed(packet)) {
    drop(packet);
  } else {
    fifos_.push(packet);
  }
  return true;
}

VlArbiter::Choice SendEngine::next_vl(unsigned may_go) const {
  unsigned ready = fifos_.filled() & may_go;
  for (unsigned queue = 0; queue < kVlQueues; ++queue) {
    ready &= ~(leaving_[queue] ? 1U << queue : 0U);
  }
  return vl_arbiter_.choose(ready);
}

void SendEngine::arbitrate(bool is_intact, unsigned may_go) {
  const VlArbiter::Choice choice = next_vl(may_go);
  if (choice.queue != kVlQueues) {
    const unsigned vl = vl_of_queue(choice.queue);
    vl_arbiter_.granted(choice, fifos_.front(vl).blocks);
    begin_egress(vl, is_intact);
  }
}

void SendEngine::commit(unsigned vl, bool is_intact) {
  if (is_vl(vl) && !leaving_[queue_of_vl(vl)] && !fifos_.is_empty(vl)) {
    begin_egress(vl, is_intact);
  }
}

void SendEngine::begin_egress(unsigned vl, bool is_intact) {
  const LaunchedPacket packet = fifos_.front(vl);
  fifos_.pop(vl);
  const bool is_of_context = packet.source < kSendContexts;
  if (!is_intact || (is_of_context && (contexts_[packet.source].barred_vls() >> vl & 1U) != 0)) {
    drop(packet);
    return;
  }
  leaving_[queue_of_vl(vl)] = packet;
  if (is_of_this_life(packet) && contexts_[packet.source].setup().early_return) {
    const FreedBlocks freed = contexts_[packet.source].release(packet.place);
    return_credits(packet.source, causes_of(packet.source, freed), true);
  }
}

const LaunchedPacket* SendEngine::leaving(unsigned vl) const {
  const bool is_leaving = is_vl(vl) && leaving_[queue_of_vl(vl)].has_value();
  return is_leaving ? &*leaving_[queue_of_vl(vl)] : nullptr;
}

// All of it has left. The buffer of a ring is shared out by packets.
void SendEngine::end_egress(const LaunchedPacket& packet) {
  leaving_[queue_of_vl(packet.vl)].reset();
  if (packet.source < kSendContexts) {
    contexts_[packet.source].note_out(false);
  } else if (is_of_ring(packet)) {
    rings_[packet.source - kSendContexts].clear(packet.place);
  }
}

void SendEngine::clear(unsigned vl) {
  if (leaving(vl) == nullptr || leaving(vl)->cleared > 0) {
    clear_block(vl);
    return;
  }
  const LaunchedPacket packet = *leaving(vl);
  end_egress(packet);
  if (is_of_this_life(packet)) {
    note_drained(packet, 0, packet.blocks, contexts_[packet.source].drain(packet.place));
  }
}

void SendEngine::clear_block(unsigned vl) {
  if (leaving(vl) == nullptr) {
    return;
  }
  LaunchedPacket& leaving_now = *leaving_[queue_of_vl(vl)];
  const LaunchedPacket packet = leaving_now;
  if (++leaving_now.cleared == packet.blocks) {
    end_egress(packet);
  }
  if (is_of_this_life(packet)) {
    note_drained(packet, packet.cleared, 1,
                 contexts_[packet.source].drain_block(packet.place, packet.cleared));
  }
}

void SendEngine::forget_launched() {
  const auto forget = [this](const LaunchedPacket& packet) {
    if (packet.source < kSendContexts) {
      contexts_[packet.source].note_out(true);
      dropped_blocks_ += packet.blocks - packet.cleared;
    }
  };
  for (unsigned queue = 0; queue < kVlQueues; ++queue) {
    if (leaving_[queue]) {
      forget(*leaving_[queue]);
      leaving_[queue].reset();
    }
    for (const unsigned vl = vl_of_queue(queue); !fifos_.is_empty(vl); fifos_.pop(vl)) {
      forget(fifos_.front(vl));
    }
  }
}

// Blocks have been read out: credits, and writes that waited for them.
void SendEngine::note_drained(const LaunchedPacket& packet, unsigned first, unsigned blocks,
                              const FreedBlocks& freed) {
  SendContext& context = contexts_[packet.source];
  return_credits(packet.source, causes_of(packet.source, freed));
  if (context.is_enabled() && !context.is_halted()) {
    const std::optional<SendError> flaw = context.write_waiting(packet.place + first, blocks);
    if (flaw) {
      fail(packet.source, *flaw, 0);
    }
    note_ready(packet.source);
  }
}

bool SendEngine::is_of_this_life(const LaunchedPacket& packet) const {
  return packet.source < kSendContexts && contexts_[packet.source].life() == packet.life;
}

bool SendEngine::has_bytes(const LaunchedPacket& packet) const {
  return packet.cleared == 0 && is_alive(packet);
}

Pbc SendEngine::pbc_of(const LaunchedPacket& packet) const {
  if (packet.source >= kSendContexts) {
    return rings_[packet.source - kSendContexts].pbc_of(packet.place);
  }
  const PacketAssembly& assembly = contexts_[packet.source].assembly();
  return decode_pbc(little_endian(memory_.bytes(assembly.index_of(packet.place)), kQwBytes));
}

std::vector<std::uint8_t> SendEngine::bytes_of(const LaunchedPacket& packet) const {
  if (packet.source >= kSendContexts) {
    return rings_[packet.source - kSendContexts].bytes_of(packet.place);
  }
  const PacketAssembly& assembly = contexts_[packet.source].assembly();
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < packet.blocks; ++i) {
    const std::uint8_t* const block = memory_.bytes(assembly.index_of(packet.place + i));
    bytes.insert(bytes.end(), block + (i == 0 ? kQwBytes : 0U), block + kSendBlockBytes);
  }
  bytes.resize(pbc_of(packet).packet_bytes());
  return bytes;
}

}  // namespace flitwise
