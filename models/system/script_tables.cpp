// SPDX-License-Identifier: Apache-2.0
// Translation structures that a script has made, untimed.
#include <stdexcept>

#include "system/script_session.h"

namespace flitwise {

TableBuilder& ScriptSession::tables() {
  if (!tables_) {
    tables_.emplace([this](std::uint64_t address, std::uint64_t value) {
      std::array<std::uint8_t, 8> bytes{};
      store_u64(bytes.data(), value);
      return machine_.memory().poke(address, bytes.data(), bytes.size());
    });
  }
  return *tables_;
}

void ScriptSession::run(const MapOp& op) {
  try {
    output_.mapped(token_, tables().map(op.mapping));
  } catch (const std::invalid_argument& problem) {
    bad_value(problem.what());
  }
}

void ScriptSession::run(const PokeEntryOp& op) {
  const std::optional<std::uint64_t> entry = tables().find(op.name);
  if (!entry) {
    bad_value("which: map has made no such entry");
    return;
  }
  const std::uint64_t address = *entry + op.quad * 8U;
  std::array<std::uint8_t, 8> bytes{};
  machine_.memory().peek(address, bytes.data(), bytes.size());
  store_u64(bytes.data(), (load_u64(bytes.data()) & ~op.clear) | op.set);
  machine_.memory().poke(address, bytes.data(), bytes.size());
}

}  // namespace flitwise
