// SPDX-License-Identifier: Apache-2.0
// What host software does for a script: resets through configuration registers, and translation
// structures, untimed. Messages of CXL.cache, CXL.mem and of handles, as any agent might send them,
// and entries of the tables of handles.
#include <algorithm>
#include <iterator>

#include "codec/cxl_flit_json.h"
#include "codec/json_value.h"
#include "config_space/registers.h"
#include "dhi/context_text.h"
#include "flitwise/error.h"
#include "host/handle_driver.h"
#include "script/script_session.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr Time kHotResetSpan = Time::from_us(2);  // model: a real bus takes 1 ms
constexpr Time kLinkDownSpan = Time::from_us(2);

using json_value::hex_number;

Json hex_numbers(const std::vector<std::uint64_t>& numbers) {
  Json texts = Json::array();
  std::transform(numbers.begin(), numbers.end(), std::back_inserter(texts), hex_number);
  return texts;
}

CxlWidths widths_on(const LinkConfig& link) {
  const CxlFlitForm form = link.preset.cxl == CxlFlits::k68 ? CxlFlitForm::k68
                           : link.cxl.latency_optimised     ? CxlFlitForm::k256LatencyOptimised
                                                            : CxlFlitForm::k256;
  return {form, link.cxl.identity_bits};
}

}  // namespace

void ScriptSession::run(const ResetOp& op) {
  const auto reset = op.kind == ResetOp::Kind::kHot        ? &ScriptSession::reset_below
                     : op.kind == ResetOp::Kind::kLinkDown ? &ScriptSession::take_link_down
                                                           : &ScriptSession::reset_function;
  (this->*reset)(op.target);
}

void ScriptSession::reset_below(Bdf port) {
  const std::optional<std::uint32_t> control = config_read(port, cfg::kBridgeControlDw);
  if (!control) {
    bad_value("bdf: nobody answers there; expected a root port right above a device");
    return;
  }
  // A switch passes no reset on. [LNK-N.1]
  const Graph& graph = machine_.fabric().graph;
  const auto is_above_device = [&](unsigned root_port) {
    return machine_.bridge().bdf_of(root_port) == port &&
           graph.is(graph[graph.root_ports()[root_port]].lower.front(), NodeKind::kDevice);
  };
  unsigned root_port = 0;
  while (root_port < machine_.bridge().ports() && !is_above_device(root_port)) {
    ++root_port;
  }
  if (root_port == machine_.bridge().ports()) {
    bad_value("bdf: no hot reset is modelled below it; expected a root port right above a device");
    return;
  }
  config_write(port, cfg::kBridgeControlDw, *control | cfg::kSecondaryBusReset);
  sc_core::sc_start(to_sc_time(kHotResetSpan));
  config_write(port, cfg::kBridgeControlDw, *control & ~cfg::kSecondaryBusReset);
}

// As software does it: Link Disable set and cleared, then a look at Data Link Layer Link Active
// until it is there. [LNK-10.4] [LNK-10.8]
void ScriptSession::take_link_down(Bdf port) {
  const unsigned control = pcie_capability(port) + cfg::pcie::kLinkControl;
  const auto is_active = [&] {
    return (config_read(port, control).value_or(0) & cfg::pcie::kLinkActive) != 0;
  };
  if (control == cfg::pcie::kLinkControl || !is_active()) {
    bad_value("bdf: no link is up below it; expected a root port");
    return;
  }
  const std::uint32_t value = config_read(port, control).value_or(0) & 0xffff;
  config_write(port, control, value | cfg::pcie::kLinkDisable);
  if (is_active()) {
    bad_value(
        "bdf: the link below it cannot be disabled; expected a root port right above a device");
    return;
  }
  sc_core::sc_start(to_sc_time(kLinkDownSpan));
  config_write(port, control, value & ~cfg::pcie::kLinkDisable);
  machine_.run_until(is_active);
}

