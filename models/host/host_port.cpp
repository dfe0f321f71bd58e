// SPDX-License-Identifier: Apache-2.0
// Registers of a root port.
#include "host/host_port.h"

#include "config_space/dhi_dvsec.h"
#include "config_space/functions.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

DhiCapability host_capability() {
  DhiCapability capability;
  capability.bits = kMaxHandleBits;
  return capability;
}

// How often the end of a reset, or of a link's training, is looked for.
constexpr Time kResetPoll = Time::from_ns(100);

}  // namespace

// The link of a port above a switch cannot be disabled. [LNK-N.1]
HostPort::HostPort(PortSurroundings& host, unsigned index, DownstreamPort& port,
                   const LinkPreset& preset, Facts facts)
    : wire(port),
      dvsec(host_capability()),
      space(port_space(cfg::pcie::PortType::kRootPort,
                       {preset.generation, preset.lanes, facts.can_be_disabled}, 0,
                       facts.has_siblings)),
      host_(host),
      index_(index) {
  space.add(dhi_capability(dvsec));
}

void HostPort::message(const Packet& packet) {
  const std::uint8_t code = packet.tlp.message_code;
  if (code == msg::kErrCor || code == msg::kErrNonFatal || code == msg::kErrFatal) {
    note_error_message(space, code, packet.tlp.requester_id);
  } else if (host_.agent != nullptr) {
    host_.agent->receive(packet);
  }
}

void HostPort::report(cfg::aer::Uncorrectable error, const Packet& packet) {
  report({error, received_header(packet), is_advisory(error, packet.tlp)});
}

// As if the port had sent itself the message.
void HostPort::tell_root(std::optional<std::uint8_t> message_code) {
  if (message_code) {
    note_error_message(space, *message_code, host_.routes->port_bdf(index_));
  }
}

void HostPort::write(const CfgAccess& access) {
  const WriteEffect effect = space.write(access.offset, access.value, access.byte_enables);
  if (!effect.any()) {
    return;
  }
  const Bridge bridge = decode_bridge(space);
  host_.routes->update_downstream(index_, bridge);
  if (effect.command_changed) {
    wire.set_bus_master(bridge.bus_master);
  }
  if (effect.bus_numbers_changed) {
    wire.set_buses({bridge.secondary, bridge.subordinate});
  }
  if (effect.ecrc_control_changed) {
    wire.set_ecrc(ecrc_control(space));
  }
  if (effect.dhi_control_changed) {
    host_.handles.negotiate(dvsec);
  }
  if (effect.secondary_bus_reset && below.reset) {
    host_.handles.begin_reset(dvsec);
    below.reset();
    end_hot_reset();
  }
  if (effect.link_disable_changed && below.take_down) {
    link_disable_written();
  }
}

// Uses that are on the link already find their entries; after them the host's end is cleared too.
// [DHI D4]
void HostPort::end_hot_reset() {
  if (!below.is_reset_over()) {
    host_.software.after(kResetPoll, [this] { end_hot_reset(); });
  } else if (is_up()) {  // else it is not over until the link comes up
    host_.handles.end_reset(dvsec);
  }
}

std::uint16_t HostPort::link_control() const {
  return static_cast<std::uint16_t>(space.find(cfg::kCapPcie).value() + cfg::pcie::kLinkControl);
}

// [LNK-10.4] [LNK-10.8]
void HostPort::link_disable_written() {
  const bool is_disabled = (space.read(link_control()) & cfg::pcie::kLinkDisable) != 0;
  if (!is_disabled && state_ == LinkState::kDisabled) {
    state_ = LinkState::kDraining;
    if (!is_polled_) {
      train_link();
    }
  } else if (is_disabled) {
    const bool is_down_already = state_ == LinkState::kDraining;
    state_ = LinkState::kDisabled;
    if (is_down_already) {
      return;
    }
    space.set(link_control(), cfg::pcie::kLinkActive, 0);
    host_.handles.begin_reset(dvsec);
    below.take_down();
    host_.requests.refuse_requests_of(*this);
  }
}

// Until it is up, or disabled again. What came over the link before is over first, so that nothing
// is taken for an answer of afterwards. [LNK-10.7] [LNK-10.8] [DHI D4]
void HostPort::train_link() {
  if (state_ == LinkState::kDraining && below.may_come_up()) {
    host_.handles.end_reset(dvsec);
    below.bring_up();
    state_ = LinkState::kTraining;
  } else if (state_ == LinkState::kTraining && below.is_up()) {
    space.set(link_control(), cfg::pcie::kLinkActive, cfg::pcie::kLinkActive);
    state_ = LinkState::kUp;
  }
  is_polled_ = state_ == LinkState::kDraining || state_ == LinkState::kTraining;
  if (is_polled_) {
    host_.software.after(kResetPoll, [this] { train_link(); });
  }
}

}  // namespace flitwise
