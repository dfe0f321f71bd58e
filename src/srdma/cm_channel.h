// SPDX-License-Identifier: Apache-2.0
/// Control messages as frames: UD SEND ONLY to queue pair 1, from and to `cm_port`, secured by a
/// key that both ends have been given, unless `cm_plain`. [SEL-8]
#pragma once

#include <cstdint>
#include <optional>

#include "common/open_table.h"
#include "srdma/cm_message.h"
#include "srdma/replay_window.h"
#include "srdma/secured_frame.h"

namespace flitwise {

struct CmChannelRules {
  std::uint16_t port = 4791;  ///< `cm_port`
  bool is_plain = false;      ///< `cm_plain`
  SecretKey provisioned{};
  /// Counts the starts of this end: the receiver takes no lower one. model: microseconds of the
  /// run at which the end starts, plus 1.
  std::uint32_t start = 1;
};

struct CmReceived {
  CmMessage message;
  std::uint32_t from = 0;  ///< address of the end that has sent it
};

class CmChannel {
 public:
  struct Counts {
    std::uint64_t received = 0;
    std::uint64_t auth = 0;       ///< rx_cm_auth: not by the key, or not secured
    std::uint64_t replayed = 0;   ///< rx_cm_replay
    std::uint64_t malformed = 0;  ///< rx_cm_malformed: no message
  };

  explicit CmChannel(const CmChannelRules& rules) : rules_(rules) {}

  /// The frame of a message; the MAC addresses are the caller's.
  void make(const CmMessage& message, std::uint32_t source, std::uint32_t destination,
            ByteVector& frame);
  /// None: dropped and counted. The frame is opened in place.
  std::optional<CmReceived> read(ByteVector& frame, const UdpFrame& udp);
  const Counts& counts() const { return counts_; }
  std::uint16_t port() const { return rules_.port; }

 private:
  struct Peer {
    std::uint64_t sent = 0;
    std::uint32_t start = 0;  // the highest that has come
    ReplayWindow window;
  };
  static std::uint64_t hash_address(const std::uint32_t& address);
  SecretKey key_of(std::uint32_t source, std::uint32_t destination, std::uint32_t start) const;
  bool open(ByteVector& frame, const UdpFrame& udp);

  CmChannelRules rules_;
  FrameSecurity security_;
  OpenTable<std::uint32_t, Peer, hash_address> peers_;
  Counts counts_;
};

}  // namespace flitwise
