// SPDX-License-Identifier: Apache-2.0
#include "pio/send_window.h"

namespace flitwise {

const char* name_of(SendError error) {
  static constexpr const char* kNames[kSendErrors] = {"inconsistent_sop", "disallowed_packet",
                                                      "write_crosses_boundary", "write_overflow",
                                                      "write_out_of_bounds"};
  return kNames[static_cast<int>(error)];
}

std::optional<std::uint8_t> qws_of_write(unsigned first_byte, std::size_t bytes) {
  const bool is_whole = first_byte % kQwBytes == 0 && bytes % kQwBytes == 0 && bytes > 0;
  if (!is_whole || bytes > kSendBlockBytes - first_byte) {
    return std::nullopt;
  }
  return static_cast<std::uint8_t>(((1U << bytes / kQwBytes) - 1U) << first_byte / kQwBytes);
}

}  // namespace flitwise
