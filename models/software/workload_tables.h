// SPDX-License-Identifier: Apache-2.0
/// What host software has done for a workload whose requests are translated: tables, and with
/// Secure ATS permissions, for the buffers of its domains, and an agent that uses them; and, before
/// a driver takes over, pages for it to map and unmap (translation_setup.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "iommu/driver_pages.h"
#include "iommu/table_builder.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"

namespace flitwise {

/// Domains of handles are trusted if the device asks for that and the host grants it; requests that
/// name their domain in full never are. [DHI D19]
bool are_trusted(const Config& config);

/// With Secure ATS: all domains of a function have one table of permissions, since translated
/// requests in full leave their PASID out. [DHI D18]
bool shares_permissions(const Config& config);

/// Where the rings of NICs start, behind all buffers.
std::uint64_t rings_of(const WorkloadConfig& workload);

/// Maps pages, each once, and with Secure ATS permits them. Throws SimulationError where host
/// memory has no room for a table.
class WorkloadTables {
 public:
  WorkloadTables(const IommuConfig& config, MemoryPort& memory);

  /// To themselves.
  void map(const DeviceIdentity& domain, bool is_trusted, std::uint64_t from, std::uint64_t bytes);
  /// The same for all names that requests of the domain may have.
  void map_buffer(const Config& config, const DeviceIdentity& domain, std::uint64_t from,
                  std::uint64_t bytes);
  /// All that a device may reach, each page to itself.
  void map_device(const FabricDevice& device);
  /// Has this page not been seen in the tables of the domain before?
  bool is_new(const DeviceIdentity& domain, std::uint64_t page) {
    return done_.emplace(key_of(domain), page).second;
  }
  /// Returns the address of its leaf; with pass-through 0.
  std::uint64_t map_page(const DeviceIdentity& domain, std::uint64_t page, std::uint64_t to);
  /// The PASID table entry of the page mapped last.
  std::uint64_t pasid_entry() const { return pasid_entry_; }
  /// The permissions of a domain, which are none until somebody writes their words. Returns the
  /// addresses of the words for this range, which starts where one does. REQUIRES: a page of the
  /// domain has been mapped.
  std::vector<std::uint64_t> forbid(const DeviceIdentity& domain, bool is_trusted,
                                    std::uint64_t from, std::uint64_t bytes);
  /// Every table has a domain of its own: translations of the second stage are known by it alone.
  /// [IOM-6.3]
  std::uint16_t domain_of(const DeviceIdentity& domain);
  /// One without another user.
  std::uint64_t spare_page() { return builder_.take_page(); }
  /// Throws SimulationError where pages that devices write, `end` not included, meet the tables,
  /// or what lies before them from `first` on. REQUIRES: all tables are made.
  void check_apart(std::uint64_t from, std::uint64_t end,
                   std::uint64_t first = TableBuilder::kDefaultArea) const;
  /// Switches the agent on.
  void use(TranslationAgent& agent) const;

 private:
  using Key = std::pair<std::uint16_t, std::uint32_t>;  // function and PASID
  static Key key_of(const DeviceIdentity& domain) {
    return {domain.bdf.value, to_int(domain.pasid.value_or(Pasid{}))};
  }
  void disable_device_tlbs(Bdf first, unsigned count) const;

  MemoryPort& memory_;
  const std::uint64_t page_;
  const TranslationType type_;
  TableBuilder builder_;
  const bool is_permitting_;
  std::uint64_t root_table_ = 0, pasid_entry_ = 0;
  std::map<std::uint16_t, std::uint64_t> contexts_;  // addresses of entries, by function
  std::map<Key, std::uint16_t> domains_;
  std::map<Key, std::vector<std::uint64_t>> forbidden_;
  std::set<std::pair<Key, std::uint64_t>> done_;  // and page
};

/// One byte past the highest bus address that DMA items of a generated workload touch (a trace has
/// its own addresses; interrupts have their own window).
std::uint64_t buffer_end(const WorkloadConfig& workload);

/// Maps the buffers of every domain of every one of these devices, each page to itself and for its
/// domain alone, and switches the agent on; untimed. Does nothing with iommu.translation off.
/// Throws SimulationError where host memory has no room for the tables.
void set_up_translation(const Config& config, DeviceRange devices, MemoryPort& memory,
                        TranslationAgent& agent);

/// Software has written a word of a table.
using TableWritten = std::function<void(std::uint64_t address)>;

/// Makes tables for every domain and switches the agent on; untimed. The driver gets the pages of
/// all buffers but those of hostile devices, which map_device() maps: each domain has pages of
/// memory of its own, as far as host.iommu_driver.premapped goes, and there are some more.
/// `written` is told of each word of a table that is written from now on. Throws SimulationError
/// where host memory has no room.
DriverPages set_up_driver(const Config& config, DeviceRange devices, MemoryPort& memory,
                          TranslationAgent& agent, TableWritten written);

}  // namespace flitwise
