// SPDX-License-Identifier: Apache-2.0
#include "pio/frame_sender.h"

#include <algorithm>
#include <utility>

#include "common/ranges.h"

namespace flitwise {

// Without the PBC, which is the first QW of the first block. [PIO-6.7]
void FrameSender::add(const LaunchedPacket& packet, const Pbc& pbc, const SendEngine& rules) {
  FrameRef frame = frames_.make(pbc.packet_bytes());
  frame->wire_bytes = pbc.wire_bytes();
  frame->source = packet.source;
  frame->lane = queue_of_vl(packet.vl);
  unsigned skipped = kQwBytes;
  std::size_t done = 0;
  for (unsigned block = 0; done < frame->bytes.size(); ++block) {
    const std::size_t bytes =
        std::min<std::size_t>(frame->bytes.size() - done, kSendBlockBytes - skipped);
    std::copy_n(rules.block_of(packet, block) + skipped, bytes, frame->bytes.data() + done);
    done += bytes;
    skipped = 0;
  }
  auto& lane = lanes_[frame->lane].frames;
  make_room(lane);
  lane.push_back(std::move(frame));
}

void FrameSender::start(const EgressPort::Start& packet) {
  auto& lane = lanes_[packet.queue].frames;
  const FrameRef frame = std::move(lane.front());
  lane.pop_front();
  waits_.add(packet.ready, packet.has_room);
  port_.send(*frame, packet.end);
}

}  // namespace flitwise
