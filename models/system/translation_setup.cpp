// SPDX-License-Identifier: Apache-2.0
// Tables for a workload.
#include "system/translation_setup.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "flitwise/error.h"
#include "host/driver_memory.h"
#include "iommu/table_builder.h"
#include "workload/nic_profile.h"
#include "workload/random.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

TranslationType type_of(Translation translation) {
  switch (translation) {
    case Translation::kFirstStage:
      return TranslationType::kFirstStage;
    case Translation::kSecondStage:
      return TranslationType::kSecondStage;
    case Translation::kNested:
      return TranslationType::kNested;
    case Translation::kPassThrough:
      return TranslationType::kPassThrough;
    case Translation::kOff:
      break;
  }
  return TranslationType::kNone;
}

void poke_u64(MemoryPort& memory, std::uint64_t address, std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes{};
  store_u64(bytes.data(), value);
  memory.poke(address, bytes.data(), bytes.size());
}

/// Maps pages, each once, and with Secure ATS permits them.
class Pages {
 public:
  Pages(const IommuConfig& config, MemoryPort& memory)
      : page_(config.page),
        type_(type_of(config.translation)),
        builder_(
            [&memory](std::uint64_t address, std::uint64_t value) {
              std::array<std::uint8_t, 8> bytes{};
              store_u64(bytes.data(), value);
              return memory.poke(address, bytes.data(), bytes.size());
            },
            TableBuilder::kDefaultArea, config.capabilities.host_address_bits),
        is_permitting_(config.secure_ats) {}

  /// To themselves.
  void map(const DeviceIdentity& domain, bool is_trusted, std::uint64_t from, std::uint64_t bytes) {
    for (std::uint64_t page = from / page_ * page_; page < from + bytes; page += page_) {
      if (is_new(domain, page)) {
        map_page(domain, page, page);
        if (is_permitting_) {
          permit_page(domain, is_trusted, page);
        }
      }
    }
  }
  bool is_new(const DeviceIdentity& domain, std::uint64_t page) {
    return done_.emplace(domain.bdf.value, to_int(domain.pasid.value_or(Pasid{})), page).second;
  }
  /// Software that does not use ATS does not allow it: DTE and PRE of the functions' contexts go.
  /// [IOM-2.3]
  void disable_device_tlbs(Bdf first, unsigned count, MemoryPort& memory) const {
    constexpr std::uint64_t kDeviceTlb = std::uint64_t{1} << 2, kPageRequests = 1U << 4;
    for (unsigned i = 0; i < count; ++i) {
      const auto context = contexts_.find(static_cast<std::uint16_t>(first.value + i));
      if (context != contexts_.end()) {
        std::array<std::uint8_t, 8> bytes{};
        memory.peek(context->second, bytes.data(), bytes.size());
        poke_u64(memory, context->second, load_u64(bytes.data()) & ~(kDeviceTlb | kPageRequests));
      }
    }
  }
  std::uint64_t root_table() const { return root_table_; }
  /// The PASID table entry of the page mapped last.
  std::uint64_t pasid_entry() const { return pasid_entry_; }
  /// The table of a domain, which permits nothing until somebody writes its words. Returns the
  /// addresses of its words for this range, which starts where one does. REQUIRES: a page of the
  /// domain has been mapped.
  std::vector<std::uint64_t> forbid(const DeviceIdentity& domain, bool is_trusted,
                                    std::uint64_t from, std::uint64_t bytes) {
    constexpr std::uint64_t kUnit = std::uint64_t{1} << permission_word_bits(1);
    std::vector<std::uint64_t>& words =
        forbidden_[{domain.bdf.value, to_int(domain.pasid.value_or(Pasid{}))}];
    if (!words.empty()) {
      return words;
    }
    PermissionGrant grant;
    grant.function = domain.bdf;
    grant.pasid = domain.pasid.value_or(Pasid{});
    grant.bytes = kUnit;
    grant.permission = {false, false};
    grant.is_trusted = is_trusted;
    for (grant.address = from; grant.address < from + bytes; grant.address += kUnit) {
      try {
        words.push_back(builder_.permit(grant).words.back());
      } catch (const std::invalid_argument& error) {
        throw SimulationError(std::string("permissions for the driver: ") + error.what());
      }
    }
    return words;
  }
  /// One that nobody else uses.
  std::uint64_t spare_page() { return builder_.take_page(); }

