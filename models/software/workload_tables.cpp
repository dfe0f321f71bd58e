// SPDX-License-Identifier: Apache-2.0
// Tables for a workload.
#include "software/workload_tables.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "endpoint/has_ats.h"
#include "flitwise/error.h"
#include "workload/nic_profile.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

// Both count alike.
static_assert(static_cast<int>(Translation::kOff) == static_cast<int>(TranslationType::kNone) &&
              static_cast<int>(Translation::kPassThrough) ==
                  static_cast<int>(TranslationType::kPassThrough));

/// Calls what makes a table, for which memory may have no room.
template <class Make>
auto make_table(const char* what, Make make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    throw SimulationError(what + std::string(": ") + error.what());
  }
}

}  // namespace

bool are_trusted(const Config& config) {
  const auto& dhi = config.host.dhi;
  const bool has_handles = config.workload.via == WorkloadVia::kCxlCache
                               ? config.has_cxl_handles()
                               : config.link.identity == Identity::kDhi;
  return has_handles && config.device.dhi.trusted &&
         (dhi.grant == GrantPolicy::kAny || dhi.granted.trusted);
}

bool shares_permissions(const Config& config) {
  if (config.workload.via == WorkloadVia::kCxlCache) {  // [CXL-7.4]
    return config.iommu.secure_ats && config.link.cxl.identity == CxlIdentity::kSpec;
  }
  const auto& dhi = config.device.dhi;
  const bool has_handles = config.link.identity == Identity::kDhi && dhi.supported && dhi.enabled &&
                           dhi.management == HandleManagement::kDevice &&
                           dhi.on_miss == OnMiss::kStall && config.link.dhi_form != DhiForm::kTag;
  const At at = config.workload.at;
  const bool leaves_out_pasids =
      at == At::kTranslated || (at == At::kUntranslated && has_ats(config));
  return config.iommu.secure_ats && leaves_out_pasids && !has_handles;
}

std::uint64_t rings_of(const WorkloadConfig& workload) {
  return workload.buffer_base + std::uint64_t{domain_ids(workload)} * workload.buffer_size;
}

WorkloadTables::WorkloadTables(const IommuConfig& config, MemoryPort& memory)
    : memory_(memory),
      page_(config.page),
      type_(static_cast<TranslationType>(config.translation)),
      builder_([&memory](std::uint64_t address,
                         std::uint64_t value) { return memory.poke_u64(address, value); },
               TableBuilder::kDefaultArea, config.capabilities.host_address_bits),
      is_permitting_(config.secure_ats) {}

// Pages of 1 GiB take a word above the lowest level for each 64 MiB. [IOM-2.16]
void WorkloadTables::map(const DeviceIdentity& domain, bool is_trusted, std::uint64_t from,
                         std::uint64_t bytes) {
  constexpr unsigned kLargeUnit = permission_word_bits(2);
  for (std::uint64_t page = from / page_ * page_; page < from + bytes; page += page_) {
    if (is_new(domain, page)) {
      map_page(domain, page, page);
      if (is_permitting_) {
        const unsigned unit = page_ >> kLargeUnit != 0 ? kLargeUnit : kPageBits;
        const PermissionGrant grant{
            domain.bdf, domain.pasid.value_or(Pasid{}), page, page_, unit, {true, true},
            is_trusted};
        make_table("permissions for the workload", [&] { return builder_.permit(grant); });
      }
    }
  }
}

void WorkloadTables::map_buffer(const Config& config, const DeviceIdentity& domain,
                                std::uint64_t from, std::uint64_t bytes) {
  map(domain, are_trusted(config), from, bytes);
  if (shares_permissions(config)) {
    map(DeviceIdentity(domain.bdf), false, from, bytes);
  }
}

void WorkloadTables::map_device(const FabricDevice& device) {
  const Config& config = device.config;
  const Endpoint& endpoint = *device.endpoint;
  const WorkloadConfig& workload = config.workload;
  // Flushes read nothing there, in the name of the function alone.
  map(DeviceIdentity(endpoint.base()), false, workload.buffer_base, 1);
  const std::uint32_t domains = domain_ids(workload);
  for (std::uint32_t i = 0; i < domains; ++i) {
    const DeviceIdentity& domain = endpoint.identity_of(DomainId{i});
    map_buffer(config, domain, workload.buffer_base + i * workload.buffer_size,
               workload.buffer_size);
    if (workload.kind == WorkloadKind::kNic) {
      map_buffer(config, domain, rings_of(workload) + i * NicProfile::kRingsBytes,
                 NicProfile::kRingsBytes);
    }
  }
  const bool checks_lines = workload.via == WorkloadVia::kCxlCache && config.iommu.secure_ats;
  if (!has_ats(config) && workload.at == At::kUntranslated && !checks_lines) {
    disable_device_tlbs(endpoint.base(), config.device.functions.count);
  }
}

