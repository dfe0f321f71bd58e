// SPDX-License-Identifier: Apache-2.0
// Routing by address, by ID and implicitly; decoding of type 1 headers, and registers of the ACS
// capability.
#include "routing/routing_table.h"

#include <algorithm>
#include <string>

#include "config_space/registers.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
constexpr unsigned kMaxPorts = 248;

constexpr Route kUp = {Where::kUp, kUpstreamPort};
constexpr Route kRedirected = {Where::kUp, kUpstreamPort, false, NoRoute::kNothing, true};

Route none(NoRoute reason) {
  return {Where::kNone, kUpstreamPort, false, reason};
}
Route to(Where where, unsigned port, bool to_type0 = false) {
  return {where, static_cast<std::uint16_t>(port), to_type0};
}

constexpr std::uint64_t kWindowGranule = std::uint64_t{1} << 20;

/// Base and limit are addresses in units of 1 MiB, both inside; base above limit: closed.
AddressRange window(std::uint64_t base, std::uint64_t limit) {
  if (base > limit) {
    return {};
  }
  // All addresses have no size in 64 bits; without the last byte they do.
  const std::uint64_t size = limit - base + kWindowGranule;
  return {base, size == 0 ? ~std::uint64_t{0} : size};
}
}  // namespace

RoutingTable::RoutingTable(Kind kind, unsigned downstream_ports)
    : kind_(kind), downstream_(downstream_ports) {
  FLITWISE_CHECK(downstream_ports >= 1 && downstream_ports <= kMaxPorts,
                 "downstream ports: " + std::to_string(downstream_ports));
}

Route RoutingTable::route(const Tlp& tlp, std::uint16_t ingress) const {
  if (is_configuration(tlp.type)) {
    return configuration(tlp, ingress);
  }
  if (is_message(tlp.type)) {
    return message(tlp, ingress);
  }
  if (is_io(tlp.type)) {
    return none(NoRoute::kNoWindow);  // model: no port has an I/O window.
  }
  if (is_atomic(tlp.type)) {
    return atomic(tlp, ingress);
  }
  return is_completion(tlp.type) ? by_id(tlp, tlp.requester_id, ingress) : by_address(tlp, ingress);
}

Route RoutingTable::atomic(const Tlp& tlp, std::uint16_t ingress) const {
  const Route route = by_address(tlp, ingress);
  const bool is_blocked = (route.where == Where::kUp && upstream_.blocks_atomics) ||
                          (route.where == Where::kDown && downstream_[route.port].blocks_atomics);
  return is_blocked ? none(NoRoute::kAtomicsBlocked) : route;
}

Route RoutingTable::by_address(const Tlp& tlp, std::uint16_t ingress) const {
  const unsigned owner =
      owner_of([&](const Bridge& port) { return port.owns_address(tlp.address); });
  if (ingress == kUpstreamPort) {
    const bool is_claimed = !is_switch() || upstream_.owns_address(tlp.address);
    return is_claimed && owner < ports() ? to(Where::kDown, owner) : none(NoRoute::kNoWindow);
  }
  const Bridge& port = downstream_[ingress];
  const bool is_back = owner == ingress;
  if (is_back && !goes_on_up(ingress)) {
    return none(NoRoute::kBackToSender);
  }
  const bool is_message = !is_memory_request(tlp.type);
  if (!is_message && (!port.bus_master ||
                      (is_switch() && (is_back || owner >= ports()) && !upstream_.bus_master))) {
    return none(NoRoute::kBusMasterDisabled);
  }
  if (owner < ports()) {
    return is_back ? kUp : to_peer(tlp, ingress, owner);  // [LNK-13.1]
  }
  return is_switch() && upstream_.owns_address(tlp.address) ? none(NoRoute::kNoWindow) : kUp;
}

// A handle in a Requester ID means nothing to a peer, one beside it is ignored there. [DHI D23]
// Egress Control decides port by port, and what it holds back is redirected where requests are,
// else a violation. [LNK-13.2] [LNK-13.3] [LNK-13.4]
Route RoutingTable::to_peer(const Tlp& tlp, std::uint16_t ingress, unsigned egress) const {
  const Bridge& port = downstream_[ingress];
  if (handle_is_requester_id_ && tlp.id_is_handle) {
    return kUp;
  }
  if (port.direct_translated_p2p && tlp.at == AddressType::kTranslated) {
    return to(Where::kDown, egress);
  }
  if (port.p2p_egress_control ? !port.egress_blocked[egress] : !port.p2p_request_redirect) {
    return to(Where::kDown, egress);
  }
  return port.p2p_request_redirect ? kRedirected : none(NoRoute::kEgressBlocked);
}

