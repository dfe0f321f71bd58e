// SPDX-License-Identifier: Apache-2.0
// What each opcode of a reliable connection says, a row each. [RDM-1]
#include "rdma/rdma_packet.h"

namespace flitwise {

const RdmaOpcodeInfo kRdmaOpcodeInfos[kRdmaOpcodeRows] = {
    {"SEND_FIRST", RdmaPacketKind::kSend, true, false},
    {"SEND_MIDDLE", RdmaPacketKind::kSend},
    {"SEND_LAST", RdmaPacketKind::kSend, false, true},
    {"SEND_LAST_IMM", RdmaPacketKind::kSend, false, true, true},
    {"SEND_ONLY", RdmaPacketKind::kSend, true, true},
    {"SEND_ONLY_IMM", RdmaPacketKind::kSend, true, true, true},
    {"WRITE_FIRST", RdmaPacketKind::kWrite, true, false},
    {"WRITE_MIDDLE", RdmaPacketKind::kWrite},
    {"WRITE_LAST", RdmaPacketKind::kWrite, false, true},
    {"WRITE_LAST_IMM", RdmaPacketKind::kWrite, false, true, true},
    {"WRITE_ONLY", RdmaPacketKind::kWrite, true, true},
    {"WRITE_ONLY_IMM", RdmaPacketKind::kWrite, true, true, true},
    {"READ_REQUEST", RdmaPacketKind::kRead, true, true},
    {"READ_RESPONSE_FIRST", RdmaPacketKind::kReadResponse, true, false},
    {"READ_RESPONSE_MIDDLE", RdmaPacketKind::kReadResponse},
    {"READ_RESPONSE_LAST", RdmaPacketKind::kReadResponse, false, true},
    {"READ_RESPONSE_ONLY", RdmaPacketKind::kReadResponse, true, true},
    {"ACKNOWLEDGE", RdmaPacketKind::kAck, true, true},
    {"ATOMIC_ACKNOWLEDGE", RdmaPacketKind::kAtomicAck, true, true},
    {"COMPARE_SWAP", RdmaPacketKind::kAtomic, true, true},
    {"FETCH_ADD", RdmaPacketKind::kAtomic, true, true},
    {"RESERVED"},
    {"SEND_LAST_INVALIDATE", RdmaPacketKind::kSend, false, true, false, true},
    {"SEND_ONLY_INVALIDATE", RdmaPacketKind::kSend, true, true, false, true},
    {"CNP", RdmaPacketKind::kCnp, true, true}};

}  // namespace flitwise
