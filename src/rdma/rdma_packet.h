// SPDX-License-Identifier: Apache-2.0
/// A packet of a reliable connection as its fields: BTH, the extension headers of its opcode, and
/// where its payload lies. Its bytes are somebody else's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rdma/psn.h"
#include "rdma/rdma_memory.h"

namespace flitwise {

/// Opcodes of a reliable connection as the wire has them. [RDM-1]
enum class RdmaOpcode : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle,
  kSendLast,
  kSendLastImm,
  kSendOnly,
  kSendOnlyImm,
  kWriteFirst,
  kWriteMiddle,
  kWriteLast,
  kWriteLastImm,
  kWriteOnly,
  kWriteOnlyImm,
  kReadRequest,
  kReadFirst,
  kReadMiddle,
  kReadLast,
  kReadOnly,
  kAck,
  kAtomicAck,
  kCmpSwap,
  kFetchAdd,
  kSendLastInv = 0x16,
  kSendOnlyInv,
  kCnp = 0x81  ///< no opcode of a reliable connection: a notification of congestion [CC-2]
};

enum class RdmaPacketKind : std::uint8_t {
  kNone,  ///< no opcode of a reliable connection
  kSend,
  kWrite,
  kRead,
  kAtomic,
  kReadResponse,
  kAck,
  kAtomicAck,
  kCnp
};
/// What an opcode says of its packet.
struct RdmaOpcodeInfo {
  const char* name;
  RdmaPacketKind kind = RdmaPacketKind::kNone;
  bool is_first = false, is_last = false;
  bool has_immediate = false, invalidates = false;

  bool is_request() const { return kind < RdmaPacketKind::kReadResponse; }
};
/// By opcode, and that of a CNP.
inline constexpr std::size_t kRdmaOpcodeRows = 0x19;
extern const RdmaOpcodeInfo kRdmaOpcodeInfos[kRdmaOpcodeRows];
/// Of any number: those that are no opcode have kind kNone.
inline const RdmaOpcodeInfo& info_of(RdmaOpcode opcode) {
  constexpr std::size_t kNoOpcode = 0x15, kCnpRow = 0x18;
  const auto number = static_cast<std::size_t>(opcode);
  return kRdmaOpcodeInfos[number < kCnpRow             ? number
                          : opcode == RdmaOpcode::kCnp ? kCnpRow
                                                       : kNoOpcode];
}

/// Type and value of an AETH. [RDM-2]
inline constexpr std::uint8_t kAckSyndrome = 0x1f;  ///< no credits are told of [RX-8]
inline constexpr std::uint8_t kRnrSyndrome = 0x20;  ///< and the code of a time
inline constexpr std::uint8_t kSequenceNak = 0x60, kInvalidRequestNak = 0x61, kAccessNak = 0x62,
                              kOperationNak = 0x63;
inline constexpr std::uint8_t kSyndromeType = 0xe0;

/// No session: the queue pair has none, or the one who sends chooses it.
inline constexpr std::uint16_t kNoSession = 0xffff;

/// What an ACK tells of the packet that caused it. [MO-1]
struct AckEcho {
  std::uint16_t session = kNoSession;  ///< that it came by
  bool is_marked = false;              ///< a packet of that session had CE since its last echo
  Psn psn = 0;
  std::uint32_t hold_ns = 0;  ///< from its arrival until the ACK left, rounded down
};

struct RdmaPacket {
  RdmaOpcode opcode = RdmaOpcode::kAck;
  std::uint8_t version = 0;  ///< TVer
  std::uint8_t pad = 0;      ///< zero bytes behind the payload, 0..3
  bool asks_for_ack = false, is_solicited = false;
  std::uint16_t partition = 0xffff;  ///< P_Key
  std::uint32_t queue_pair = 0;      ///< DestQP
  Psn psn = 0;
  bool is_intact = true;     ///< its ICRC is right
  bool is_ip_intact = true;  ///< so is the checksum of its IP header
  // RETH and AtomicETH
  std::uint64_t address = 0;
  std::uint32_t key = 0, length = 0;
  std::uint64_t operand = 0;    ///< to swap or to add
  std::uint64_t compare = 0;    ///< CmpSwap alone
  std::uint64_t original = 0;   ///< AtomicAckETH
  std::uint32_t immediate = 0;  ///< or, of IETH, the key to invalidate
  std::uint8_t syndrome = 0;    ///< of the AETH
  std::uint32_t messages = 0;   ///< MSN of the AETH, modulo 2^24
  std::uint32_t payload_bytes = 0;
  // What BTH does not have.
  std::uint16_t session = kNoSession;  ///< that it came by, or that an answer is for [SEL-7]
  std::uint8_t tries = 0;              ///< how often it was sent before, where that is kept [LR-4]
  bool is_marked = false;              ///< CE
  bool names_place = false;  ///< a WRITE MIDDLE or LAST with a RETH for its own bytes [RX-2]
  bool has_echo = false, has_sack = false;  ///< of an ACK, as both ends have agreed
  AckEcho echo;
  std::uint64_t sack = 0;  ///< bit i: the PSN i + 1 behind the first that is missing is held [RX-6]
  MemoryView payload;      ///< where its sender has it; a receiver asks for payload_bytes alone
};

constexpr std::uint8_t pad_of(std::uint32_t bytes) {
  return static_cast<std::uint8_t>((0 - bytes) & 3);
}
/// Of a message of so many bytes: one for each path MTU, one at least. [VB-4]
constexpr std::uint64_t packets_of(std::uint64_t bytes, std::uint32_t mtu) {
  return bytes == 0 ? 1 : (bytes + mtu - 1) / mtu;
}

/// What comes of a packet for memory. Its receiver sees to it before it looks for completions.
struct RdmaEffect {
  enum class Kind : std::uint8_t {
    kNone,
    kPayload,  ///< the bytes of the packet go to `view`
    kResult,   ///< `original` goes to `view` as 8 bytes, little-endian
    kAtomic,   ///< 8 bytes at `view` are changed, and QueuePair::finish_atomic() is told
    kHold,     ///< the bytes are kept under the PSN until QueuePair::release() gives it
    kSlowDown  ///< a CNP: the queue pair, or the session that it came by, sends more slowly
  };
  Kind kind = Kind::kNone;
  MemoryView view;
};
/// What an atomic request leaves in memory. REQUIRES: opcode kCmpSwap or kFetchAdd.
constexpr std::uint64_t atomic_result(const RdmaPacket& packet, std::uint64_t original) {
  if (packet.opcode == RdmaOpcode::kFetchAdd) {
    return original + packet.operand;
  }
  return original == packet.compare ? packet.operand : original;
}

/// Two P_Keys fit: equal in 15 bits, not 0, and one of them a full member. [RDM-4]
constexpr bool are_partners(std::uint16_t a, std::uint16_t b) {
  return ((a ^ b) & 0x7fff) == 0 && (a & 0x7fff) != 0 && ((a | b) & 0x8000) != 0;
}

}  // namespace flitwise