// Software that does not use ATS does not allow it: DTE and PRE of the functions' contexts go.
// [IOM-2.3]
void WorkloadTables::disable_device_tlbs(Bdf first, unsigned count) const {
  constexpr std::uint64_t kDeviceTlb = std::uint64_t{1} << 2, kPageRequests = 1U << 4;
  for (unsigned i = 0; i < count; ++i) {
    const auto context = contexts_.find(static_cast<std::uint16_t>(first.value + i));
    if (context != contexts_.end()) {
      const std::uint64_t entry = memory_.peek_u64(context->second);
      memory_.poke_u64(context->second, entry & ~(kDeviceTlb | kPageRequests));
    }
  }
}

std::vector<std::uint64_t> WorkloadTables::forbid(const DeviceIdentity& domain, bool is_trusted,
                                                  std::uint64_t from, std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << permission_word_bits(1);
  std::vector<std::uint64_t>& words = forbidden_[key_of(domain)];
  if (!words.empty()) {
    return words;
  }
  PermissionGrant grant{
      domain.bdf, domain.pasid.value_or(Pasid{}), from, kUnit, kPageBits, {false, false},
      is_trusted};
  for (; grant.address < from + bytes; grant.address += kUnit) {
    words.push_back(make_table("permissions for the driver",
                               [&] { return builder_.permit(grant).words.back(); }));
  }
  return words;
}

std::uint16_t WorkloadTables::domain_of(const DeviceIdentity& domain) {
  const auto next = static_cast<std::uint16_t>(domains_.size() + 1);
  const auto [found, is_new] = domains_.emplace(key_of(domain), next);
  if (is_new && domains_.size() > kMostDomainIds) {
    throw SimulationError(
        "tables for the workload: more than 65,535 pairs of function and PASID; expected a smaller "
        "workload.domains");
  }
  return found->second;
}

std::uint64_t WorkloadTables::map_page(const DeviceIdentity& domain, std::uint64_t page,
                                       std::uint64_t to) {
  Mapping mapping;
  mapping.function = domain.bdf;
  mapping.pasid = domain.pasid.value_or(Pasid{});
  mapping.type = type_;
  mapping.address = page;
  mapping.to = mapping.via = to;
  mapping.bytes = page_;
  mapping.domain = domain_of(domain);
  mapping.page_bits = static_cast<unsigned>(__builtin_ctzll(page_));
  const MappedEntries entries =
      make_table("tables for the workload", [&] { return builder_.map(mapping); });
  root_table_ = entries.root_table;
  pasid_entry_ = entries.pasid;
  contexts_[domain.bdf.value] = entries.context;
  if (type_ == TranslationType::kPassThrough) {
    return 0;
  }
  return entries.first_stage.empty() ? entries.second_stage.back() : entries.first_stage.back();
}

void WorkloadTables::check_apart(std::uint64_t from, std::uint64_t end, std::uint64_t first) const {
  if (from >= end) {
    return;
  }
  from = from / page_ * page_;
  end = (end + page_ - 1) / page_ * page_;
  if (from < builder_.end() && first < end) {
    throw SimulationError(
        fmt::format("buffers at {:#x} to {:#x} on top of software's queues and tables at {:#x} to "
                    "{:#x}; expected workload.buffer_base of {:#x} or above",
                    from, end - 1, first, builder_.end() - 1, builder_.end()));
  }
}

void WorkloadTables::use(TranslationAgent& agent) const {
  constexpr std::uint64_t kScalableMode = std::uint64_t{1} << 10;
  agent.write_register(iommu_register::kRtaddr, 8, root_table_ | kScalableMode);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kRootTable);
  agent.write_register(iommu_register::kGcmd, 4, global_bit::kTranslation);
}

std::uint64_t buffer_end(const WorkloadConfig& workload) {
  const std::uint64_t per_domain =
      workload.buffer_size + (workload.kind == WorkloadKind::kNic ? NicProfile::kRingsBytes : 0);
  return workload.buffer_base + domain_ids(workload) * per_domain;
}

}  // namespace flitwise
