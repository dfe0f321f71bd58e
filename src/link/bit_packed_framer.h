// SPDX-License-Identifier: Apache-2.0
/// The bit-packed carrier: messages of header, identity and payload bits in small flits with a CRC
/// each. [DHI D24]
#pragma once

#include "link/framer.h"

namespace flitwise {

/// Messages are packed either from a flit boundary each, or one behind the other; an open flit is
/// filled up as soon as no message waits. A message of no bits, which a receiver could not tell
/// from nothing, ends the open flit, or takes one of its own. model: our choice, as is that no Ack,
/// replay or credits are modelled: the text names none for this carrier.
class BitPackedFramer final : public Framer {
 public:
  BitPackedFramer(const MessageConfig& message, TransactionQueues& queues);

  bool next(Time now, WireUnit& unit) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  void reset(Time /*now*/) override { open_bits_ = 0; }
  bool is_quiet() const override { return queues_.empty(); }
  /// Of the other direction: what came in damaged. Nothing on this carrier is sent again.
  std::string waiting() const override;

 private:
  MessageConfig message_;
  TransactionQueues& queues_;
  std::string first_lost_;
  std::uint32_t open_bits_ = 0;  // message bits in the flit that is not closed yet
};

}  // namespace flitwise
