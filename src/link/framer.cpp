// SPDX-License-Identifier: Apache-2.0
// The one place that knows all carriers, and the packing of bit-packed messages into flits.
#include "link/framer.h"

#include <fmt/format.h>

#include "link/bit_packed_framer.h"
#include "link/cxl_framers.h"
#include "link/data_link_framer.h"
#include "link/flit_framer.h"
#include "trace/packet_note.h"

namespace flitwise {

// It was full and is not any more, or the other way round.
void Framer::turn_replay_buffer(Time now) {
  if (replay_buffer_full_since_ == Time::never()) {
    replay_buffer_full_since_ = now;
    ++stats_.replay_buffer_waits;
  } else {
    stats_.replay_buffer_stall += now - replay_buffer_full_since_;
    replay_buffer_full_since_ = Time::never();
  }
}

std::unique_ptr<Framer> make_framer(const LinkConfig& link, const MessageConfig& message,
                                    TransactionQueues& queues, CxlQueues* messages,
                                    PacketPool& pool) {
  switch (link.carrier) {
    case Carrier::kPcie:
      if (link.is_in_flit_mode() && messages != nullptr) {
        return std::make_unique<Cxl256Framer>(link, queues, *messages, pool);
      }
      if (link.is_in_flit_mode()) {
        return std::make_unique<FlitFramer>(link, queues, pool);
      }
      if (link.preset.cxl == CxlFlits::k68) {
        return std::make_unique<Cxl68Framer>(link, queues, *messages, pool);
      }
      return std::make_unique<NonFlitFramer>(link, queues, pool);
    case Carrier::kBitPacked:
      return std::make_unique<BitPackedFramer>(message, queues);
  }
  return nullptr;
}

BitPackedFramer::BitPackedFramer(const MessageConfig& message, TransactionQueues& queues)
    : message_(message), queues_(queues) {}

bool BitPackedFramer::next(Time now, WireUnit& unit) {
  const std::optional<TransactionQueues::Position> position = queues_.choose(now);
  if (!position) {
    return false;
  }
  unit.packet = queues_.take(*position);
  unit.size = unit.packet->size;
  const std::uint32_t room = message_.flit_bits - message_.crc_bits;
  const bool is_empty = unit.size.total() == 0;
  open_bits_ += unit.size.total();
  std::uint32_t closed = open_bits_ / room;
  open_bits_ %= room;
  if (is_empty ||
      (open_bits_ > 0 && (message_.packing == Packing::kAligned || !queues_.choose(now)))) {
    unit.size.padding += room - open_bits_;
    open_bits_ = 0;
    ++closed;
  }
  unit.size.crc += closed * message_.crc_bits;
  return true;
}

void BitPackedFramer::receive(const WireUnit& unit, bool is_damaged, Time /*now*/,
                              std::vector<PacketRef>& delivered) {
  if (is_damaged) {
    ++stats_.damaged_tlps;
    first_lost_ = first_lost_.empty() ? text_of(*unit.packet) : first_lost_;
    return;
  }
  delivered.push_back(unit.packet);
}

std::string BitPackedFramer::waiting() const {
  return first_lost_.empty() ? ""
                             : fmt::format(
                                   "{} messages were damaged and are lost, since this carrier "
                                   "sends nothing again; the first: {}",
                                   stats_.damaged_tlps, first_lost_);
}

}  // namespace flitwise
