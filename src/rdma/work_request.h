// SPDX-License-Identifier: Apache-2.0
/// What software asks of a queue pair, and what it is told when that is done. [VB-2, 5]
#pragma once

#include <cstdint>

#include "common/ranges.h"
#include "rdma/rdma_memory.h"

namespace flitwise {

enum class WorkOpcode : std::uint8_t {
  kSend,
  kSendImm,
  kSendInv,
  kWrite,
  kWriteImm,
  kRead,
  kCmpSwap,
  kFetchAdd,
  kLocalInv
};
inline constexpr int kWorkOpcodes = 9;
constexpr const char* name_of(WorkOpcode opcode) {
  constexpr const char* kNames[] = {"SEND", "SEND_IMM", "SEND_INV",  "WRITE",    "WRITE_IMM",
                                    "READ", "CMP_SWP",  "FETCH_ADD", "LOCAL_INV"};
  return name_in(kNames, opcode);
}
constexpr bool is_atomic(WorkOpcode opcode) {
  return opcode == WorkOpcode::kCmpSwap || opcode == WorkOpcode::kFetchAdd;
}
/// Its answer brings bytes. [VB-10]
constexpr bool is_read_or_atomic(WorkOpcode opcode) {
  return opcode == WorkOpcode::kRead || is_atomic(opcode);
}

struct SendWork {
  std::uint64_t id = 0;
  WorkOpcode opcode = WorkOpcode::kSend;
  bool is_signaled = false, is_solicited = false;
  bool is_fenced = false;  ///< it waits for all READs and atomics before it
  MemoryView local;
  std::uint64_t remote_address = 0;
  std::uint32_t remote_key = 0;
  std::uint32_t immediate = 0;  ///< or the key that kSendInv and kLocalInv invalidate
  std::uint64_t operand = 0, compare = 0;
};
struct ReceiveWork {
  std::uint64_t id = 0;
  MemoryView local;
};

/// Why a work request is done.
enum class WorkStatus : std::uint8_t {
  kSuccess,
  kLocalLength,      ///< a message is longer than its receive buffer
  kLocalProtection,  ///< a local key, bound or right
  kFlushed,          ///< the queue pair is in error for another reason
  kBadResponse,      ///< an answer that fits no request
  kRemoteInvalid,    ///< NAK 0x61
  kRemoteAccess,     ///< NAK 0x62
  kRemoteOperation,  ///< NAK 0x63
  kRetryExceeded,
  kRnrRetryExceeded,
  kLocalOperation  ///< the adapter cannot read what was posted: stands for all of it [VB-5]
};
inline constexpr int kWorkStatuses = 11;
constexpr const char* name_of(WorkStatus status) {
  constexpr const char* kNames[] = {"SUCCESS",           "LOC_LEN_ERR",  "LOC_PROT_ERR",
                                    "WR_FLUSH_ERR",      "BAD_RESP_ERR", "REM_INV_REQ_ERR",
                                    "REM_ACCESS_ERR",    "REM_OP_ERR",   "RETRY_EXC_ERR",
                                    "RNR_RETRY_EXC_ERR", "LOC_QP_OP_ERR"};
  return name_in(kNames, status);
}

struct WorkCompletion {
  std::uint64_t id = 0;
  std::uint32_t queue_pair = 0;
  WorkStatus status = WorkStatus::kSuccess;
  bool is_receive = false;
  WorkOpcode opcode = WorkOpcode::kSend;  ///< of the sender, also of a receive that succeeds
  bool is_solicited = false;
  std::uint64_t bytes = 0;      ///< of the message, where it succeeds
  std::uint32_t immediate = 0;  ///< of a receive, or the key that was invalidated
};

}  // namespace flitwise
