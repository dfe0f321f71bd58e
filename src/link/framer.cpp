// SPDX-License-Identifier: Apache-2.0
// The one place that knows all carriers.
#include "link/framer.h"

#include "link/bit_packed_framer.h"
#include "link/non_flit_framer.h"

namespace flitwise {

std::unique_ptr<Framer> make_framer(const LinkConfig& link, const MessageConfig& message,
                                    TransactionQueues& queues, PacketPool& pool) {
  switch (link.carrier) {
    case Carrier::kPcie:
      return std::make_unique<NonFlitFramer>(link, queues, pool);
    case Carrier::kBitPacked:
      return std::make_unique<BitPackedFramer>(message, queues);
  }
  return nullptr;
}

}  // namespace flitwise
