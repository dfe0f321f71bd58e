// SPDX-License-Identifier: Apache-2.0
/// Where a packet goes inside a switch or a root complex: by address, by ID, or implicitly; and
/// what the registers of bridges say about that.
/// [LNK-1.2] and standard bridge rules (docs/config_space.md).
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "common/ranges.h"
#include "config_space/config_space.h"
#include "config_space/enumeration.h"
#include "flitwise/config.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// What a type 1 header says about the way of packets: bus range, memory windows, enables, ACS.
/// Decoded once per configuration write, asked once per packet.
struct Bridge {
  std::uint8_t primary = 0;
  std::uint8_t secondary = 0;  ///< 0: no bus numbers assigned, nothing is forwarded by ID
  std::uint8_t subordinate = 0;
  bool memory_enabled = false;  ///< Memory Space Enable: windows forward downstream
  bool bus_master = false;      ///< Bus Master Enable: memory requests are forwarded upstream
  AddressRange memory;          ///< non-prefetchable window; empty when base > limit
  AddressRange prefetchable;
  bool ari_forwarding = false;  ///< device numbers behind the port are function numbers
  bool blocks_atomics = false;  ///< AtomicOp Egress Blocking: none leaves by the port
  bool source_validation = false;
  bool p2p_request_redirect = false;
  bool p2p_completion_redirect = false;
  bool upstream_forwarding = false;
  bool p2p_egress_control = false;
  bool direct_translated_p2p = false;
  std::bitset<256> egress_blocked;  ///< by downstream port

  bool owns_bus(unsigned bus) const {
    return secondary != 0 && bus >= secondary && bus <= subordinate;
  }
  bool owns_address(std::uint64_t address) const {
    return memory_enabled && (memory.contains(address) || prefetchable.contains(address));
  }
};

/// REQUIRES: space has a type 1 header.
Bridge decode_bridge(const ConfigSpace& space);

/// Access Control Services as software sets them at a downstream port. egress: ports that no peer
/// may send requests to, by number.
AccessControl access_control(const AcsConfig& acs, const std::vector<unsigned>& egress = {});

enum class Where : std::uint8_t {
  kUp,         ///< switch: out of the upstream port; root complex: to the host
  kDown,       ///< out of downstream port Route::port
  kLocal,      ///< ends here: Route::port names the port's own function
  kBroadcast,  ///< out of every downstream port
  kGather,     ///< counted here; one goes up when every downstream port has sent one
  kNone,       ///< no port takes it: Unsupported Request (posted: dropped and logged)
};

/// Why no port takes a packet.
enum class NoRoute : std::uint8_t {
  kNothing,            ///< there is a route
  kNoWindow,           ///< no window claims the address
  kBackToSender,       ///< address or ID lies behind the port it came from
  kNoBus,              ///< no port owns the bus
  kNoHandle,           ///< no port's devices were given the handle
  kNoDevice,           ///< device number other than 0 behind a port, or no such port function
  kBusMasterDisabled,  ///< the ingress port may not forward memory requests upstream
  kEgressBlocked,      ///< ACS P2P Egress Control: a violation
  kAtomicsBlocked,     ///< the egress port blocks atomics [LNK-9.31]
  kWrongDirection,     ///< a configuration request from below, a broadcast from below, ...
};

/// What becomes of a TLP, for those who watch: it goes across to a peer, or is refused.
enum class TlpFate : std::uint8_t { kAcross, kRefused };

inline constexpr std::uint16_t kUpstreamPort = 0xffff;  ///< Route::port and ingress

struct Route {
  Where where = Where::kNone;
  std::uint16_t port = kUpstreamPort;  ///< kDown, kLocal: downstream port, or kUpstreamPort
  bool to_type0 = false;               ///< CfgRd1/CfgWr1 leave as CfgRd0/CfgWr0
  NoRoute reason = NoRoute::kNothing;
  bool is_redirected = false;  ///< kUp: for a peer, sent up by ACS [LNK-13.2] [LNK-13.3]
};

/// Routing decisions of one switch, or of the root ports of one root complex (bus 0, with
/// the ports from device 1 on and the host above). Beyond 31 ports each device has eight functions,
/// so that software finds ports in their order.
class RoutingTable {
 public:
  enum class Kind : std::uint8_t { kSwitch, kRootComplex };
  /// Port functions that share a device number: 1, or 8 where the bus has too few device numbers.
  static constexpr unsigned functions_per_device(Kind kind, unsigned ports) {
    return ports > (kind == Kind::kSwitch ? 32U : 31U) ? 8 : 1;
  }
  /// REQUIRES: downstream_ports is 1..248.
  RoutingTable(Kind kind, unsigned downstream_ports);

  /// To be called after each configuration write that changed the port's header.
  void update_upstream(const Bridge& bridge) { upstream_ = bridge; }
  void update_downstream(unsigned port, const Bridge& bridge) { downstream_[port] = bridge; }
  /// Handles stand in Requester IDs, where a peer would take them for a BDF, and the switch knows
  /// it: it sends requests that have one up. [DHI D23]
  void set_handle_is_requester_id(bool is_so) { handle_is_requester_id_ = is_so; }

  /// Asks; changes nothing. ingress: a downstream port, or kUpstreamPort.
  Route route(const Tlp& tlp, std::uint16_t ingress) const;

  const Bridge& upstream() const { return upstream_; }
  const Bridge& downstream(unsigned port) const { return downstream_[port]; }
  unsigned ports() const { return static_cast<unsigned>(downstream_.size()); }
  std::uint8_t internal_bus() const { return is_switch() ? upstream_.secondary : 0; }
  /// BDF of a downstream port's own function on the internal bus.
  Bdf port_bdf(unsigned port) const {
    return Bdf::of(internal_bus(), first_device() + port / functions(), port % functions());
  }
  /// The port whose function this is, or ports() if there is none.
  unsigned port_at(Bdf bdf) const;

 private:
  Route by_address(const Tlp& tlp, std::uint16_t ingress) const;
  Route atomic(const Tlp& tlp, std::uint16_t ingress) const;
  Route by_id(const Tlp& tlp, Bdf target, std::uint16_t ingress) const;
  Route configuration(const Tlp& tlp, std::uint16_t ingress) const;
  Route message(const Tlp& tlp, std::uint16_t ingress) const;
  // What a switch below has redirected meets the port it came through again. [LNK-13.5]
  bool goes_on_up(std::uint16_t ingress) const {
    return is_switch() && downstream_[ingress].upstream_forwarding;
  }
  Route to_peer(const Tlp& tlp, std::uint16_t ingress, unsigned egress) const;
  bool is_switch() const { return kind_ == Kind::kSwitch; }
  unsigned first_device() const { return is_switch() ? 0 : 1; }
  unsigned functions() const { return functions_per_device(kind_, ports()); }
  /// The first downstream port that owns it, or ports().
  template <class Owns>
  unsigned owner_of(Owns owns) const {
    return static_cast<unsigned>(find_if(downstream_, owns) - downstream_.begin());
  }

  Kind kind_;
  bool handle_is_requester_id_ = false;
  Bridge upstream_;
  std::vector<Bridge> downstream_;
};

/// The type 0 form of a type 1 configuration request. REQUIRES: tlp is CfgRd1 or CfgWr1.
Tlp as_type0(const Tlp& tlp);

}  // namespace flitwise
