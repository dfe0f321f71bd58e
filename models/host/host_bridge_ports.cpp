// SPDX-License-Identifier: Apache-2.0
// Registers of the root ports: configuration space on bus 0, and the handle registers.
#include <algorithm>

#include "config_space/dhi_capability.h"
#include "config_space/functions.h"
#include "host/host_bridge.h"

namespace flitwise {
namespace {

DhiCapability host_capability() {
  DhiCapability capability;
  capability.bits = kMaxHandleBits;
  return capability;
}

}  // namespace

HostBridge::Port::Port(RootPort& root_port, const Config& config)
    : port(root_port),
      dvsec(host_capability()),
      space(port_space(cfg::pcie::PortType::kRootPort,
                       {config.link.preset.generation, config.link.preset.lanes}, 0)) {
  space.add(dhi_capability(dvsec));
}

unsigned HostBridge::attach(RootPort& port, const Config& config) {
  const unsigned index = ports();
  ports_.push_back(std::make_unique<Port>(port, config));
  routes_.emplace(RoutingTable::Kind::kRootComplex, ports());
  RootPort::HostHooks hooks;
  hooks.interrupt = [this](const Packet& packet, Time) {
    ++interrupts_[packet.tlp.requester_id.bus()];
  };
  hooks.message = [this, index](const Packet& packet, Time) { message(index, packet); };
  hooks.completion = [this](const PacketRef& packet, Time when) { return completed(packet, when); };
  port.set_hooks(std::move(hooks));
  return index;
}

unsigned HostBridge::attach(HostHandles& handles, RootPort& port) {
  blocks_.push_back({handles, port, HandleRegisters()});
  return static_cast<unsigned>(blocks_.size() - 1);
}

std::uint64_t HostBridge::interrupts(BusRange buses) const {
  std::uint64_t sum = 0;
  for (unsigned bus = buses.secondary; bus <= buses.subordinate; ++bus) {
    sum += interrupts_[bus];
  }
  return sum;
}

void HostBridge::on_hot_reset(unsigned port, std::function<void()> action) {
  ports_[port]->hot_reset = std::move(action);
}

void HostBridge::message(unsigned port, const Packet& packet) {
  const std::uint8_t code = packet.tlp.message_code;
  if (code == msg::kErrCor || code == msg::kErrNonFatal || code == msg::kErrFatal) {
    note_error_message(ports_[port]->space, code, packet.tlp.requester_id);
  }
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
  if (effect.dhi_control_changed) {
    const HandleEnd end = own.dvsec.end();
    own.dvsec.set_outcome(
        negotiate(end, {true, true, end.bits, end.epoch}, own.dvsec.range(), true));
  }
  if (effect.secondary_bus_reset && own.hot_reset) {
    own.hot_reset();
  }
}

void HostBridge::grant_handles(unsigned block, BusRange buses, HandleRange range,
                               std::uint8_t epoch) {
  HostHandleTable& table = blocks_[block].handles.table();
  const std::optional<PartitionId> known = table.partition_of(Bdf::of(buses.secondary, 0, 0));
  if (known) {
    table.reset(*known, epoch);
  } else {
    table.add_partition({buses, range, epoch});
  }
}

void HostBridge::write_own(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
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
