// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_packet_receiver.h"

#include <algorithm>
#include <string_view>

#include "flitwise/link_socket.h"

namespace flitwise {

void HcaPacketReceiver::connect(NicPort& port) {
  port.on_frame([this](Frame& frame) {
    arriving_.add(&frame, std::max(frame.last, flitwise::now()));
    ask_at(arriving_.next());
    came_(arriving_.next());
  });
  port.on_room([](const Frame&, Time) {});  // the cable has no credits
}

// What is behind goes first, so that there is room for what is before.
bool HcaPacketReceiver::run(Time now) {
  bool has_moved = false;
  while (check(now)) {
    has_moved = true;
  }
  for (; arriving_.is_due(now); has_moved = true) {
    take_frame(now);
  }
  return has_moved;
}

void HcaPacketReceiver::settle(Time now) {
  HcaStage::settle(now);
  ask_at(arriving_.next());
}

void HcaPacketReceiver::take_frame(Time now) {
  const FrameRef frame = arriving_.take();
  ++s_.totals.received_frames;
  ram_used_ += frame->bytes.size();
  if (ram_used_ > s_.config.rdma.payload_ram) {
    drop("payload_ram", *frame);
    return;
  }
  peak_ram_ = std::max(peak_ram_, ram_used_);
  HcaArrived arrived;
  arrived.frame = frame;
  arrived.came = now;
  push(std::move(arrived), now, static_cast<std::uint32_t>((frame->bytes.size() + 63) / 64));
}

// Checks that need no queue pair, and which one it is for. A secured frame is shorter once it is
// open.
bool HcaPacketReceiver::check(Time now) {
  if (!queue_.is_due(now) || !s_.fetches.has_room_for_frame(now)) {
    return false;
  }
  HcaArrived arrived = queue_.take(now);
  const std::size_t bytes = arrived.frame->bytes.size();
  const char* const why = !s_.pairs.are_served()   ? "rx_out_of_service"
                          : s_.carriers == nullptr ? flaw_of(arrived)
                                                   : s_.carriers->receive(arrived, now);
  ram_used_ -= bytes - arrived.frame->bytes.size();
  if (why != nullptr && std::string_view(why) == kRxControl) {
    give_room(*arrived.frame);
  } else if (why != nullptr) {
    drop(why, *arrived.frame);
  } else if (s_.pairs.is_down(arrived.pair)) {
    drop(kRxFunctionDown, *arrived.frame);
  } else {
    s_.fetches.fetch(std::move(arrived), now);
  }
  return true;
}

// Without sessions: its packet, and why there is none.
const char* HcaPacketReceiver::flaw_of(HcaArrived& arrived) const {
  RoceParts parts;
  const auto packet = packet_of(arrived.frame->bytes, parts);
  if (!packet) {
    return "not_roce";
  }
  if (!packet->is_ip_intact) {
    return "rx_bad_ip_checksum";
  }
  if (!packet->is_intact) {
    return name_of(QpCounter::kBadIcrc);
  }
  arrived.pair = packet->queue_pair - kFirstQueuePair;
  if (arrived.pair >= s_.config.pairs) {
    return name_of(QpCounter::kBadQueuePair);
  }
  if (s_.pairs.is_down(arrived.pair)) {
    return kRxFunctionDown;
  }
  const FrameEnds ends = {s_.pairs[arrived.pair].peer, s_.config.adapter};
  if (!has_ends(arrived.frame->bytes, parts, ends)) {
    return "rx_bad_address";
  }
  arrived.packet = s_.arrived.make(*packet);
  arrived.payload = static_cast<std::uint32_t>(parts.payload);
  return nullptr;
}

void HcaPacketReceiver::drop(const char* why, const Frame& frame) {
  ++drops_[why];
  give_room(frame);
}

void HcaPacketReceiver::add_errors(std::map<std::string, std::uint64_t>& errors) const {
  for (const auto& [kind, count] : drops_) {
    errors[kind] += count;
  }
}

}  // namespace flitwise
