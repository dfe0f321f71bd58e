// SPDX-License-Identifier: Apache-2.0
// Pages that are there for good, and pages for a driver.
#include "software/workload_tables.h"

#include <algorithm>
#include <utility>

#include "common/random.h"
#include "endpoint/domain_numbers.h"
#include "endpoint/has_ats.h"
#include "flitwise/error.h"
#include "host/host_access.h"
#include "workload/nic_profile.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kPermissionUnit = std::uint64_t{1} << permission_word_bits(1);

/// Buffers whose pages a driver will own.
class DriverSetUp {
 public:
  DriverSetUp(const Config& config, DeviceRange devices, MemoryPort& memory, TableWritten written)
      : config_(config),
        page_(config.iommu.page),
        tables_(config.iommu, memory),
        premapped_(Random(config.run.seed).split("premapped pages")),
        driver_(
            frames_for(config, devices), static_cast<unsigned>(__builtin_ctzll(page_)),
            [&memory, written = std::move(written)](std::uint64_t address, std::uint64_t value) {
              memory.poke_u64(address, value);
              written(address);
            }) {
    for (const FabricDevice& device : devices) {
      if (is_hostile(device)) {
        tables_.map_device(device);
      } else {
        add_device(device, memory);
      }
      ++index_;
    }
    check_apart(devices);
  }
  DriverPages& driver() { return driver_; }
  const WorkloadTables& tables() const { return tables_; }

 private:
  static bool is_hostile(const FabricDevice& device) {
    return device.config.workload.kind == WorkloadKind::kHostile;
  }
  static std::uint64_t pages_in(std::uint64_t from, std::uint64_t bytes, std::uint64_t page) {
    return (from + bytes - 1) / page - from / page + 1;
  }

  // Behind all addresses of devices, so that none of them is its own translation.
  static PageFrames frames_for(const Config& config, DeviceRange devices) {
    const std::uint64_t page = config.iommu.page;
    std::uint64_t end = 0;
    std::uint64_t count = spare_frames(config.host.iommu_driver);
    for (const FabricDevice& device : devices) {
      const WorkloadConfig& workload = device.config.workload;
      const std::uint32_t domains = domain_ids(workload);
      end = std::max(end, buffer_end(workload));
      for (std::uint32_t i = 0; i < domains && !is_hostile(device); ++i) {
        count +=
            pages_in(workload.buffer_base + i * workload.buffer_size, workload.buffer_size, page);
      }
    }
    // A word of permissions that tells of these tells of nothing else.
    const std::uint64_t unit = config.iommu.secure_ats ? std::max(page, kPermissionUnit) : page;
    const std::uint64_t base = (end + unit - 1) / unit * unit;
    if (base + count * page > config.host.memory.size) {
      throw SimulationError(
          "the driver's pages: host.memory.size has no room behind the buffers of the workload "
          "for as much again");
    }
    return PageFrames(base, static_cast<unsigned>(__builtin_ctzll(page)),
                      static_cast<PageFrames::Frame>(count));
  }

  // Buffers are but addresses, save those that stay as they are.
  void check_apart(DeviceRange devices) const {
    const PageFrames& frames = driver_.frames();
    const std::uint64_t first = frames.physical(0);
    tables_.check_apart(first, first + frames.count() * page_, kInvalidationQueue);
    for (const FabricDevice& device : devices) {
      const WorkloadConfig& workload = device.config.workload;
      const std::uint64_t from = is_hostile(device) ? workload.buffer_base : rings_of(workload);
      tables_.check_apart(from, buffer_end(workload), kInvalidationQueue);
    }
  }

  DriverDomain domain_of(const FabricDevice& device, const DeviceIdentity& identity) {
    const Config& c = device.config;
    const bool names_pasid =
        (c.link.identity == Identity::kBdfPasid || c.link.identity == Identity::kDhi) &&
        c.device.functions.has_pasid && c.iommu.capabilities.pasid_bits > 0;
    DriverDomain domain;
    domain.identity = identity;
    domain.number = tables_.domain_of(identity);
    domain.pasid = names_pasid ? identity.pasid : OptionalId<Pasid>();
    domain.has_device_tlb = has_ats(c);
    domain.has_page_requests = c.device.pri.enabled;
    domain.queue_depth = static_cast<std::uint8_t>(c.device.atc.queue_depth % 32);
    domain.physical_function = device.endpoint->base();
    domain.responds_with_pasid = c.device.pri.response_pasid;
    return domain;
  }