Route RoutingTable::by_id(const Tlp& tlp, Bdf target, std::uint16_t ingress) const {
  const bool is_from_above = ingress == kUpstreamPort;
  const unsigned bus = target.bus();
  if (is_switch() && target == Bdf::of(upstream_.primary, 0, 0)) {
    return to(Where::kLocal, kUpstreamPort);
  }
  if (is_from_above && is_switch() && !upstream_.owns_bus(bus)) {
    return none(NoRoute::kNoBus);
  }
  const unsigned owner = owner_of([&](const Bridge& port) { return port.owns_bus(bus); });
  if (!is_from_above && owner == ingress) {
    return goes_on_up(ingress) ? kUp : none(NoRoute::kBackToSender);
  }
  if (owner < ports() && !is_from_above && !is_completion(tlp.type)) {
    return to_peer(tlp, ingress, owner);  // a message is a request [LNK-13.2]
  }
  if (owner < ports()) {
    const bool is_redirected =
        !is_from_above && !tlp.relaxed_ordering && downstream_[ingress].p2p_completion_redirect;
    return is_redirected ? kRedirected : to(Where::kDown, owner);
  }
  const bool is_internal = bus == internal_bus() && (!is_switch() || upstream_.secondary != 0);
  if (is_internal && port_at(target) < ports()) {
    return to(Where::kLocal, port_at(target));
  }
  if (is_from_above) {
    return none(is_internal ? NoRoute::kNoDevice : NoRoute::kNoBus);
  }
  // Upwards: out of a switch what is not its own; to the host what stands on bus 0.
  const bool is_above = is_switch() ? !upstream_.owns_bus(bus) : is_internal;
  return is_above ? kUp : none(is_internal ? NoRoute::kNoDevice : NoRoute::kNoBus);
}

Route RoutingTable::configuration(const Tlp& tlp, std::uint16_t ingress) const {
  if (ingress != kUpstreamPort) {
    return none(NoRoute::kWrongDirection);
  }
  const Bdf target = tlp.completer_id;
  const bool is_type0 = tlp.type == TlpType::kCfgRd0 || tlp.type == TlpType::kCfgWr0;
  if (is_type0 && is_switch()) {
    // A type 0 request has come to the link it is for: its bus number is the link's.
    return target.device() == 0 && target.function() == 0 ? to(Where::kLocal, kUpstreamPort)
                                                          : none(NoRoute::kNoDevice);
  }
  if (is_switch() && !upstream_.owns_bus(target.bus())) {
    return none(NoRoute::kNoBus);
  }
  if (target.bus() == internal_bus()) {
    const unsigned port = port_at(target);
    return port < ports() ? to(Where::kLocal, port, !is_type0) : none(NoRoute::kNoDevice);
  }
  const unsigned owner = owner_of([&](const Bridge& port) { return port.owns_bus(target.bus()); });
  if (is_type0 || owner >= ports()) {
    return none(NoRoute::kNoBus);
  }
  const bool is_next_link = target.bus() == downstream_[owner].secondary;
  if (is_next_link && target.device() != 0 && !downstream_[owner].ari_forwarding) {
    return none(NoRoute::kNoDevice);
  }
  return to(Where::kDown, owner, is_next_link);
}

Route RoutingTable::message(const Tlp& tlp, std::uint16_t ingress) const {
  const bool is_from_above = ingress == kUpstreamPort;
  switch (tlp.routing) {
    case MsgRouting::kToRootComplex: return is_from_above ? none(NoRoute::kWrongDirection) : kUp;
    case MsgRouting::kByAddress: return by_address(tlp, ingress);
    case MsgRouting::kById:
      return by_id(tlp, Bdf{static_cast<std::uint16_t>(tlp.message_dw2 >> 16)}, ingress);
    case MsgRouting::kBroadcast:
      return is_from_above ? to(Where::kBroadcast, kUpstreamPort) : none(NoRoute::kWrongDirection);
    case MsgRouting::kLocal: return to(Where::kLocal, ingress);
    case MsgRouting::kGathered:
      return is_from_above ? none(NoRoute::kWrongDirection) : to(Where::kGather, kUpstreamPort);
  }
  return to(Where::kLocal, ingress);  // Reserved codes end at their receiver.
}

