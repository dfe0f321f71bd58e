// SPDX-License-Identifier: Apache-2.0
// CXL in 256-byte flits.
#include "link/cxl256_framer.h"

#include <algorithm>

namespace flitwise {

Cxl256Framer::Cxl256Framer(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
                           PacketPool& pool)
    : FlitFramer(link, queues, pool),
      cachemem_(link.cxl, messages),
      arbiter_(link.cxl.io_weight, link.cxl.cachemem_weight) {}

void Cxl256Framer::start(Time now) {
  FlitFramer::start(now);
  cachemem_.start(now);
}

// A replay goes on in the order of its numbers, whatever its flits are. [CXL-6.5]
bool Cxl256Framer::next(Time now, WireUnit& unit) {
  check_replay_timer(now);
  if (next_replay(now, unit)) {
    return true;
  }
  if (cachemem_goes(now)) {
    next_cachemem(now, unit);
    return true;
  }
  return next_new(now, unit);
}

bool Cxl256Framer::cachemem_goes(Time now) {
  if (replay_.is_replaying() || !may_send_payload() || !cachemem_.has_work(now)) {
    return false;
  }
  const bool has_room = replay_.has_room(flit::kBytes);
  note_replay_buffer(!has_room, now);
  return has_room && !arbiter_.io_goes(has_io(now));
}

void Cxl256Framer::next_cachemem(Time now, WireUnit& unit) {
  unit.packet = pool_.make(PacketKind::kFlit);
  cachemem_.fill(now, *unit.packet->flit, unit.size);
  unit.packet->size = unit.size;
  unit.sequence = replay_.push(unit.packet, flit::kBytes);
  add_ack(unit);
}

void Cxl256Framer::hand_on(const Flit& flit, std::vector<PacketRef>& delivered) {
  if (flit.is_cachemem) {
    cachemem_.receive(flit, delivered, stats_);
  } else {
    FlitFramer::hand_on(flit, delivered);
  }
}

// Only of the flit whose turn it is. [CXL-6.6]
void Cxl256Framer::receive_half(const WireUnit& unit, std::vector<PacketRef>& delivered) {
  if (receiver_.expects(unit.sequence)) {
    cachemem_.receive_half(*unit.packet->flit, delivered, stats_);
  }
}

void Cxl256Framer::freed(const Packet& packet, Time now) {
  if (packet.kind == PacketKind::kCxl) {
    cachemem_.freed(packet, now);
  } else {
    FlitFramer::freed(packet, now);
  }
}

Time Cxl256Framer::deadline() const {
  const Time of_io = FlitFramer::deadline();
  return replay_.has_room(flit::kBytes) ? std::min(of_io, cachemem_.deadline()) : of_io;
}

void Cxl256Framer::reset(Time now) {
  cachemem_.reset();
  FlitFramer::reset(now);
}

std::string Cxl256Framer::waiting() const {
  const std::string of_cachemem = cachemem_.waiting();
  return of_cachemem.empty() ? FlitFramer::waiting() : of_cachemem;
}

}  // namespace flitwise