void ScriptSession::reset_function(Bdf function) {
  const unsigned pcie = pcie_capability(function);
  if (pcie == 0) {
    bad_value("bdf: no function with a PCI Express capability answers there");
    return;
  }
  if (const std::optional<unsigned> device = machine_.software().handles_of(function)) {
    reset_with_handles(function, pcie, *device);
    return;
  }
  const unsigned control = pcie + cfg::pcie::kDeviceControl;
  const std::uint32_t value = config_read(function, control).value_or(0) & 0xffff;
  config_write(function, control, value | cfg::pcie::kInitiateFlr);
}

// Before the function sends again, the host has to have forgotten its handles. [DHI D4]
void ScriptSession::reset_with_handles(Bdf function, unsigned pcie, unsigned device) {
  const bool is_first = function == machine_.booted().devices()[device].pf;
  const FunctionResetOptions options{function, static_cast<std::uint16_t>(pcie), device, is_first,
                                     false};
  bool is_over = false;
  flitwise::reset_function(machine_.bridge(), options, [&](HandleStatus) { is_over = true; });
  while (!is_over) {
    sc_core::sc_start(to_sc_time(kSlice));
  }
}

// Where the PCI Express capability starts; 0 where there is none.
unsigned ScriptSession::pcie_capability(Bdf function) {
  const std::optional<std::uint32_t> first = config_read(function, cfg::kCapabilityPointer);
  unsigned at = first.value_or(0) & 0xfc;
  for (unsigned seen = 0; at != 0 && seen < 48; ++seen) {  // as many as fit the space
    const std::uint32_t header = config_read(function, at).value_or(0);
    if ((header & 0xff) == cfg::kCapPcie) {
      return at;
    }
    at = header >> 8 & 0xfc;
  }
  return 0;
}

// Nothing where no port answers.
std::optional<std::uint32_t> ScriptSession::config_read(Bdf target, unsigned offset) {
  const HostAnswer answer =
      wait_for_config(CfgAccess::read_of(target, static_cast<std::uint16_t>(offset)));
  return answer.is_ok() ? std::optional(answer.value()) : std::nullopt;
}

void ScriptSession::config_write(Bdf target, unsigned offset, std::uint32_t value) {
  wait_for_config({true, target, static_cast<std::uint16_t>(offset), value});
}

TableBuilder& ScriptSession::tables() {
  if (!tables_) {
    const auto poke = [this](std::uint64_t address, std::uint64_t value) {
      return machine_.memory().poke_u64(address, value);
    };
    tables_.emplace(poke, TableBuilder::kDefaultArea,
                    machine_.config.iommu.capabilities.host_address_bits);
  }
  return *tables_;
}

void ScriptSession::run(const MapOp& op) {
  const MappedEntries entries = tables().map(op.mapping);
  output_.write(token_, "mapped",
                {{"root_table", hex_number(entries.root_table)},
                 {"root_entry", hex_number(entries.root)},
                 {"context_entry", hex_number(entries.context)},
                 {"pasid_directory_entry", hex_number(entries.pasid_directory)},
                 {"pasid_entry", hex_number(entries.pasid)},
                 {"first_stage", hex_numbers(entries.first_stage)},
                 {"second_stage", hex_numbers(entries.second_stage)}});
  if (op.permit) {
    const Mapping& mapping = op.mapping;
    run(PermitOp{
        {mapping.function, mapping.pasid, mapping.to, mapping.bytes, kPageBits, *op.permit, {}}});
  }
}

void ScriptSession::run(const PermitOp& op) {
  const GrantedEntries entries = tables().permit(op.grant);
  output_.write(token_, "permitted",
                {{"pointer", hex_number(entries.pointer)}, {"words", hex_numbers(entries.words)}});
}

void ScriptSession::run(const PokeEntryOp& op) {
  const std::optional<std::uint64_t> entry = tables().find(op.name);
  if (!entry) {
    bad_value("which: map has made no such entry");
    return;
  }
  const std::uint64_t address = *entry + op.quad * 8U;
  MemoryPort& memory = machine_.memory();
  memory.poke_u64(address, (memory.peek_u64(address) & ~op.clear) | op.set);
}

