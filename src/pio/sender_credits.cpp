// SPDX-License-Identifier: Apache-2.0
#include "pio/sender_credits.h"

#include "flitwise/error.h"

namespace flitwise {

void SenderCredits::fill(unsigned blocks) {
  FLITWISE_CHECK(may_fill(blocks), "software writes no packet without credits");
  filled_ = (filled_ + blocks) % kCreditRing;
  next_block_ = (next_block_ + blocks) % depth_;
}

}  // namespace flitwise
