// SPDX-License-Identifier: Apache-2.0
// The format of control messages, a row a field. [HS-1] [HS-3]
#include "srdma/cm_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "network/roce_headers.h"

namespace flitwise {
namespace {

constexpr std::uint8_t kCmVersion = 1;
constexpr std::size_t kShareAt = 48, kListsAt = kShareAt + kKeyBytes, kPairsAt = kListsAt + 4;
constexpr std::size_t kPairBytes = 8, kSessionBytes = 16;

using CmKinds = std::uint32_t;  // bit k: messages of kind k have it
constexpr CmKinds of_kinds(std::initializer_list<CmKind> kinds) {
  CmKinds all = 0;
  for (const CmKind kind : kinds) {
    all |= 1U << static_cast<unsigned>(kind);
  }
  return all;
}
constexpr CmKinds kAllCmKinds = ~0U;
constexpr CmKinds kConnects = of_kinds({CmKind::kConnectRequest, CmKind::kConnectReply});
constexpr CmKinds kReplies =
    of_kinds({CmKind::kConnectReply, CmKind::kAddReply, CmKind::kDeleteReply, CmKind::kRefreshReply,
              CmKind::kDisconnectReply, CmKind::kAttachReply, CmKind::kDetachReply});
constexpr CmKinds kRefreshes = of_kinds({CmKind::kRefreshRequest, CmKind::kRefreshReply});
constexpr CmKinds kKeyed =
    kConnects | kRefreshes | of_kinds({CmKind::kAddRequest, CmKind::kAddReply});
constexpr CmKinds kWithPairs = kConnects | of_kinds({CmKind::kAttachRequest, CmKind::kAttachReply,
                                                     CmKind::kDetachRequest, CmKind::kDetachReply});
constexpr CmKinds kWithSessions = kConnects | of_kinds({CmKind::kAddRequest, CmKind::kAddReply});
constexpr bool has_kind(CmKinds kinds, CmKind kind) {
  return (kinds >> static_cast<unsigned>(kind) & 1U) != 0;
}

struct CmField {
  RoceField place;  // bits from the begin of the message
  CmKinds kinds;
  std::uint64_t (*get)(const CmMessage& message);
  void (*set)(CmMessage& message, std::uint64_t value);
};

template <auto Member>
constexpr CmField cm_field(const char* key, std::uint16_t bit, std::uint8_t width, CmKinds kinds) {
  return {{key, bit, width},
          kinds,
          [](const CmMessage& message) { return static_cast<std::uint64_t>(message.*Member); },
          [](CmMessage& message, std::uint64_t value) {
            using Type = std::remove_reference_t<decltype(message.*Member)>;
            message.*Member = static_cast<Type>(value);
          }};
}
template <auto Member>
constexpr CmField cm_capability(const char* key, std::uint16_t bit, std::uint8_t width) {
  return {{key, bit, width},
          kConnects,
          [](const CmMessage& message) {
            return static_cast<std::uint64_t>(message.capabilities.*Member);
          },
          [](CmMessage& message, std::uint64_t value) {
            using Type = std::remove_reference_t<decltype(message.capabilities.*Member)>;
            message.capabilities.*Member = static_cast<Type>(value);
          }};
}

constexpr RoceField kVersionField{"version", 0, 8}, kKindField{"kind", 8, 8};
constexpr CmField kFields[] = {
    cm_field<&CmMessage::reason>("reason", 16, 8, kReplies),
    cm_capability<&CmCapabilities::is_secured>("secured", 28, 1),
    cm_capability<&CmCapabilities::has_echo>("echo", 29, 1),
    cm_capability<&CmCapabilities::needs_echo>("needs_echo", 30, 1),
    cm_capability<&CmCapabilities::has_sack>("sack", 31, 1),
    cm_field<&CmMessage::group>("group", 32, 32, kAllCmKinds),
    cm_field<&CmMessage::transaction>("transaction", 64, 64, kAllCmKinds),
    cm_field<&CmMessage::service>("service", 128, 64, kConnects),
    cm_field<&CmMessage::superseded>("superseded", 192, 64, of_kinds({CmKind::kConnectReply})),
    cm_field<&CmMessage::gap_timer_ns>("gap_timer_ns", 256, 32,
                                       kConnects | of_kinds({CmKind::kTimer})),
    cm_field<&CmMessage::lifetime_us>("lifetime_us", 288, 32, kKeyed),
    cm_capability<&CmCapabilities::mtu>("mtu", 320, 16),
    cm_capability<&CmCapabilities::reorder_depth>("reorder_depth", 336, 16),
    cm_field<&CmMessage::session>(
        "session", 352, 16, kRefreshes | of_kinds({CmKind::kDeleteRequest, CmKind::kDeleteReply})),
    cm_field<&CmMessage::epoch>("epoch", 368, 16, kRefreshes),
};

constexpr RoceField kPairCount{"pairs", 0, 16}, kSessionCount{"sessions", 16, 16};
constexpr RoceField kPairFields[] = {
    {"reserved", 0, 8}, {"qpn", 8, 24}, {"reserved", 32, 8}, {"psn", 40, 24}};
constexpr RoceField kSessionFields[] = {{"src", 0, 32},       {"dst", 32, 32},
                                        {"src_port", 64, 16}, {"dst_port", 80, 16},
                                        {"id", 96, 16},       {"reserved", 112, 16}};

CmRead flawed_cm(std::string flaw) {
  CmRead read;
  read.flaw = std::move(flaw);
  return read;
}

// Bits that a message of its kind has; all others are zero.
void mark_used(ByteVector& mask, CmKind kind) {
  put(mask.data(), kVersionField, 0xff);
  put(mask.data(), kKindField, 0xff);
  for (const CmField& one : kFields) {
    if (has_kind(one.kinds, kind)) {
      put(mask.data(), one.place, one.place.most());
    }
  }
  if (has_kind(kKeyed, kind)) {
    std::fill_n(mask.begin() + kShareAt, kKeyBytes, std::uint8_t{0xff});
  }
  put(&mask[kListsAt], kPairCount, has_kind(kWithPairs, kind) ? kPairCount.most() : 0);
  put(&mask[kListsAt], kSessionCount, has_kind(kWithSessions, kind) ? kSessionCount.most() : 0);
}

}  // namespace

const char* name_of(CmKind kind) {
  constexpr const char* kNames[] = {"?",
                                    "CONNECT_REQ",
                                    "CONNECT_REP",
                                    "READY",
                                    "ADD_SESSION_REQ",
                                    "ADD_SESSION_REP",
                                    "DEL_SESSION_REQ",
                                    "DEL_SESSION_REP",
                                    "REFRESH_REQ",
                                    "REFRESH_REP",
                                    "DISCONNECT_REQ",
                                    "DISCONNECT_REP",
                                    "ATTACH_QP_REQ",
                                    "ATTACH_QP_REP",
                                    "DETACH_QP_REQ",
                                    "DETACH_QP_REP",
                                    "TIMER_IND"};
  return name_in(kNames, kind);
}

bool are_numbers(const std::vector<CmPair>& pairs) {
  return !pairs.empty() &&
         std::all_of(pairs.begin(), pairs.end(), [](const CmPair& one) { return one.number != 0; });
}

ByteVector bytes_of(const CmMessage& message) {
  ByteVector bytes(kPairsAt + message.pairs.size() * kPairBytes +
                   message.sessions.size() * kSessionBytes);
  put(bytes.data(), kVersionField, kCmVersion);
  put(bytes.data(), kKindField, static_cast<std::uint64_t>(message.kind));
  for (const CmField& one : kFields) {
    if (has_kind(one.kinds, message.kind)) {
      put(bytes.data(), one.place, one.get(message));
    }
  }
  if (has_kind(kKeyed, message.kind)) {
    std::copy(message.share.begin(), message.share.end(), bytes.begin() + kShareAt);
  }
  put(&bytes[kListsAt], kPairCount, message.pairs.size());
  put(&bytes[kListsAt], kSessionCount, message.sessions.size());
  std::uint8_t* at = bytes.data() + kPairsAt;
  for (const CmPair& pair : message.pairs) {
    put(at, kPairFields[1], pair.number);
    put(at, kPairFields[3], pair.psn);
    at += kPairBytes;
  }
  for (const CmSession& session : message.sessions) {
    const std::uint64_t values[] = {session.tuple.source, session.tuple.destination,
                                    session.tuple.source_port, session.tuple.destination_port,
                                    session.id};
    for (std::size_t i = 0; i < std::size(values); ++i) {
      put(at, kSessionFields[i], values[i]);
    }
    at += kSessionBytes;
  }
  return bytes;
}

CmRead read_cm(const std::uint8_t* bytes, std::size_t count) {
  if (count < kPairsAt) {
    return flawed_cm(fmt::format("{} bytes seen; expected {} at least", count, kPairsAt));
  }
  if (get(bytes, kVersionField) != kCmVersion) {
    return flawed_cm(
        fmt::format("version {} seen; expected {}", get(bytes, kVersionField), kCmVersion));
  }
  const std::uint64_t kind = get(bytes, kKindField);
  if (kind == 0 || kind > kCmKinds) {
    return flawed_cm(fmt::format("kind {} seen; expected 1 to {}", kind, kCmKinds));
  }
  CmRead read;
  CmMessage& message = read.message;
  message.kind = static_cast<CmKind>(kind);
  ByteVector mask(kPairsAt);
  mark_used(mask, message.kind);
  for (std::size_t i = 0; i < kPairsAt; ++i) {
    if ((bytes[i] & ~mask[i]) != 0) {
      return flawed_cm(fmt::format("{:#04x} seen at byte {}; expected zeros where {} has nothing",
                                   bytes[i], i, name_of(message.kind)));
    }
  }
  for (const CmField& one : kFields) {
    if (has_kind(one.kinds, message.kind)) {
      one.set(message, get(bytes, one.place));
    }
  }
  if (static_cast<int>(message.reason) >= kCmReasons - 1) {
    return flawed_cm(fmt::format("reason {} seen; expected 0 to {}",
                                 static_cast<int>(message.reason), kCmReasons - 2));
  }
  std::copy_n(bytes + kShareAt, kKeyBytes, message.share.begin());
  const std::uint64_t pairs = get(bytes + kListsAt, kPairCount);
  const std::uint64_t sessions = get(bytes + kListsAt, kSessionCount);
  const std::uint64_t expected = kPairsAt + pairs * kPairBytes + sessions * kSessionBytes;
  if (pairs > kMostCmPairs || sessions > kMostGroupSessions || count != expected) {
    return flawed_cm(
        fmt::format("{} bytes with {} queue pairs and {} sessions seen; expected {} "
                    "bytes, and up to {} and {} of them",
                    count, pairs, sessions, expected, kMostCmPairs, kMostGroupSessions));
  }
  const std::uint8_t* at = bytes + kPairsAt;
  for (std::uint64_t i = 0; i < pairs; ++i, at += kPairBytes) {
    if (get(at, kPairFields[0]) != 0 || get(at, kPairFields[2]) != 0) {
      return flawed_cm(fmt::format("queue pair {} with more than 24 bits seen", i));
    }
    message.pairs.push_back({static_cast<std::uint32_t>(get(at, kPairFields[1])),
                             static_cast<std::uint32_t>(get(at, kPairFields[3]))});
  }
  for (std::uint64_t i = 0; i < sessions; ++i, at += kSessionBytes) {
    if (get(at, kSessionFields[5]) != 0) {
      return flawed_cm(fmt::format("session {} with reserved bits seen; expected zeros", i));
    }
    message.sessions.push_back({{static_cast<std::uint32_t>(get(at, kSessionFields[0])),
                                 static_cast<std::uint32_t>(get(at, kSessionFields[1])),
                                 static_cast<std::uint16_t>(get(at, kSessionFields[2])),
                                 static_cast<std::uint16_t>(get(at, kSessionFields[3]))},
                                static_cast<SessionId>(get(at, kSessionFields[4]))});
  }
  return read;
}

}  // namespace flitwise
