// SPDX-License-Identifier: Apache-2.0
// What each opcode of a reliable connection says, a row each. [RDM-1]
#include "rdma/rdma_packet.h"

#include <array>

namespace flitwise {

const RdmaOpcodeInfo& info_of(RdmaOpcode opcode) {
  using Kind = RdmaPacketKind;
  static constexpr std::array<RdmaOpcodeInfo, 0x18> kInfos = {{
      {"SEND_FIRST", Kind::kSend, true, false},
      {"SEND_MIDDLE", Kind::kSend},
      {"SEND_LAST", Kind::kSend, false, true},
      {"SEND_LAST_IMM", Kind::kSend, false, true, true},
      {"SEND_ONLY", Kind::kSend, true, true},
      {"SEND_ONLY_IMM", Kind::kSend, true, true, true},
      {"WRITE_FIRST", Kind::kWrite, true, false},
      {"WRITE_MIDDLE", Kind::kWrite},
      {"WRITE_LAST", Kind::kWrite, false, true},
      {"WRITE_LAST_IMM", Kind::kWrite, false, true, true},
      {"WRITE_ONLY", Kind::kWrite, true, true},
      {"WRITE_ONLY_IMM", Kind::kWrite, true, true, true},
      {"READ_REQUEST", Kind::kRead, true, true},
      {"READ_RESPONSE_FIRST", Kind::kReadResponse, true, false},
      {"READ_RESPONSE_MIDDLE", Kind::kReadResponse},
      {"READ_RESPONSE_LAST", Kind::kReadResponse, false, true},
      {"READ_RESPONSE_ONLY", Kind::kReadResponse, true, true},
      {"ACKNOWLEDGE", Kind::kAck, true, true},
      {"ATOMIC_ACKNOWLEDGE", Kind::kAtomicAck, true, true},
      {"COMPARE_SWAP", Kind::kAtomic, true, true},
      {"FETCH_ADD", Kind::kAtomic, true, true},
      {"RESERVED"},
      {"SEND_LAST_INVALIDATE", Kind::kSend, false, true, false, true},
      {"SEND_ONLY_INVALIDATE", Kind::kSend, true, true, false, true},
  }};
  static constexpr RdmaOpcodeInfo kCnpInfo = {"CNP", Kind::kCnp, true, true};
  if (opcode == RdmaOpcode::kCnp) {
    return kCnpInfo;
  }
  const auto number = static_cast<std::size_t>(opcode);
  return kInfos[number < kInfos.size() ? number : 0x15];
}

}  // namespace flitwise
