// SPDX-License-Identifier: Apache-2.0
/// Control messages of session groups, as fields and as bytes. [HS-1] [HS-3] The format is ours:
/// docs/srdma.md. Every message has the same fixed part, by one table of fields, and two lists
/// behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/byte_vector.h"
#include "crypto/secret_key.h"
#include "flitwise/time.h"
#include "srdma/session_event.h"
#include "srdma/session_group.h"

namespace flitwise {

enum class CmKind : std::uint8_t {
  kConnectRequest = 1,
  kConnectReply,
  kReady,
  kAddRequest,
  kAddReply,
  kDeleteRequest,
  kDeleteReply,
  kRefreshRequest,
  kRefreshReply,
  kDisconnectRequest,
  kDisconnectReply,
  kAttachRequest,
  kAttachReply,
  kDetachRequest,
  kDetachReply,
  kTimer
};
inline constexpr int kCmKinds = 16;
const char* name_of(CmKind kind);  ///< "CONNECT_REQ"
constexpr bool is_request(CmKind kind) {
  return kind == CmKind::kConnectRequest || (kind >= CmKind::kAddRequest && kind < CmKind::kTimer &&
                                             (static_cast<unsigned>(kind) & 1U) == 0);
}
/// REQUIRES: is_request(kind).
constexpr CmKind reply_to(CmKind kind) {
  return static_cast<CmKind>(static_cast<unsigned>(kind) + 1);
}
constexpr bool is_reply(CmKind kind) {
  return kind == CmKind::kConnectReply || (kind >= CmKind::kAddReply && kind < CmKind::kTimer &&
                                           (static_cast<unsigned>(kind) & 1U) == 1);
}
/// Is its reply answered by READY, and sent again until then? [HS-2]
constexpr bool needs_ready(CmKind request) {
  return request == CmKind::kConnectRequest || request == CmKind::kAddRequest ||
         request == CmKind::kRefreshRequest || request == CmKind::kAttachRequest;
}

/// What an end can do, or in a reply what both can. [HS-1]
struct CmCapabilities {
  bool is_secured = false, has_echo = true, needs_echo = false, has_sack = false;
  std::uint16_t reorder_depth = 256;  ///< packets
  std::uint16_t mtu = 4096;
};

struct CmPair {
  std::uint32_t number = 0;  ///< of a queue pair, 24 bits
  std::uint32_t psn = 0;     ///< the first one that it sends, 24 bits [PS-4]
};
/// One or more, and none of them 0, which is no queue pair of a connection.
bool are_numbers(const std::vector<CmPair>& pairs);
struct CmSession {
  SessionTuple tuple;  ///< as the end sends that has asked
  SessionId id = 0;    ///< in replies
};

struct CmMessage {
  CmKind kind = CmKind::kConnectRequest;
  CmReason reason = CmReason::kNone;  ///< of a reply
  GroupId group = 0;
  std::uint64_t transaction = 0;  ///< of the end that has asked
  ServiceId service = 0;
  std::uint64_t superseded = 0;  ///< own transaction that this one takes the place of [HS-6]
  CmCapabilities capabilities;
  std::uint32_t gap_timer_ns = 0;
  std::uint32_t lifetime_us = 0;  ///< of keys [KY-1]
  SessionId session = 0;
  EpochNumber epoch = 0;
  KeyShare share{};  ///< zeros: none
  std::vector<CmPair> pairs;
  std::vector<CmSession> sessions;
};

inline constexpr std::size_t kMostCmPairs = 256;
/// Of a message with as many pairs and sessions as one may have; fits into one packet.
inline constexpr std::size_t kMostCmBytes = 84 + kMostCmPairs * 8 + kMostGroupSessions * 16;

/// REQUIRES: up to kMostCmPairs and kMostGroupSessions.
ByteVector bytes_of(const CmMessage& message);
struct CmRead {
  CmMessage message;
  std::string flaw;  ///< what was seen, and expected; empty: the message is whole
};
/// Any bytes in. What a message of its kind does not have must be zero, so that equal messages are
/// equal bytes.
CmRead read_cm(const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