  // Every table has a domain of its own: translations of the second stage are known by it alone.
  // [IOM-6.3]
  std::uint16_t domain_of(const DeviceIdentity& domain) {
    const auto next = static_cast<std::uint16_t>(domains_.size() + 1);
    return domains_
        .emplace(std::pair(domain.bdf.value, to_int(domain.pasid.value_or(Pasid{}))), next)
        .first->second;
  }
  /// Returns the address of its leaf.
  std::uint64_t map_page(const DeviceIdentity& domain, std::uint64_t page, std::uint64_t to) {
    Mapping mapping;
    mapping.function = domain.bdf;
    mapping.pasid = domain.pasid.value_or(Pasid{});
    mapping.type = type_;
    mapping.address = page;
    mapping.to = mapping.via = to;
    mapping.bytes = page_;
    mapping.domain = domain_of(domain);
    mapping.page_bits = static_cast<unsigned>(__builtin_ctzll(page_));
    try {
      const MappedEntries entries = builder_.map(mapping);
      root_table_ = entries.root_table;
      pasid_entry_ = entries.pasid;
      contexts_[domain.bdf.value] = entries.context;
      if (type_ == TranslationType::kPassThrough) {
        return 0;
      }
      return entries.first_stage.empty() ? entries.second_stage.back() : entries.first_stage.back();
    } catch (const std::invalid_argument& error) {
      throw SimulationError(std::string("tables for the workload: ") + error.what());
    }
  }

 private:
  // Pages of 1 GiB take a word above the lowest level for each 64 MiB. [IOM-2.16]
  void permit_page(const DeviceIdentity& domain, bool is_trusted, std::uint64_t page) {
    constexpr unsigned kLargeUnit = permission_word_bits(2);
    PermissionGrant grant;
    grant.function = domain.bdf;
    grant.pasid = domain.pasid.value_or(Pasid{});
    grant.address = page;
    grant.bytes = page_;
    grant.unit_bits = page_ >> kLargeUnit != 0 ? kLargeUnit : kPageBits;
    grant.is_trusted = is_trusted;
    try {
      builder_.permit(grant);
    } catch (const std::invalid_argument& error) {
      throw SimulationError(std::string("permissions for the workload: ") + error.what());
    }
  }

  const std::uint64_t page_;
  const TranslationType type_;
  TableBuilder builder_;
  const bool is_permitting_;
  std::uint64_t root_table_ = 0, pasid_entry_ = 0;
  std::map<std::uint16_t, std::uint64_t> contexts_;  // addresses of entries, by function
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint16_t> domains_;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<std::uint64_t>> forbidden_;
  std::set<std::tuple<std::uint16_t, std::uint32_t, std::uint64_t>> done_;  // function, PASID, page
};

/// Domains of handles are trusted if the device asks for that and the host grants it; requests that
/// name their domain in full never are. [DHI D19]
bool are_trusted(const Config& config) {
  const auto& dhi = config.host.dhi;
  return config.link.identity == Identity::kDhi && config.device.dhi.trusted &&
         (dhi.grant == GrantPolicy::kAny || dhi.granted.trusted);
}

/// Its requests may have translated addresses.
bool uses_translations(const Config& config) {
  return config.device.atc.enabled || config.workload.at != At::kUntranslated;
}

/// Translated requests in full leave their PASID out: then the function alone counts. [DHI D18]
bool leaves_out_pasids(const Config& config) {
  const auto& dhi = config.device.dhi;
  const bool has_handles = config.link.identity == Identity::kDhi && dhi.supported && dhi.enabled &&
                           dhi.management == HandleManagement::kDevice &&
                           dhi.on_miss == OnMiss::kStall;
  const At at = config.workload.at;
  return (at == At::kTranslated || (at == At::kUntranslated && config.device.atc.enabled)) &&
         !has_handles;
}

/// The pages of one domain, for all names that its requests may have.
void map_buffer(const Config& config, const DeviceIdentity& domain, std::uint64_t from,
                std::uint64_t bytes, Pages& pages) {
  pages.map(domain, are_trusted(config), from, bytes);
  if (config.iommu.secure_ats && leaves_out_pasids(config)) {
    pages.map(DeviceIdentity(domain.bdf), false, from, bytes);
  }
}