unsigned RoutingTable::port_at(Bdf bdf) const {
  if (bdf.bus() != internal_bus() || bdf.device() < first_device() ||
      bdf.function() >= functions()) {
    return ports();
  }
  const unsigned port = (bdf.device() - first_device()) * functions() + bdf.function();
  return port < ports() ? port : ports();
}

Tlp as_type0(const Tlp& tlp) {
  Tlp converted = tlp;
  converted.type = tlp.type == TlpType::kCfgRd1 ? TlpType::kCfgRd0 : TlpType::kCfgWr0;
  return converted;
}

Bridge decode_bridge(const ConfigSpace& space) {
  Bridge bridge;
  const std::uint32_t buses = space.read(cfg::kBusNumbers);
  bridge.primary = static_cast<std::uint8_t>(buses);
  bridge.secondary = static_cast<std::uint8_t>(buses >> 8);
  bridge.subordinate = static_cast<std::uint8_t>(buses >> 16);
  bridge.memory_enabled = space.memory_space_enabled();
  bridge.bus_master = space.bus_master_enabled();

  const std::uint32_t memory = space.read(cfg::kMemoryWindow);
  bridge.memory = window(std::uint64_t{memory & 0xfff0U} << 16, memory & 0xfff00000U);
  const std::uint32_t prefetch = space.read(cfg::kPrefetchWindow);
  const std::uint64_t base_upper = space.read(cfg::kPrefetchBaseUpper);
  const std::uint64_t limit_upper = space.read(cfg::kPrefetchLimitUpper);
  bridge.prefetchable = window(base_upper << 32 | (prefetch & 0xfff0U) << 16,
                               limit_upper << 32 | (prefetch & 0xfff00000U));

  const auto pcie = space.find(cfg::kCapPcie);
  if (pcie) {
    const std::uint32_t control2 =
        space.read(static_cast<std::uint16_t>(*pcie + cfg::pcie::kDeviceControl2));
    bridge.ari_forwarding = (control2 & cfg::pcie::kAriForwarding) != 0;
    bridge.blocks_atomics = (control2 & cfg::pcie::kAtomicEgressBlocking) != 0;
  }
  const auto acs = space.find_extended(cfg::kExtAcs);
  if (acs) {
    const std::uint32_t registers =
        space.read(static_cast<std::uint16_t>(*acs + cfg::acs::kControl));
    const std::uint32_t control = registers >> 16;
    bridge.source_validation = (control & cfg::acs::kSourceValidation) != 0;
    bridge.p2p_request_redirect = (control & cfg::acs::kP2pRequestRedirect) != 0;
    bridge.p2p_completion_redirect = (control & cfg::acs::kP2pCompletionRedirect) != 0;
    bridge.upstream_forwarding = (control & cfg::acs::kUpstreamForwarding) != 0;
    bridge.p2p_egress_control = (control & cfg::acs::kP2pEgressControl) != 0;
    bridge.direct_translated_p2p = (control & cfg::acs::kDirectTranslatedP2p) != 0;
    const unsigned peers = registers >> cfg::acs::kVectorSizeShift & 0xffU;
    for (unsigned port = 0; port < peers; ++port) {
      const auto at = static_cast<std::uint16_t>(*acs + cfg::acs::kEgressVector + port / 32 * 4);
      bridge.egress_blocked[port] = (space.read(at) >> port % 32 & 1U) != 0;
    }
  }
  return bridge;
}

AccessControl access_control(const AcsConfig& acs, const std::vector<unsigned>& egress) {
  const auto bit = [](bool is_set, std::uint32_t which) { return is_set ? which : 0U; };
  AccessControl access;
  access.control =
      bit(acs.source_validation, cfg::acs::kSourceValidation) |
      bit(acs.p2p_request == PeerRoute::kRedirect, cfg::acs::kP2pRequestRedirect) |
      bit(acs.p2p_completion == PeerRoute::kRedirect, cfg::acs::kP2pCompletionRedirect) |
      bit(!egress.empty(), cfg::acs::kP2pEgressControl) |
      bit(acs.direct_translated, cfg::acs::kDirectTranslatedP2p) | cfg::acs::kUpstreamForwarding;
  for (const unsigned port : egress) {
    access.egress.resize(std::max<std::size_t>(access.egress.size(), port / 32 + 1));
    access.egress[port / 32] |= 1U << port % 32;
  }
  return access;
}

}  // namespace flitwise
