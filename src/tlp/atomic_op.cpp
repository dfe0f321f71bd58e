// SPDX-License-Identifier: Apache-2.0
// FetchAdd, Swap and CAS on bytes.
#include "tlp/atomic_op.h"

#include <algorithm>

namespace flitwise {

bool apply_atomic(const Tlp& tlp, const std::uint8_t* operands, const std::uint8_t* old,
                  std::uint8_t* result) {
  const std::uint32_t bytes = bytes_named(tlp);
  if (tlp.type == TlpType::kFetchAdd) {
    unsigned sum = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      sum = (sum >> 8) + old[i] + operands[i];
      result[i] = static_cast<std::uint8_t>(sum);
    }
    return true;
  }
  const bool is_cas = tlp.type == TlpType::kCas;  // what to compare with, then what to store
  if (is_cas && !std::equal(old, old + bytes, operands)) {
    return false;
  }
  std::copy_n(operands + (is_cas ? bytes : 0), bytes, result);
  return true;
}

}  // namespace flitwise
