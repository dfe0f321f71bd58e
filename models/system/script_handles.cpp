// SPDX-License-Identifier: Apache-2.0
// Handles by script: messages as any device might send them, and entries of the tables.
#include "system/script_session.h"
#include "tlp/wire_size.h"

namespace flitwise {

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
    write_alloc(*packet, requester, message);
  } else {
    DeallocMessage message;
    message.scope = op.scope;
    message.dhi = Dhi{op.dhi};
    message.upper = Dhi{op.upper};
    message.function = op.bdf.value_or(op.scope == DeallocScope::kFunction ? requester : Bdf{});
    message.epoch = epoch;
    write_dealloc(*packet, requester, message);
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
  for (const FabricDevice& device : machine_.fabric().devices) {
    if (device.name != op.port) {
      continue;
    }
    const DeviceHandleTable* const own = device.endpoint->dhi().table();
    if (op.is_host) {
      const auto entry = device.handles->table().resolve(Dhi{op.dhi});
      output_.handle(token_, op, entry ? &entry->identity : nullptr);
    } else {
      const auto entry = own == nullptr ? std::nullopt : own->resolve(Dhi{op.dhi});
      output_.handle(token_, op, entry ? &entry->identity : nullptr);
    }
  }
}

}  // namespace flitwise
