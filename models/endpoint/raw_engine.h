// SPDX-License-Identifier: Apache-2.0
/// A source of TLPs as they stand, past the rules of the function shell: tags, identity, handles
/// and lengths are whatever it says.
#pragma once

#include <functional>
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
  /// Whether memory and I/O requests of that function may leave, which is Bus Master Enable; of
  /// nullopt: requests that ask for the PF's enable alone.
  using MaySend = std::function<bool(std::optional<Bdf>)>;
  /// The next TLP, sized; null: none now. Endpoint::wake() when there is one again. Messages and
  /// completions come whatever `may_send` says.
  virtual PacketRef next(const MaySend& may_send) = 0;
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
