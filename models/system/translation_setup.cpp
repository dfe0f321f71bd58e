// SPDX-License-Identifier: Apache-2.0
// Tables for a workload.
#include "system/translation_setup.h"

#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "flitwise/error.h"
#include "iommu/table_builder.h"
#include "workload/nic_profile.h"
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

/// Maps pages to themselves, each once, and with Secure ATS permits them.
class Pages {
 public:
  Pages(const IommuConfig& config, MemoryPort& memory)
      : page_(config.page),
        type_(type_of(config.translation)),
        builder_(
            [&memory](std::uint64_t address, std::uint64_t value) {
              std::array<std::uint8_t, 8> bytes{};
              for (unsigned i = 0; i < bytes.size(); ++i) {
                bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
              }
              return memory.poke(address, bytes.data(), bytes.size());
            },
            TableBuilder::kDefaultArea, config.capabilities.host_address_bits),
        is_permitting_(config.secure_ats) {}

  void map(const DeviceIdentity& domain, bool is_trusted, std::uint64_t from, std::uint64_t bytes) {
    for (std::uint64_t page = from / page_ * page_; page < from + bytes; page += page_) {
      if (done_.emplace(domain.bdf.value, to_int(domain.pasid.value_or(Pasid{})), page).second) {
        map_page(domain, page);
        if (is_permitting_) {
          permit_page(domain, is_trusted, page);
        }
      }
    }
  }
  std::uint64_t root_table() const { return root_table_; }
  /// One that nobody else uses.
  std::uint64_t spare_page() { return builder_.take_page(); }

 private:
  // Every table has a domain of its own: translations of the second stage are known by it alone.
  // [IOM-6.3]
  std::uint16_t domain_of(const Mapping& mapping) {
    const auto next = static_cast<std::uint16_t>(domains_.size() + 1);
    return domains_.emplace(std::pair(mapping.function.value, to_int(mapping.pasid)), next)
        .first->second;
  }
  void map_page(const DeviceIdentity& domain, std::uint64_t page) {
    Mapping mapping;
    mapping.function = domain.bdf;
    mapping.pasid = domain.pasid.value_or(Pasid{});
    mapping.type = type_;
    mapping.address = mapping.to = mapping.via = page;
    mapping.bytes = page_;
    mapping.domain = domain_of(mapping);
    mapping.page_bits = static_cast<unsigned>(__builtin_ctzll(page_));
    try {
      root_table_ = builder_.map(mapping).root_table;
    } catch (const std::invalid_argument& error) {
      throw SimulationError(std::string("tables for the workload: ") + error.what());
    }
  }

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
  std::uint64_t root_table_ = 0;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint16_t> domains_;
  std::set<std::tuple<std::uint16_t, std::uint32_t, std::uint64_t>> done_;  // function, PASID, page
};

/// Domains of handles are trusted if the device asks for that and the host grants it; requests that
/// name their domain in full never are. [DHI D19]
bool are_trusted(const Config& config) {
  const auto& dhi = config.host.dhi;
  return config.link.identity == Identity::kDhi && config.device.dhi.trusted &&
         (dhi.grant == GrantPolicy::kAny || dhi.granted.trusted);
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

void map_domains(const Config& config, const Endpoint& endpoint, Pages& pages) {
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
}

}  // namespace

void set_up_translation(const Config& config, const Fabric& fabric, MemoryPort& memory,
                        TranslationAgent& agent) {
  if (config.iommu.translation == Translation::kOff) {
    return;
  }
  Pages pages(config.iommu, memory);
  for (const FabricDevice& device : fabric.devices) {
    map_domains(device.config, *device.endpoint, pages);
  }
  // Nobody asks for pages that are there. Whoever does is recorded, and not in somebody's memory.
  agent.write_register(iommu_register::kPqa, 8, pages.spare_page());
  constexpr std::uint64_t kScalableMode = std::uint64_t{1} << 10;
  agent.write_register(iommu_register::kRtaddr, 8, pages.root_table() | kScalableMode);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kRootTable);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kTranslation);
}

}  // namespace flitwise
