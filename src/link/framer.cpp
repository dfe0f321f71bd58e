// SPDX-License-Identifier: Apache-2.0
// The one place that knows all carriers.
#include "link/framer.h"

#include "link/bit_packed_framer.h"
#include "link/cxl_framers.h"
#include "link/data_link_framer.h"
#include "link/flit_framer.h"

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

}  // namespace flitwise