const FabricDevice* ScriptSession::device_at(const std::string& port) {
  std::vector<std::string> names;
  for (const FabricDevice& device : machine_.fabric().devices) {
    const std::string above = device.root_port->name();
    if (port == device.name || port == above) {
      return &device;
    }
    names.push_back(device.name);
    names.push_back(above);
  }
  bad_name("port", "port", port, names);
  return nullptr;
}

void ScriptSession::run(const CxlOp& op) {
  const FabricDevice* const device = device_at(op.port);
  if (device == nullptr) {
    return;
  }
  const LinkConfig& link = machine_.fabric().links[device->link].link->config();
  if (link.preset.cxl == CxlFlits::kNone) {
    bad_value("port: the link of '" + op.port + "' is not a CXL link");
    return;
  }
  const CxlSend sent =
      nested("message", [&] { return send_from_json(op.message, widths_on(link), {}); });
  const CxlChannelInfo& channel = info_of(sent.message.channel);
  const bool is_down = channel.direction == CxlDirection::kDownstream;
  if (is_down == (op.port == device->name)) {
    bad_value(std::string("port: ") + channel.name + (is_down ? " goes down" : " goes up") +
              "; expected " + (is_down ? device->root_port->name() : device->name));
    return;
  }
  PacketRef packet = cxl_packet(machine_.pool, {0, sent.message, sent.line}, true);
  packet->request = token_;
  if (!device->cxl.send(std::move(packet))) {
    bad_value(std::string("message: nobody has ") + channel.name + " on the link of " +
              device->name);
  }
}

void ScriptSession::run(const DhiOp& op) {
  if (!has_port(op.port)) {
    return;
  }
  Endpoint& endpoint = *machine_.endpoint(op.port);
  const DeviceHandleTable* const table = endpoint.dhi().table();
  const std::uint8_t epoch = op.epoch.value_or(table == nullptr ? 0 : table->epoch());
  const Bdf requester = op.requester_id.value_or(endpoint.base());
  PacketRef packet = machine_.pool.make(PacketKind::kTlp);
  if (op.is_alloc) {
    const DeviceIdentity identity(op.bdf.value_or(endpoint.base()), op.pasid);
    write_dhi_message(
        *packet, requester,
        AllocMessage{Dhi{op.dhi}, identity, op.is_trusted, op.capabilities, epoch, op.context});
  } else {
    const Bdf named = op.scope == DeallocScope::kFunction ? requester : Bdf{};
    write_dhi_message(
        *packet, requester,
        DeallocMessage{op.scope, Dhi{op.dhi}, Dhi{op.upper}, op.bdf.value_or(named), epoch});
  }
  packet->size = wire_size_of(packet->tlp, packet->payload_bytes, packet->purpose);
  packet->request = token_;
  engines_.at(op.port)->send(std::move(packet));
  endpoint.wake();
}

void ScriptSession::run(const HandleOp& op) {
  if (!has_port(op.port)) {
    return;
  }
  const FabricDevice* const device = machine_.fabric().find(op.port);
  std::optional<DeviceIdentity> identity;  // none: the entry is not valid
  ContextId context;
  const auto look_in = [&](const auto* table) {
    if (const auto entry = table == nullptr ? std::nullopt : table->resolve(Dhi{op.dhi})) {
      identity = entry->identity;
      context = entry->context;
    }
  };
  op.is_host ? look_in(&device->handles->table()) : look_in(device->endpoint->dhi().table());
  Json fields = {
      {"end", op.is_host ? "host" : "device"}, {"dhi", op.dhi}, {"valid", identity.has_value()}};
  if (identity) {
    fields["bdf"] = json_value::bdf_text(identity->bdf);
    if (identity->pasid) {
      fields["pasid"] = to_int(*identity->pasid);
    }
    if (context) {
      fields["context"] = text_of(context);
    }
  }
  output_.write(token_, "handle", fields);
}

}  // namespace flitwise
