// SPDX-License-Identifier: Apache-2.0
// Frames as events of a script.
#include "system/framing_script.h"

#include <algorithm>

namespace flitwise {

void write_frame(const FrameOp& op, std::uint32_t token, ScriptOutput& output) {
  std::vector<std::uint8_t> framed;
  if (op.is_dllp) {
    std::array<std::uint8_t, 6> dllp{};
    std::copy_n(op.bytes.begin(), dllp.size(), dllp.begin());
    frame_dllp(op.framing, dllp, framed);
  } else {
    frame_tlp(op.framing, op.sequence, op.bytes, op.is_nullified, framed);
  }
  output.frame(token, op, framed);
}

void write_unframed(const UnframeOp& op, std::uint32_t token, ScriptOutput& output) {
  const auto unframe = op.is_dllp ? unframe_dllp : unframe_tlp;
  const FrameResult result = unframe(op.framing, op.bytes.data(), op.bytes.size());
  if (result.error) {
    output.error(token, name_of(*result.error), "byte " + std::to_string(result.error_offset));
  } else {
    output.unframed(token, op, result);
  }
}

}  // namespace flitwise
