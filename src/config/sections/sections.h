// SPDX-License-Identifier: Apache-2.0
/// The section tables, one function for each section, and all of them, flat and as the tree that a
/// file mirrors. A new key is a member in include/flitwise/config.h and one row here; see
/// docs/configuration.md.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "config/condition.h"
#include "config/key.h"

namespace flitwise::config {

/// Path and access of the key that is spelt as its member of Config: KEY(link.mps).
#define KEY(member) #member, AT(member)
/// Access to a member of another name.
#define AT(member) [](auto& c) { return &c.member; }

Keys system_keys();
Keys host_keys();
Keys core_keys();   ///< host.cores
Keys verbs_keys();  ///< host.verbs
Keys iommu_keys();
Keys link_keys();
Keys message_keys();
Keys device_keys();
Keys pio_keys();    ///< device.pio
Keys rdma_keys();   ///< device.rdma
Keys srdma_keys();  ///< device.srdma
Keys network_keys();
Keys workload_keys();
Keys flow_keys();  ///< workload.flows
Keys faults_keys();
Keys trace_keys();
Keys run_keys();

/// When a run reads the key of this path. Worked out anew: rows do not keep it, since most programs
/// ask of few keys or none.
Condition read_when(const std::string& path);
/// Whether that may hold at another part of the machine than the one that has the key.
bool is_read_for_others(const std::string& path);
/// What the key changes where that does not hold; mostly "".
const char* changes_beside(const std::string& path);

/// Every row, section by section.
const Keys& all_rows();

/// The row of a dotted path, or null.
const Key* find_row(const std::string& path);

/// A group of keys (children) or one key.
struct KeyNode {
  std::string name;
  std::string path;
  const Key* key = nullptr;
  std::vector<KeyNode> children;

  const KeyNode* child(const std::string& child_name) const;
  std::vector<std::string> child_names() const;
};

/// The root of the tree: its children are the sections.
const KeyNode& key_tree();

/// A preset with twice the lanes, else the next generation; empty: there is none of its kind.
std::string faster_preset(const LinkPreset& preset);

/// A row, or the rows of a group.
struct Rows : Keys {
  Rows(Key row) : Keys{std::move(row)} {}
  Rows(Keys rows) : Keys(std::move(rows)) {}
};

/// Rows and groups, one behind the other.
inline Keys joined(std::initializer_list<Rows> groups) {
  Keys all;
  for (const Rows& group : groups) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

/// Of one device: as many as a bus has.
inline constexpr unsigned kMostFunctions = 256;

/// A latency from nothing up to a second.
inline Limits any_latency() {
  return between(Time{0}, Time::from_us(1'000'000));
}
/// The period of a clock.
inline Limits any_clock() {
  return between(Time::from_ps(1), Time::from_us(1));
}

/// The row of a name, such as that of the device at the other end of a wire; empty: none.
Key peer_key(const std::string& path, const Access<std::string>& member,
             const std::string& sentence, const std::string& whose = "a device");

/// Rows of a handle table's storage, the same at the host and at the device. `at` gives the address
/// of the HandleStorageConfig that lies below `path`. [DHI D3]
template <class At>
Keys storage_keys(const std::string& path, At at) {
  return {
      choice(
          path + ".kind", [at](auto& c) { return &at(c)->storage; },
          "Where the table lives: SRAM, or private DRAM behind a cache of recent entries."),
      count(
          path + ".cache_entries", [at](auto& c) { return &at(c)->cache_entries; },
          between(1, 4096), "Entries of that cache; kind dram only."),
      time(
          path + ".timing.by_handle", [at](auto& c) { return &at(c)->timing.by_handle; },
          any_latency(), "Access by handle, an index."),
      time(
          path + ".timing.by_domain", [at](auto& c) { return &at(c)->timing.by_domain; },
          any_latency(), "Associative search for a domain."),
      time(
          path + ".timing.dram", [at](auto& c) { return &at(c)->timing.dram; }, any_latency(),
          "Added when the cache misses; kind dram only."),
  };
}

/// Rows of one cache; `at` gives the address of its CacheConfig.
template <class At>
Keys cache_keys(const std::string& path, At at, const Limits& entries, const std::string& what) {
  return {
      count(
          path + ".entries", [at](auto& c) { return &at(c)->entries; }, entries,
          "Entries of the cache of " + what + "."),
      count(
          path + ".ways", [at](auto& c) { return &at(c)->ways; },
          or_zero_as("full", between(1, 1U << 20)),
          "Ways of a set, a divisor of the entries; full: fully associative."),
      choice(
          path + ".policy", [at](auto& c) { return &at(c)->policy; }, "Who leaves a full set."),
  };
}

}  // namespace flitwise::config
