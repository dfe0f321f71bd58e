// SPDX-License-Identifier: Apache-2.0
#include "pio/credit_return.h"

#include "flitwise/error.h"

namespace flitwise {

void CreditReturnQueue::push(const CreditReturn& entry) {
  FLITWISE_CHECK(size_ < kMost, "credit returns are not taken out of their queue");
  entries_[(first_ + size_) % kMost] = entry;
  ++size_;
}

CreditReturn* CreditReturnQueue::waiting_for(unsigned context, std::uint64_t address) {
  for (unsigned i = size_; i > 0; --i) {
    CreditReturn& entry = entries_[(first_ + i - 1) % kMost];
    if (entry.context / kContextsPerSet == context / kContextsPerSet && entry.address == address) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace flitwise
