// SPDX-License-Identifier: Apache-2.0
/// Priority flow control: what came by a port and has not left the switch yet pauses its neighbour,
/// from XOFF bytes on, until it is down to XON. [CC-6]
#pragma once

#include <cstdint>
#include <string>

#include "flitwise/time.h"
#include "network/network_plan.h"

namespace flitwise {

struct PfcRules {
  bool is_on = false;
  std::int64_t xoff = 0, xon = 0;  ///< bytes of one port of entry
};

/// By default: the room of a port divided by all ports of the switch, less the headroom for what
/// is on its way when a pause begins; XON is two packets lower. Out of range where a switch has
/// many ports: see complaint_about().
constexpr PfcRules pfc_of(std::uint64_t room, std::uint32_t ports, std::uint32_t mtu,
                          std::uint64_t headroom = std::uint64_t{40} << 10) {
  const std::int64_t xoff =
      static_cast<std::int64_t>(room / ports) - static_cast<std::int64_t>(headroom);
  return {true, xoff, xoff - 2 * std::int64_t{mtu}};
}
/// What is wrong with the thresholds at a switch of so many ports, each with that room, as a
/// sentence; empty: nothing. XON and XOFF are above 0, XON is lower, and what all ports of entry
/// may hold, with what is on its way, has room at one output.
std::string complaint_about(const PfcRules& rules, std::uint64_t room, std::uint32_t ports,
                            std::uint32_t mtu, EdgeRate edge);
/// What may still come when a pause begins: both directions of the edge full, the packet that the
/// pause waits behind, and the one that the neighbour has begun.
std::uint64_t pfc_headroom(EdgeRate edge, std::uint32_t mtu);

enum class PfcAction : std::uint8_t { kNone, kPause, kResume };

/// One port of entry, one priority.
class PfcIngress {
 public:
  /// The packet was taken by an output. kPause: the neighbour is to stop.
  PfcAction came(const PfcRules& rules, std::uint32_t bytes) {
    bytes_ += bytes;
    if (is_paused_ || !rules.is_on || bytes_ < rules.xoff) {
      return PfcAction::kNone;
    }
    is_paused_ = true;
    return PfcAction::kPause;
  }
  /// Its last bit has left. kResume: the neighbour may go on.
  PfcAction left(const PfcRules& rules, std::uint32_t bytes) {
    bytes_ -= bytes;
    if (!is_paused_ || bytes_ > rules.xon) {
      return PfcAction::kNone;
    }
    is_paused_ = false;
    return PfcAction::kResume;
  }
  std::int64_t bytes() const { return bytes_; }
  bool has_paused() const { return is_paused_; }

 private:
  std::int64_t bytes_ = 0;
  bool is_paused_ = false;
};

/// The neighbour of such a port: whether its output may begin a packet, and for how long it could
/// not.
class PausedOutput {
 public:
  void pause(Time now) {
    since_ = is_paused_ ? since_ : now;
    times_ += is_paused_ ? 0 : 1;
    is_paused_ = true;
  }
  void resume(Time now) {
    paused_ += is_paused_ ? now - since_ : Time{};
    is_paused_ = false;
  }
  bool is_paused() const { return is_paused_; }
  Time paused(Time now) const { return is_paused_ ? paused_ + (now - since_) : paused_; }
  std::uint64_t times() const { return times_; }

 private:
  bool is_paused_ = false;
  Time since_{}, paused_{};
  std::uint64_t times_ = 0;
};

}  // namespace flitwise
