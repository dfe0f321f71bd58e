// SPDX-License-Identifier: Apache-2.0
// Translation structures that a script has made, untimed.
#include <algorithm>
#include <iterator>

#include "codec/json_value.h"
#include "script/script_session.h"

namespace flitwise {

namespace {

using json_value::hex_number;

Json hex_numbers(const std::vector<std::uint64_t>& numbers) {
  Json texts = Json::array();
  std::transform(numbers.begin(), numbers.end(), std::back_inserter(texts), hex_number);
  return texts;
}

}  // namespace

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
    PermitOp permit;
    permit.grant.function = op.mapping.function;
    permit.grant.pasid = op.mapping.pasid;
    permit.grant.address = op.mapping.to;
    permit.grant.bytes = op.mapping.bytes;
    permit.grant.permission = *op.permit;
    run(permit);
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

}  // namespace flitwise
