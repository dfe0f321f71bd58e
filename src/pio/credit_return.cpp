// SPDX-License-Identifier: Apache-2.0
#include "pio/credit_return.h"

#include "flitwise/error.h"

namespace flitwise {

CreditReturn& CreditReturnQueue::push(unsigned group) {
  FLITWISE_CHECK(size_ < kMost, "credit returns are not taken out of their queue");
  Waiting& waiting = entries_[(first_ + size_++) % kMost];
  waiting = {{}, group};
  return waiting.entry;
}

CreditReturn* CreditReturnQueue::waiting_for(unsigned group) {
  for (unsigned i = 0; i < size_; ++i) {
    Waiting& waiting = entries_[(first_ + i) % kMost];
    if (waiting.group == group) {
      return &waiting.entry;
    }
  }
  return nullptr;
}

}  // namespace flitwise
