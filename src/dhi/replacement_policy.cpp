// SPDX-License-Identifier: Apache-2.0
// Which policy a configuration means.
#include "dhi/replacement_policy.h"

namespace flitwise {

std::unique_ptr<ReplacementPolicy> make_replacement_policy(VictimPolicy policy, unsigned slots) {
  switch (policy) {
    case VictimPolicy::kFifo:
      return make_fifo_policy(slots);
    case VictimPolicy::kLru:
      return make_lru_policy(slots);
    case VictimPolicy::kLfu:
      return make_lfu_policy(slots);
  }
  return nullptr;
}

}  // namespace flitwise
