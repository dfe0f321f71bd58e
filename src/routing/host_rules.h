// SPDX-License-Identifier: Apache-2.0
/// Which requests from below a root port are let into host memory.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// What the host knows of a request's domain beside who it is. [DHI D19] [DHI D20]
struct DomainStanding {
  bool is_trusted = false;
  std::uint16_t capabilities = 0;
};

class HostRules {
 public:
  explicit HostRules(const HostConfig& config);

  /// Bus Master Enable of the port: it is set until called.
  void set_bus_master(bool is_enabled) { is_bus_master_ = is_enabled; }
  /// Why a request cannot be served, wherever it goes, or nullptr. I/O, configuration and atomics
  /// go down only. is_translating: Translation Requests have an answer.
  const char* refusal_of(const Tlp& tlp, const DomainStanding& standing, bool is_translating) const;
  /// Why it cannot be served at this address of the host, or nullptr.
  const char* address_refusal_of(const Tlp& tlp, std::uint64_t address,
                                 const DomainStanding& standing) const;

 private:
  const std::uint64_t memory_bytes_;
  const decltype(HostConfig::dma_window) window_;
  const decltype(HostConfig::trusted_window) trusted_;
  const bool checks_capabilities_;
  const bool checks_windows_;  // memory that not everybody may touch
  bool is_bus_master_ = true;
};

}  // namespace flitwise
