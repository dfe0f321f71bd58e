// SPDX-License-Identifier: Apache-2.0
// What host software does for a script: resets through configuration registers, and translation
// structures, untimed.
#include <algorithm>
#include <iterator>

#include "codec/json_value.h"
#include "config_space/registers.h"
#include "host/handle_driver.h"
#include "script/script_session.h"

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
    bad_value("bdf: nobody answers there; expected a root port or a port of a switch");
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
  const Time patience = now() + machine_.config.run.deadlock_after;
  while (!is_active()) {
    if (now() >= patience) {
      bad_value("bdf: the link below it does not come up again; what waits:\n" +
                machine_.waiting());
      return;
    }
  }
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
  FunctionResetOptions options;
  options.function = function;
  options.pcie = static_cast<std::uint16_t>(pcie);
  options.host_block = device;
  options.is_first = function == machine_.booted().devices()[device].pf;
  options.enables = false;
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
