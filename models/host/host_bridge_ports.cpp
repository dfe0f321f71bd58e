// SPDX-License-Identifier: Apache-2.0
// Registers of the root ports: configuration space on bus 0, and the handle registers.
#include <algorithm>

#include "config_space/dhi_capability.h"
#include "config_space/functions.h"
#include "host/host_bridge.h"
#include "tlp/raw_packet.h"

namespace flitwise {
namespace {

DhiCapability host_capability() {
  DhiCapability capability;
  capability.bits = kMaxHandleBits;
  return capability;
}

// How often the end of a reset, or of a link's training, is looked for.
constexpr Time kResetPoll = Time::from_ns(100);

std::uint16_t link_control_of(const ConfigSpace& space) {
  return static_cast<std::uint16_t>(space.find(cfg::kCapPcie).value() + cfg::pcie::kLinkControl);
}

// Software has given the port buses, and the table knows none of them.
bool has_no_devices(const HostHandleTable& table, BusRange buses) {
  bool is_known = buses.secondary == 0;
  for (unsigned bus = buses.secondary; bus <= buses.subordinate; ++bus) {
    is_known |= table.partition_of(Bdf::of(static_cast<std::uint8_t>(bus), 0, 0)).has_value();
  }
  return !is_known;
}

}  // namespace

// The link of a port above a switch cannot be disabled. [LNK-N.1]
HostBridge::Port::Port(HostBridge& own_bridge, unsigned own_index, DownstreamPort& own_port,
                       const LinkPreset& preset, PortFacts facts)
    : bridge(own_bridge),
      index(own_index),
      port(own_port),
      dvsec(host_capability()),
      space(port_space(cfg::pcie::PortType::kRootPort,
                       {preset.generation, preset.lanes, facts.can_be_disabled}, 0,
                       facts.has_siblings)) {
  space.add(dhi_capability(dvsec));
}

unsigned HostBridge::attach(DownstreamPort& port, const LinkPreset& link, PortFacts facts) {
  const unsigned index = ports();
  ports_.push_back(std::make_unique<Port>(*this, index, port, link, facts));
  routes_.emplace(RoutingTable::Kind::kRootComplex, ports());
  port.set_host(*ports_.back());
  return index;
}

void HostBridge::Port::interrupt(const Packet& packet) {
  ++bridge.interrupts_[packet.tlp.requester_id.bus()];
}

void HostBridge::Port::message(const Packet& packet) {
  const std::uint8_t code = packet.tlp.message_code;
  if (code == msg::kErrCor || code == msg::kErrNonFatal || code == msg::kErrFatal) {
    note_error_message(space, code, packet.tlp.requester_id);
  } else if (bridge.agent_ != nullptr) {
    bridge.agent_->receive(packet);
  }
}

bool HostBridge::Port::complete(const PacketRef& packet, Time when) {
  return bridge.completed(index, packet, when);
}

void HostBridge::Port::report(cfg::aer::Uncorrectable error, const Packet& packet) {
  report({error, received_header(packet), is_advisory(error, packet.tlp)});
}

// [LNK-12.11]
void HostBridge::Port::report(const FoundError& found) {
  tell_root(report_error(space, found));
}

void HostBridge::Port::report(cfg::aer::Correctable error) {
  tell_root(report_error(space, error));
}

// As if the port had sent itself the message.
void HostBridge::Port::tell_root(std::optional<std::uint8_t> message_code) {
  if (message_code) {
    note_error_message(space, *message_code, bridge.bdf_of(index));
  }
}

unsigned HostBridge::attach(HostHandles& handles, DownstreamPort& port) {
  handles.on_done([this](Bdf requester, const DeallocDone& done) {
    if (agent_ != nullptr) {
      agent_->handles_given_up(requester, done);
    }
  });
  blocks_.push_back({handles, port, HandleRegisters(), std::nullopt, HandleRange::none(), false});
  return static_cast<unsigned>(blocks_.size() - 1);
}

std::uint64_t HostBridge::interrupts(BusRange buses) const {
  std::uint64_t sum = 0;
  for (unsigned bus = buses.secondary; bus <= buses.subordinate; ++bus) {
    sum += interrupts_[bus];
  }
  return sum;
}

void HostBridge::on_hot_reset(unsigned port, HotReset action) {
  ports_[port]->hot_reset = std::move(action);
}

void HostBridge::on_link_disable(unsigned port, LinkControl control) {
  ports_[port]->link = std::move(control);
}

void HostBridge::attach(TranslationAgent& agent) {
  agent_ = &agent;
  agent.reach_devices(*this);
  agent.reach_handles(*this);
}

// The table that has handles for the device of the function.
HostHandleTable* HostBridge::table_with(Bdf function) const {
  for (const HandleBlock& block : blocks_) {
    HostHandleTable& table = block.handles.table();
    const std::optional<PartitionId> partition = table.partition_of(function);
    if (partition && block.port.buses().contains(function) &&
        !(table.range(*partition) == HandleRange::none())) {
      return &table;
    }
  }
  return nullptr;
}

std::optional<HandleTables::Device> HostBridge::device_of(Bdf function) const {
  const HostHandleTable* const table = table_with(function);
  if (table == nullptr) {
    return std::nullopt;
  }
  const PartitionId partition = *table->partition_of(function);
  return Device{table->first_function(partition), table->epoch(partition)};
}

// Handles that were switched off meanwhile are gone.
HandleStatus HostBridge::answered(Bdf function, const DeallocMessage& message,
                                  HandleStatus answer) {
  HostHandleTable* const table = table_with(function);
  return table == nullptr ? HandleStatus::kOk
                          : table->answered(*table->partition_of(function), message, answer);
}

// False: no port has the bus of the function below it.
bool HostBridge::send_message(PacketRef packet, Time delay) {
  const Route route = routes_->route(packet->tlp, kUpstreamPort);
  if (route.where != Where::kDown) {
    ++errors_["master_abort"];
    return false;
  }
  ports_[route.port]->port.send(std::move(packet), delay);
  return true;
}

void HostBridge::own_config(unsigned port, const CfgAccess& access, const Done& done) {
  after(mmio_, [this, port, access] {
    if (access.write) {
      apply(port, ports_[port]->space.write(access.offset, access.value, access.byte_enables));
    }
  });
  after(mmio_ * 2, [this, port, access, done] {
    HostAnswer answer;
    const std::uint32_t value = access.write ? 0 : ports_[port]->space.read(access.offset);
    for (unsigned byte = 0; byte < 4; ++byte) {
      answer.data.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
    }
    done(answer);
  });
}

void HostBridge::apply(unsigned port, const WriteEffect& effect) {
  Port& own = *ports_[port];
  if (!effect.any()) {
    return;
  }
  const Bridge bridge = decode_bridge(own.space);
  routes_->update_downstream(port, bridge);
  if (effect.command_changed) {
    own.port.set_bus_master(bridge.bus_master);
  }
  if (effect.bus_numbers_changed) {
    own.port.set_buses({bridge.secondary, bridge.subordinate});
  }
  if (effect.ecrc_control_changed) {
    own.port.set_ecrc(ecrc_control(own.space));
  }
  if (effect.dhi_control_changed) {
    negotiate_again(own);
  }
  if (effect.secondary_bus_reset && own.hot_reset.start) {
    start_hot_reset(own);
  }
  if (effect.link_disable_changed && own.link.take_down) {
    link_disable_written(port);
  }
}

// The host knows its own end alone: what software enabled there is what it goes by. [DHI D5, D6]
Negotiated HostBridge::handles_of(const Port& port) const {
  const HandleEnd end = port.dvsec.end();
  return negotiate(end, {true, true, end.bits, end.epoch}, port.dvsec.range(), true);
}

// One device below the port has the range of the registers; several have their shares of it.
// False: the range is another device's in part. [DHI D2] [DHI D4]
bool HostBridge::set_handles(HandleBlock& block, const Port& port) {
  HostHandleTable& table = block.handles.table();
  const BusRange buses = block.buses.value_or(port.port.buses());
  const bool is_active = handles_of(port).is_active();
  const bool is_alone =
      std::count_if(blocks_.begin(), blocks_.end(),
                    [&](const HandleBlock& other) { return &other.port == &port.port; }) == 1;
  block.is_reset_under_way = false;
  std::optional<PartitionId> partition = table.partition_of(Bdf::of(buses.secondary, 0, 0));
  if (!partition && is_active && is_alone && has_no_devices(table, buses)) {
    partition = table.add_partition({buses, HandleRange::none(), 0});
  }
  if (!partition) {
    return true;
  }
  const HandleRange written = port.dvsec.range();
  const HandleRange range = is_alone ? written : written.common(block.granted);
  return table.reset(*partition, is_active ? range : HandleRange::none(), port.dvsec.end().epoch);
}

void HostBridge::negotiate_again(Port& port) {
  Negotiated outcome = handles_of(port);
  for (HandleBlock& block : blocks_) {
    if (&block.port == &port.port && !set_handles(block, port)) {
      outcome.outcome = NegotiationOutcome::kBadRange;
    }
  }
  port.dvsec.set_outcome(outcome);
}

void HostBridge::start_hot_reset(Port& port) {
  begin_reset_of_handles(port);
  port.hot_reset.start();
  end_hot_reset(port);
}

// Uses that are on the link already find their entries; after them the host's end is cleared too,
// unless software has set it up anew in the meantime. [DHI D4]
void HostBridge::end_hot_reset(Port& port) {
  if (!port.hot_reset.is_over()) {
    after(kResetPoll, [this, &port] { end_hot_reset(port); });
    return;
  }
  if (port.link_state == LinkState::kUp) {  // else it is not over until the link comes up
    end_reset_of_handles(port);
  }
}

void HostBridge::begin_reset_of_handles(const Port& port) {
  for (HandleBlock& block : blocks_) {
    block.is_reset_under_way |= &block.port == &port.port;
  }
}

void HostBridge::end_reset_of_handles(const Port& port) {
  for (HandleBlock& block : blocks_) {
    if (&block.port == &port.port && block.is_reset_under_way) {
      set_handles(block, port);
    }
  }
}

// [LNK-10.4] [LNK-10.8]
void HostBridge::link_disable_written(unsigned index) {
  Port& port = *ports_[index];
  const std::uint16_t control = link_control_of(port.space);
  const bool is_disabled = (port.space.read(control) & cfg::pcie::kLinkDisable) != 0;
  if (!is_disabled && port.link_state == LinkState::kDisabled) {
    port.link_state = LinkState::kDraining;
    if (!port.is_polled) {
      train_link(port);
    }
  } else if (is_disabled) {
    const bool is_down_already = port.link_state == LinkState::kDraining;
    port.link_state = LinkState::kDisabled;
    if (is_down_already) {
      return;
    }
    port.space.set(control, cfg::pcie::kLinkActive, 0);
    begin_reset_of_handles(port);
    port.link.take_down();
    refuse_requests_of(index);
  }
}

// Until it is up, or disabled again. What came over the link before is over first, so that nothing
// is taken for an answer of afterwards. [LNK-10.7] [LNK-10.8] [DHI D4]
void HostBridge::train_link(Port& port) {
  if (port.link_state == LinkState::kDraining && port.link.may_come_up()) {
    end_reset_of_handles(port);
    port.link.bring_up();
    port.link_state = LinkState::kTraining;
  } else if (port.link_state == LinkState::kTraining && port.link.is_up()) {
    port.space.set(link_control_of(port.space), cfg::pcie::kLinkActive, cfg::pcie::kLinkActive);
    port.link_state = LinkState::kUp;
  }
  port.is_polled =
      port.link_state == LinkState::kDraining || port.link_state == LinkState::kTraining;
  if (port.is_polled) {
    after(kResetPoll, [this, &port] { train_link(port); });
  }
}

void HostBridge::grant_handles(unsigned block, BusRange buses, HandleRange range) {
  HandleBlock& own = blocks_[block];
  own.buses = buses;
  own.granted = range;
  HostHandleTable& table = own.handles.table();
  if (!table.partition_of(Bdf::of(buses.secondary, 0, 0))) {
    table.add_partition({buses, HandleRange::none(), 0});
  }
  const auto above = std::find_if(ports_.begin(), ports_.end(),
                                  [&](const auto& port) { return &port->port == &own.port; });
  set_handles(own, **above);
}

// Handle registers have four bytes, those of the agent four or eight.
std::uint64_t HostBridge::read_own(std::uint64_t address, unsigned bytes) const {
  const auto offset = static_cast<std::uint32_t>(address % 4096);
  return is_agent(address) ? agent_->read_register(offset, bytes)
                           : block_at(address).registers.read(offset);
}

void HostBridge::write_own(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  if (is_agent(address)) {
    std::uint64_t value = 0;
    for (std::size_t i = std::min<std::size_t>(bytes.size(), 8); i-- > 0;) {
      value = value << 8 | bytes[i];
    }
    agent_->write_register(static_cast<std::uint32_t>(address % 4096),
                           static_cast<unsigned>(bytes.size()), value);
    return;
  }
  HandleBlock& block = block_at(address);
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const std::uint32_t value = bytes[at] | std::uint32_t{bytes[at + 1]} << 8 |
                                std::uint32_t{bytes[at + 2]} << 16 |
                                std::uint32_t{bytes[at + 3]} << 24;
    const auto offset = static_cast<std::uint32_t>(address % 4096 + at);
    if (const auto order = block.registers.write(offset, value)) {
      command(block, *order);
    }
  }
}

// As if the message had come from the link; software's DEALLOC reaches further. [DHI D12, D15]
void HostBridge::command(HandleBlock& block, const HandleCommand& order) {
  HostHandleTable& table = block.handles.table();
  if (const auto* alloc = std::get_if<AllocMessage>(&order)) {
    block.registers.finish(table.allocate(block.port.buses(), alloc->identity.bdf, *alloc).status);
  } else {
    block.registers.finish(table.deallocate_by_software(std::get<DeallocMessage>(order)).status);
  }
}

}  // namespace flitwise