/// All that a device may reach, each page to itself.
void map_device(const FabricDevice& device, MemoryPort& memory, Pages& pages) {
  const Config& config = device.config;
  const Endpoint& endpoint = *device.endpoint;
  const WorkloadConfig& workload = config.workload;
  // Flushes read nothing there, in the name of the function alone.
  pages.map(DeviceIdentity(endpoint.base()), false, workload.buffer_base, 1);
  const std::uint32_t domains = domain_ids(workload);
  const std::uint64_t rings = workload.buffer_base + domains * workload.buffer_size;
  for (std::uint32_t i = 0; i < domains; ++i) {
    const DeviceIdentity& domain = endpoint.identity_of(DomainId{i});
    map_buffer(config, domain, workload.buffer_base + i * workload.buffer_size,
               workload.buffer_size, pages);
    if (workload.kind == WorkloadKind::kNic) {
      map_buffer(config, domain, rings + i * NicProfile::kRingsBytes, NicProfile::kRingsBytes,
                 pages);
    }
  }
  if (!uses_translations(config)) {
    pages.disable_device_tlbs(endpoint.base(), config.device.functions.count, memory);
  }
}

std::uint64_t rings_of(const WorkloadConfig& workload) {
  return workload.buffer_base + std::uint64_t{domain_ids(workload)} * workload.buffer_size;
}

void use_tables(const Pages& pages, TranslationAgent& agent) {
  constexpr std::uint64_t kScalableMode = std::uint64_t{1} << 10;
  agent.write_register(iommu_register::kRtaddr, 8, pages.root_table() | kScalableMode);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kRootTable);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kTranslation);
}

/// Buffers whose pages a driver will own.
class DriverSetUp {
 public:
  DriverSetUp(const Config& config, const Fabric& fabric, MemoryPort& memory, TableWritten written)
      : config_(config),
        page_(config.iommu.page),
        pages_(config.iommu, memory),
        premapped_(Random(config.run.seed).split("premapped pages")),
        driver_(
            frames_for(config, fabric), static_cast<unsigned>(__builtin_ctzll(page_)),
            [&memory, written = std::move(written)](std::uint64_t address, std::uint64_t value) {
              poke_u64(memory, address, value);
              written(address);
            }) {
    for (const FabricDevice& device : fabric.devices) {
      if (is_hostile(device)) {
        map_device(device, memory, pages_);
      } else {
        add_device(device, memory);
      }
      ++devices_;
    }
  }
  DriverPages& driver() { return driver_; }
  const Pages& tables() const { return pages_; }

 private:
  static bool is_hostile(const FabricDevice& device) {
    return device.config.workload.kind == WorkloadKind::kHostile;
  }
  static std::uint64_t pages_in(std::uint64_t from, std::uint64_t bytes, std::uint64_t page) {
    return (from + bytes - 1) / page - from / page + 1;
  }

  // Behind all addresses of devices, so that none of them is its own translation.
  static PageFrames frames_for(const Config& config, const Fabric& fabric) {
    const std::uint64_t page = config.iommu.page;
    std::uint64_t end = 0;
    std::uint64_t count = spare_frames(config.host.iommu_driver);
    for (const FabricDevice& device : fabric.devices) {
      const WorkloadConfig& workload = device.config.workload;
      const std::uint32_t domains = domain_ids(workload);
      const std::uint64_t rings =
          workload.kind == WorkloadKind::kNic ? domains * NicProfile::kRingsBytes : 0;
      end = std::max(end, rings_of(workload) + rings);
      for (std::uint32_t i = 0; i < domains && !is_hostile(device); ++i) {
        count +=
            pages_in(workload.buffer_base + i * workload.buffer_size, workload.buffer_size, page);
      }
    }
    const std::uint64_t base = (end + page - 1) / page * page;
    if (base + count * page > config.host.memory.size) {
      throw SimulationError(
          "the driver's pages: host.memory.size has no room behind the buffers of the workload "
          "for as much again");
    }
    return PageFrames(base, static_cast<unsigned>(__builtin_ctzll(page)),
                      static_cast<PageFrames::Frame>(count));
  }