  // Words of permissions for all pages of memory, in the tables of all names that translated
  // requests of the domain may have.
  void add_permissions(const Config& config, const DeviceIdentity& domain) {
    const PageFrames& frames = driver_.frames();
    const std::uint64_t from = frames.physical(0);
    const std::uint64_t bytes = frames.count() * page_;
    driver_.add_permissions(tables_.forbid(domain, are_trusted(config), from, bytes));
    const DeviceIdentity function(domain.bdf);
    if (shares_permissions(config) && to_int(domain.pasid.value_or(Pasid{})) != 0) {
      // A table for requests without PASID, where no domain has made it: with a page that is
      // nobody's.
      tables_.map(function, false, config.workload.buffer_base, 1);
      driver_.add_permissions(tables_.forbid(function, false, from, bytes));
    }
  }

  // Flushes read nothing at the first address, in the name of the function alone; rings stay.
  void add_device(const FabricDevice& device, MemoryPort& memory) {
    const WorkloadConfig& workload = device.config.workload;
    const std::uint32_t domains = domain_ids(workload);
    const std::uint64_t rings = rings_of(workload);
    for (std::uint32_t i = 0; i < domains; ++i) {
      const DeviceIdentity& identity = device.endpoint->identity_of(DomainId{i});
      add_buffer(device, DomainId{i}, workload.buffer_base + i * workload.buffer_size, memory);
      if (workload.kind == WorkloadKind::kNic) {
        tables_.map_buffer(device.config, identity, rings + i * NicProfile::kRingsBytes,
                           NicProfile::kRingsBytes);
      }
    }
    tables_.map(DeviceIdentity(device.endpoint->base()), false, workload.buffer_base, 1);
  }

  void add_buffer(const FabricDevice& device, DomainId id, std::uint64_t from, MemoryPort& memory) {
    const DeviceIdentity& identity = device.endpoint->identity_of(id);
    const WorkloadConfig& workload = device.config.workload;
    const std::uint64_t flushes = workload.buffer_base / page_ * page_;
    const bool has_flushes =
        identity.bdf == device.endpoint->base() && to_int(identity.pasid.value_or(Pasid{})) == 0;
    DriverDomain domain = domain_of(device, identity);
    std::uint64_t page = from / page_ * page_;
    while (page < from + workload.buffer_size && !tables_.is_new(identity, page)) {
      page += page_;  // it is the last one of the buffer before, in the same tables
    }
    if (page >= from + workload.buffer_size) {
      return;
    }
    domain.address = page;
    domain.id = id;
    domain.device = index_;
    tables_.map_page(identity, page, 0);
    domain.pasid_entry = tables_.pasid_entry();
    domain.pasid_entry_word = memory.peek_u64(domain.pasid_entry);
    // Another domain of the same function comes behind it.
    const bool has_sibling =
        to_int(id) + DomainNumbers(device.config.device).functions() < domain_ids(workload);
    domain.is_shared = shares_permissions(device.config) &&
                       to_int(identity.pasid.value_or(Pasid{})) == 0 && has_sibling;
    driver_.add_domain(domain);
    if (config_.iommu.secure_ats) {
      add_permissions(device.config, identity);
    }
    for (; page < from + workload.buffer_size; page += page_) {
      tables_.is_new(identity, page);
      const std::uint64_t entry = tables_.map_page(identity, page, 0);
      driver_.set_flags(memory.peek_u64(entry));
      memory.poke_u64(entry, 0);
      const bool is_registered = workload.via == WorkloadVia::kRdma;
      const bool is_pinned = is_registered || (has_flushes && page == flushes);
      const DriverPages::Index index = driver_.add_page(entry, is_pinned);
      driver_.page(index).is_registered = is_registered;
      if (is_pinned || premapped_.chance(config_.host.iommu_driver.premapped)) {
        driver_.map(index);
      }
    }
  }

  const Config& config_;
  const std::uint64_t page_;
  unsigned index_ = 0;  // so far
  WorkloadTables tables_;
  Random premapped_;
  DriverPages driver_;
};

}  // namespace

void set_up_translation(const Config& config, DeviceRange devices, MemoryPort& memory,
                        TranslationAgent& agent) {
  if (config.iommu.translation == Translation::kOff) {
    return;
  }
  WorkloadTables tables(config.iommu, memory);
  for (const FabricDevice& device : devices) {
    tables.map_device(device);
  }
  for (const FabricDevice& device : devices) {
    const WorkloadConfig& workload = device.config.workload;
    tables.check_apart(workload.buffer_base, buffer_end(workload));
  }
  // There are no page requests for pages that are there; one is recorded, in no other's memory.
  agent.write_register(iommu_register::kPqa, 8, tables.spare_page());
  tables.use(agent);
}

DriverPages set_up_driver(const Config& config, DeviceRange devices, MemoryPort& memory,
                          TranslationAgent& agent, TableWritten written) {
  DriverSetUp set_up(config, devices, memory, std::move(written));
  set_up.tables().use(agent);
  return std::move(set_up.driver());
}

}  // namespace flitwise
