// SPDX-License-Identifier: Apache-2.0
// Translation structures that a script has made, untimed.
#include <stdexcept>

#include "script/script_session.h"

namespace flitwise {

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
  output_.mapped(token_, tables().map(op.mapping));
  if (op.permit) {
    PermissionGrant grant;
    grant.function = op.mapping.function;
    grant.pasid = op.mapping.pasid;
    grant.address = op.mapping.to;
    grant.bytes = op.mapping.bytes;
    grant.permission = *op.permit;
    output_.permitted(token_, tables().permit(grant));
  }
}

void ScriptSession::run(const PermitOp& op) {
  output_.permitted(token_, tables().permit(op.grant));
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

}  // namespace flitwise
