// SPDX-License-Identifier: Apache-2.0
// The one place that knows all carriers, and the packing of bit-packed messages into flits.
#include "link/framer.h"

#include <fmt/format.h>

#include "link/cxl_framers.h"
#include "link/data_link_framer.h"
#include "link/flit_framer.h"
#include "trace/packet_note.h"

namespace flitwise {
namespace {

/// The bit-packed carrier: messages of header, identity and payload bits in small flits with a CRC
/// each. [DHI D24] They are packed either from a flit boundary each, or one behind the other; an
/// open flit is filled up as soon as no message waits. A message of no bits, which a receiver could
/// not tell from nothing, ends the open flit, or takes one of its own. model: our choice, as is
/// that no Ack, replay or credits are modelled: the text names none for this carrier.
class BitPackedFramer final : public Framer {
 public:
  BitPackedFramer(const MessageConfig& message, TransactionQueues& queues)
      : message_(message), queues_(queues) {}

  bool next(Time now, WireUnit& unit) override {
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
  void receive(const WireUnit& unit, bool is_damaged, Time /*now*/,
               std::vector<PacketRef>& delivered) override {
    if (is_damaged) {
      ++stats_.damaged_tlps;
      first_lost_ = first_lost_.empty() ? text_of(*unit.packet) : first_lost_;
      return;
    }
    delivered.push_back(unit.packet);
  }
  void reset(Time /*now*/) override { open_bits_ = 0; }
  bool is_quiet() const override { return queues_.empty(); }
  /// Of the other direction: what came in damaged. Nothing on this carrier is sent again.
  std::string waiting() const override {
    return first_lost_.empty() ? ""
                               : fmt::format(
                                     "{} messages were damaged and are lost, since this carrier "
                                     "sends nothing again; the first: {}",
                                     stats_.damaged_tlps, first_lost_);
  }

 private:
  MessageConfig message_;
  TransactionQueues& queues_;
  std::string first_lost_;
  std::uint32_t open_bits_ = 0;  // message bits in the flit that is not closed yet
};

}  // namespace

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
    case Carrier::kBitPacked: return std::make_unique<BitPackedFramer>(message, queues);
  }
  return nullptr;
}

}  // namespace flitwise
