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

/// Maps pages to themselves, each once.
class Pages {
 public:
  Pages(const IommuConfig& config, MemoryPort& memory)
      : page_(config.page),
        type_(type_of(config.translation)),
        builder_([&memory](std::uint64_t address, std::uint64_t value) {
          std::array<std::uint8_t, 8> bytes{};
          for (unsigned i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
          }
          return memory.poke(address, bytes.data(), bytes.size());
        }) {}

  void map(const DeviceIdentity& domain, std::uint64_t from, std::uint64_t bytes) {
    for (std::uint64_t page = from / page_ * page_; page < from + bytes; page += page_) {
      if (done_.emplace(domain.bdf.value, to_int(domain.pasid.value_or(Pasid{})), page).second) {
        map_page(domain, page);
      }
    }
  }
  std::uint64_t root_table() const { return root_table_; }

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

  const std::uint64_t page_;
  const TranslationType type_;
  TableBuilder builder_;
  std::uint64_t root_table_ = 0;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint16_t> domains_;
  std::set<std::tuple<std::uint16_t, std::uint32_t, std::uint64_t>> done_;  // function, PASID, page
};

void map_domains(const Config& config, const Endpoint& endpoint, Pages& pages) {
  const WorkloadConfig& workload = config.workload;
  // Flushes read nothing there, in the name of the function alone.
  pages.map(DeviceIdentity(endpoint.base()), workload.buffer_base, 1);
  const std::uint32_t domains = domain_ids(workload);
  const std::uint64_t rings = workload.buffer_base + domains * workload.buffer_size;
  for (std::uint32_t i = 0; i < domains; ++i) {
    const DeviceIdentity& domain = endpoint.identity_of(DomainId{i});
    pages.map(domain, workload.buffer_base + i * workload.buffer_size, workload.buffer_size);
    if (workload.kind == WorkloadKind::kNic) {
      pages.map(domain, rings + i * NicProfile::kRingsBytes, NicProfile::kRingsBytes);
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
  constexpr std::uint64_t kScalableMode = std::uint64_t{1} << 10;
  agent.write_register(iommu_register::kRtaddr, 8, pages.root_table() | kScalableMode);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kRootTable);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kTranslation);
}

}  // namespace flitwise
