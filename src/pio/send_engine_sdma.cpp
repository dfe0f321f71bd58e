// SPDX-License-Identifier: Apache-2.0
// SDMA engines of the send engine: from rings to the queues that the launch arbiter looks at.
#include "pio/send_engine.h"

namespace flitwise {

// A count of blocks without a ring, for whoever looks at launch alone.
void SendEngine::sdma_fill(unsigned engine, unsigned blocks, unsigned vl) {
  if (!sdma_[engine].is_full()) {
    sdma_[engine].push(blocks, vl, 0);
    note_sdma_ready(engine);
  }
}

void SendEngine::sdma_set_up(unsigned engine, const SdmaSetup& setup) {
  rings_[engine].set_up(setup);
  sdma_[engine].clear_error();
  forget_sdma(engine);
}

void SendEngine::sdma_restart(unsigned engine) {
  if (rings_[engine].is_set_up()) {
    rings_[engine].restart();
    sdma_[engine].clear_error();
    forget_sdma(engine);
  }
}

void SendEngine::sdma_disable(unsigned engine) {
  rings_[engine].disable();
  forget_sdma(engine);
}

void SendEngine::sdma_write_tail(unsigned engine, std::uint64_t index) {
  rings_[engine].write_tail(index);
  note_sdma_ready(engine);
}

std::optional<SdmaRead> SendEngine::sdma_next_read(unsigned engine) {
  const std::optional<SdmaRead> read = rings_[engine].next_read();
  note_sdma_ready(engine);
  return read;
}

void SendEngine::sdma_finish(unsigned engine, std::uint64_t tag) {
  rings_[engine].finish(tag);
  admit_sdma(engine);
}

void SendEngine::sdma_take(unsigned engine, std::uint64_t tag, const std::uint8_t* data) {
  rings_[engine].take(tag, data);
  admit_sdma(engine);
}

void SendEngine::sdma_fail(unsigned engine, std::uint64_t tag) {
  rings_[engine].fail(tag);
  note_sdma_ready(engine);
}

// Complete packets of the ring go to its queue, as far as that has room.
void SendEngine::admit_sdma(unsigned engine) {
  SdmaQueue& queue = sdma_[engine];
  while (!queue.is_full()) {
    const std::optional<SdmaPacket> packet = rings_[engine].take_packet(queue.end_place());
    if (!packet) {
      break;
    }
    queue.push(packet->blocks, packet->vl, rings_[engine].life());
  }
  note_sdma_ready(engine);
}

void SendEngine::forget_sdma(unsigned engine) {
  sdma_[engine].drop_all();
  note_sdma_ready(engine);
}

// An engine that is halted launches nothing. [PIO-6.15]
void SendEngine::note_sdma_ready(unsigned engine) {
  launch_arbiter_.set_ready(kSendContexts + engine,
                            sdma_[engine].has_packet() && !rings_[engine].is_halted());
}

bool SendEngine::is_of_ring(const LaunchedPacket& packet) const {
  return packet.source >= kSendContexts && packet.life != 0 &&
         rings_[packet.source - kSendContexts].life() == packet.life;
}

}  // namespace flitwise
