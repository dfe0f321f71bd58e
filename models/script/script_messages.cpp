// SPDX-License-Identifier: Apache-2.0
// Messages of CXL.cache, CXL.mem and of handles by script, as any agent might send them, and
// entries of the tables of handles.
#include <algorithm>

#include "codec/cxl_flit_json.h"
#include "flitwise/error.h"
#include "script/script_session.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

CxlWidths widths_on(const LinkConfig& link) {
  const CxlFlitForm form = link.preset.cxl == CxlFlits::k68 ? CxlFlitForm::k68
                           : link.cxl.latency_optimised     ? CxlFlitForm::k256LatencyOptimised
                                                            : CxlFlitForm::k256;
  return {form, link.cxl.identity_bits};
}

}  // namespace

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
    AllocMessage message;
    message.dhi = Dhi{op.dhi};
    message.identity = DeviceIdentity(op.bdf.value_or(endpoint.base()), op.pasid);
    message.is_trusted = op.is_trusted;
    message.capabilities = op.capabilities;
    message.epoch = epoch;
    write_dhi_message(*packet, requester, message);
  } else {
    DeallocMessage message;
    message.scope = op.scope;
    message.dhi = Dhi{op.dhi};
    message.upper = Dhi{op.upper};
    message.function = op.bdf.value_or(op.scope == DeallocScope::kFunction ? requester : Bdf{});
    message.epoch = epoch;
    write_dhi_message(*packet, requester, message);
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
  const auto& devices = machine_.fabric().devices;
  const auto device = std::find_if(devices.begin(), devices.end(),
                                   [&](const FabricDevice& one) { return one.name == op.port; });
  std::optional<DeviceIdentity> identity;  // none: the entry is not valid
  const auto look_in = [&](const auto* table) {
    if (const auto entry = table == nullptr ? std::nullopt : table->resolve(Dhi{op.dhi})) {
      identity = entry->identity;
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
  }
  output_.write(token_, "handle", fields);
}

}  // namespace flitwise
