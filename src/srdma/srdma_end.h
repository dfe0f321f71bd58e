// SPDX-License-Identifier: Apache-2.0
/// One end of session groups, all of its parts together: frames of control messages and of queue
/// pairs go out by it and come in. Scripts drive two of them.
#pragma once

#include <cstdint>

#include "network/roce_frame.h"
#include "srdma/cm_channel.h"
#include "srdma/connection_manager.h"
#include "srdma/receive_checks.h"

namespace flitwise {

struct SrdmaEndSetup {
  std::uint32_t address = 0;  ///< of control messages, and of sessions where nothing else is said
  std::uint64_t seed = 1;     ///< of ports and keys
  SessionRules sessions;
  PortRules ports;  ///< the port of control messages is reserved too
  CmRules manager;  ///< but for its address
  CmChannelRules channel;
};

class SrdmaEnd {
 public:
  explicit SrdmaEnd(const SrdmaEndSetup& setup);

  /// The next control message, and its frame. False: none is to be sent.
  bool next_control(ByteVector& frame, CmMessage& message);
  /// Puts a frame of a queue pair (make_roce) onto a session: addresses and ports, ICRC and
  /// checksums, and its key where it has one. REQUIRES: the session is eligible.
  void carry(SessionPlace place, const RoceParts& parts, ByteVector& frame, Time now);
  /// A frame from the network, without its FCS. Control messages and what confirms a handshake are
  /// seen to; the rest of the outcome is the caller's.
  ReceivedFrame receive(ByteVector& frame, Time now);
  void tick(Time now) { manager_.tick(now); }

  SessionGroups& groups() { return groups_; }
  const SessionGroups& groups() const { return groups_; }
  ConnectionManager& manager() { return manager_; }
  const ConnectionManager& manager() const { return manager_; }
  const CmChannel& channel() const { return channel_; }
  const ReceiveChecks& checks() const { return checks_; }
  std::uint32_t address() const { return address_; }

 private:
  std::uint32_t address_;
  SessionGroups groups_;
  ConnectionManager manager_;
  CmChannel channel_;
  ReceiveChecks checks_;
  FrameSecurity security_;
};

}  // namespace flitwise
