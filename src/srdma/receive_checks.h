// SPDX-License-Identifier: Apache-2.0
/// Checks 1 to 8 of what comes from the network, up to the queue pair: the first one that fails
/// drops the packet in silence and counts it. [RX-1] The others are those of the queue pair.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/byte_vector.h"
#include "common/ranges.h"
#include "network/roce_frame.h"
#include "srdma/secured_frame.h"
#include "srdma/session_groups.h"

namespace flitwise {

/// In the order of the checks.
enum class ReceiveCounter : std::uint8_t {
  kBadIp,         ///< 1: lengths or checksum
  kBadUdpLength,  ///< 2
  kControl,       ///< 3a: no drop, a control message
  kPlainUdp,      ///< 3: no drop, an application has bound the port
  kUnknownTuple,  ///< 3
  kSessionState,  ///< 4
  kBadKey,        ///< 5: of no epoch that is taken
  kAuth,          ///< 5
  kReplay,        ///< 5
  kBadIcrc,       ///< 6
  kBadVersion,    ///< 7
  kBadOpcode,     ///< 7: no opcode, or cut off
  kBadTransport,  ///< 7: neither RC nor CNP
  kQpMismatch,    ///< 8
  kData           ///< no drop: for its queue pair
};
inline constexpr int kReceiveCounters = 15;
constexpr const char* name_of(ReceiveCounter counter) {
  constexpr const char* kNames[] = {"rx_bad_ip",        "rx_bad_udp_length", "rx_control",
                                    "rx_plain_udp",     "rx_unknown_tuple",  "rx_session_state",
                                    "rx_bad_key",       "rx_auth",           "rx_replay",
                                    "rx_bad_icrc",      "rx_bad_version",    "rx_bad_opcode",
                                    "rx_bad_transport", "rx_qp_mismatch",    "rx_data"};
  return name_in(kNames, counter);
}

struct ReceivedFrame {
  ReceiveCounter outcome = ReceiveCounter::kBadIp;
  UdpFrame udp;        ///< from kControl on, as the frame came
  SessionPlace place;  ///< of its session, kSessionState and from kBadKey on
  /// kData: the key that it came by, null where the session is not secured; see
  /// ConnectionManager::data_came().
  const KeyEpoch* epoch = nullptr;
  RoceParts parts;               ///< kData
  std::uint32_t queue_pair = 0;  ///< kData: DestQP
};

class ReceiveChecks {
 public:
  /// groups: those of the NIC, which outlive it.
  ReceiveChecks(SessionGroups& groups, std::uint16_t cm_port)
      : groups_(groups), cm_port_(cm_port) {}

  /// A frame without its FCS, which the port has checked. Frames of secured sessions are opened in
  /// place. Costs an ICRC, and where it is secured AES-GCM, over the bytes; nothing is allocated.
  ReceivedFrame check(ByteVector& frame, Time now);
  /// Checks 3, 4, 5 and 8 of a packet without bytes, with the tuple that it carries: O(1). Its tag
  /// is right, and it has not come before. epoch: none where it is not secured.
  ReceivedFrame check(const SessionTuple& tuple, std::uint32_t queue_pair,
                      std::optional<EpochNumber> epoch, Time now);

  std::uint64_t count(ReceiveCounter counter) const {
    return counts_[static_cast<unsigned>(counter)];
  }

 private:
  ReceiveCounter check_frame(ByteVector& frame, ReceivedFrame& received, Time now);
  ReceiveCounter find_session(ReceivedFrame& received, Time now) const;
  ReceiveCounter open(ByteVector& frame, ReceivedFrame& received, Time now);
  static ReceiveCounter check_transport(const ByteVector& frame, ReceivedFrame& received);
  ReceiveCounter check_pair(const ReceivedFrame& received) const;
  void count_as(ReceivedFrame& received, ReceiveCounter outcome);

  SessionGroups& groups_;
  std::uint16_t cm_port_;
  FrameSecurity security_;
  std::array<std::uint64_t, kReceiveCounters> counts_{};
};

}  // namespace flitwise
