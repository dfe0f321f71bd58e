// SPDX-License-Identifier: Apache-2.0
/// Rows of a handle table's storage, the same at the host and at the device.
#pragma once

#include "config/key.h"

namespace flitwise::config {

/// `at` gives the address of the HandleStorageConfig that lies below `path`. [DHI D3]
template <class At>
Keys storage_keys(const std::string& path, At at) {
  const Limits latency = between(Time{0}, Time::from_us(1'000'000));
  return {
      choice(
          path + ".kind", [at](auto& c) { return &at(c)->storage; },
          "Where the table lives: SRAM, or private DRAM behind a cache of recent entries."),
      count(
          path + ".cache_entries", [at](auto& c) { return &at(c)->cache_entries; },
          between(1, 4096), "Entries of that cache; kind dram only."),
      time(
          path + ".timing.by_handle", [at](auto& c) { return &at(c)->timing.by_handle; }, latency,
          "Access by handle, an index."),
      time(
          path + ".timing.by_domain", [at](auto& c) { return &at(c)->timing.by_domain; }, latency,
          "Associative search for a domain."),
      time(
          path + ".timing.dram", [at](auto& c) { return &at(c)->timing.dram; }, latency,
          "Added when the cache misses; kind dram only."),
  };
}

}  // namespace flitwise::config
