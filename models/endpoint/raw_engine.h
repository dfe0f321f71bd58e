// SPDX-License-Identifier: Apache-2.0
/// A source of TLPs as they stand, past the rules of the function shell: tags, identity, handles
/// and lengths are whatever it says.
#pragma once

#include <optional>
#include <string>

#include "flitwise/ids.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

struct DeviceControl;

class RawEngine {
 public:
  virtual ~RawEngine() = default;
  /// The next TLP, sized; null: none now. Endpoint::wake() when there is one again. Without
  /// `may_request`, which is Bus Master Enable, no memory or I/O request comes; messages and
  /// completions may.
  virtual PacketRef next(bool may_request) = 0;
  /// Whose request is next, where that function has to be one that may send; else none, and the
  /// PF's enable alone counts.
  virtual std::optional<Bdf> requester() const { return std::nullopt; }
  /// Software has written Device Control of the PF, or a reset has cleared it.
  virtual void controlled(const DeviceControl& /*control*/) {}
  /// A completion that no request of the shell waits for; true: this engine has waited for it.
  virtual bool complete(const Packet& packet, Time now) = 0;
  /// All TLPs have been given out, and what they wait for has come.
  virtual bool is_done() const = 0;
  /// What it waits for, for a deadlock report; empty where for nothing.
  virtual std::string waiting() const = 0;
};

}  // namespace flitwise