  DriverDomain domain_of(const FabricDevice& device, const DeviceIdentity& identity) {
    const Config& c = device.config;
    const bool names_pasid =
        (c.link.identity == Identity::kBdfPasid || c.link.identity == Identity::kDhi) &&
        c.device.functions.has_pasid && c.iommu.capabilities.pasid_bits > 0;
    DriverDomain domain;
    domain.identity = identity;
    domain.number = pages_.domain_of(identity);
    domain.pasid = names_pasid ? identity.pasid : OptionalId<Pasid>();
    domain.has_device_tlb = c.device.atc.enabled;
    domain.queue_depth = static_cast<std::uint8_t>(c.device.atc.queue_depth % 32);
    domain.physical_function = device.endpoint->base();
    domain.responds_with_pasid = c.device.pri.response_pasid;
    return domain;
  }

  // Words of permissions for all pages of memory, in the tables of all names that translated
  // requests of the domain may have.
  void add_permissions(const Config& config, const DeviceIdentity& domain) {
    constexpr std::uint64_t kUnit = std::uint64_t{1} << permission_word_bits(1);
    const PageFrames& frames = driver_.frames();
    const std::uint64_t from = frames.physical(0) & ~(kUnit - 1);
    const std::uint64_t bytes =
        frames.physical(static_cast<PageFrames::Frame>(frames.count())) - from;
    driver_.add_permissions(pages_.forbid(domain, are_trusted(config), from, bytes));
    const DeviceIdentity function(domain.bdf);
    if (leaves_out_pasids(config) && to_int(domain.pasid.value_or(Pasid{})) != 0) {
      driver_.add_permissions(pages_.forbid(function, false, from, bytes));
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
        pages_.map(identity, false, rings + i * NicProfile::kRingsBytes, NicProfile::kRingsBytes);
      }
    }
    pages_.map(DeviceIdentity(device.endpoint->base()), false, workload.buffer_base, 1);
  }

  void add_buffer(const FabricDevice& device, DomainId id, std::uint64_t from, MemoryPort& memory) {
    const DeviceIdentity& identity = device.endpoint->identity_of(id);
    const WorkloadConfig& workload = device.config.workload;
    const std::uint64_t flushes = workload.buffer_base / page_ * page_;
    const bool has_flushes =
        identity.bdf == device.endpoint->base() && to_int(identity.pasid.value_or(Pasid{})) == 0;
    DriverDomain domain = domain_of(device, identity);
    std::uint64_t page = from / page_ * page_;
    while (page < from + workload.buffer_size && !pages_.is_new(identity, page)) {
      page += page_;  // it is the last one of the buffer before, in the same tables
    }
    if (page >= from + workload.buffer_size) {
      return;
    }
    domain.address = page;
    domain.id = id;
    domain.device = devices_;
    pages_.map_page(identity, page, 0);
    domain.pasid_entry = pages_.pasid_entry();
    driver_.add_domain(domain);
    if (config_.iommu.secure_ats) {
      add_permissions(device.config, identity);
    }
    for (; page < from + workload.buffer_size; page += page_) {
      pages_.is_new(identity, page);
      const std::uint64_t entry = pages_.map_page(identity, page, 0);
      std::array<std::uint8_t, 8> leaf{};
      memory.peek(entry, leaf.data(), leaf.size());
      driver_.set_flags(load_u64(leaf.data()));
      poke_u64(memory, entry, 0);
      const bool is_pinned = has_flushes && page == flushes;
      const DriverPages::Index index = driver_.add_page(entry, is_pinned);
      if (is_pinned || premapped_.chance(config_.host.iommu_driver.premapped)) {
        driver_.map(index);
      }
    }
  }

  const Config& config_;
  const std::uint64_t page_;
  unsigned devices_ = 0;  // so far
  Pages pages_;
  Random premapped_;
  DriverPages driver_;
};

}  // namespace

void set_up_translation(const Config& config, const Fabric& fabric, MemoryPort& memory,
                        TranslationAgent& agent) {
  if (config.iommu.translation == Translation::kOff) {
    return;
  }
  Pages pages(config.iommu, memory);
  for (const FabricDevice& device : fabric.devices) {
    map_device(device, memory, pages);
  }
  // Nobody asks for pages that are there. Whoever does is recorded, and not in somebody's memory.
  agent.write_register(iommu_register::kPqa, 8, pages.spare_page());
  use_tables(pages, agent);
}

DriverPages set_up_driver(const Config& config, const Fabric& fabric, MemoryPort& memory,
                          TranslationAgent& agent, TableWritten written) {
  DriverSetUp set_up(config, fabric, memory, std::move(written));
  use_tables(set_up.tables(), agent);
  return std::move(set_up.driver());
}

}  // namespace flitwise
