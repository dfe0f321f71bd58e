// SPDX-License-Identifier: Apache-2.0
// Cross-field checks of CXL.cache and CXL.mem, one function each.
#include "config/relations.h"

#include "common/quantity.h"
#include "config/names.h"
#include "flitwise/cxl.h"

namespace flitwise::config {

namespace {

/// Sets are found by bits of the address.
void check_sets(const char* size_path, const char* ways_path, Bytes size, unsigned ways,
                BrokenRelations& broken) {
  const Bytes set = Bytes{kCxlLineBytes} * ways;
  const Bytes sets = size / set;
  broken.add_if(size % set != 0 || (sets & (sets - 1)) != 0, {size_path, ways_path},
                "a cache of {} with {} ways; expected {} times a power of two", size_text(size),
                ways, size_text(set));
}

/// [CXL-7.1] [CXL-7.4]
void check_cxl_cache(const Config& config, const TopologyFacts& topology, BrokenRelations& broken) {
  const CxlCacheConfig& cache = config.device.cxl.cache;
  broken.add_if(cache.size > 0 && config.link.preset.cxl == CxlFlits::kNone,
                {"device.cxl.cache.size", "link.preset"},
                "CXL.cache without a CXL link; expected link.preset cxl68_gen5x16 or the like");
  broken.add_if(cache.size > 0 && topology.has_switch, {"device.cxl.cache.size", "system.topology"},
                "CXL.cache behind a switch; expected system.topology direct");
  check_sets("device.cxl.cache.size", "device.cxl.cache.ways", cache.size, cache.ways, broken);
  const std::uint32_t bits = config.cxl_handle_bits();
  const auto& dhi = config.device.dhi;
  broken.add_if(config.has_cxl_handles() && bits < dhi.bits,
                {"link.cxl.identity", "link.cxl.handle_bits", "device.dhi.bits"},
                "handles of {} bits, and {} bits for them on CXL.cache; expected "
                "link.cxl.handle_bits {} or more, or 0",
                dhi.bits, bits, dhi.bits);
  // Whoever has no handle has to be able to say who it is. [CXL-7.4]
  const bool may_lack_one = !dhi.supported || !dhi.enabled ||
                            dhi.management == HandleManagement::kSoftware ||
                            dhi.allocate_at == AllocateAt::kContextCreation;
  broken.add_if(config.has_cxl_handles() && may_lack_one && dhi.on_miss == OnMiss::kStall,
                {"link.cxl.identity", "device.dhi.on_miss", "device.dhi.supported",
                 "device.dhi.enabled", "device.dhi.management", "device.dhi.allocate_at"},
                "requests of CXL.cache that may have no handle, and no room for their identity; "
                "expected device.dhi.on_miss bypass, or handles that the device allocates at "
                "first use");
  broken.add_if(config.workload.via == WorkloadVia::kCxlCache && config.device.atc.enabled &&
                    config.device.pri.enabled,
                {"workload.via", "device.pri.enabled"},
                "page requests of a cache, which are not modelled; expected device.pri.enabled: "
                "false");
  constexpr unsigned kMostCaches = 16;  // CacheID has four bits
  broken.add_if(
      cache.size > 0 && topology.devices > kMostCaches, {"device.cxl.cache.size", "system.devices"},
      "{} devices with caches; expected system.devices up to {}", topology.devices, kMostCaches);
  broken.add_if(config.faults.breaks(BrokenRule::kSingleWriter) &&
                    config.device.cxl.coherence != CxlCoherence::kHdmDb &&
                    (cache.size == 0 || topology.devices < 2),
                {"faults.break", "device.cxl.cache.size", "device.cxl.coherence", "system.devices"},
                "single_writer without two caches; expected device.cxl.cache.size and "
                "system.devices 2 or more, or device.cxl.coherence hdm_db");
  broken.add_if(
      config.faults.breaks(BrokenRule::kRecall) && (cache.size == 0 || !config.iommu.secure_ats),
      {"faults.break", "device.cxl.cache.size", "iommu.secure_ats"},
      "recall without permissions of lines; expected device.cxl.cache.size and iommu.secure_ats: "
      "true");
  broken.add_if(config.faults.breaks(BrokenRule::kInvalidation) &&
                    (cache.size == 0 || !config.device.atc.enabled),
                {"faults.break", "device.cxl.cache.size", "device.atc.enabled"},
                "invalidation without translations of lines; expected device.cxl.cache.size and "
                "device.atc.enabled: true");
  broken.add_if(
      config.workload.via == WorkloadVia::kCxlCache && config.workload.at != At::kUntranslated,
      {"workload.via", "workload.at"},
      "translated requests by CXL.cache, which carries host addresses and asks no translation "
      "agent; expected workload.at untranslated");
  broken.add_if(config.workload.via == WorkloadVia::kCxlCache && cache.size == 0,
                {"workload.via", "device.cxl.cache.size"},
                "requests through a cache that is not there; expected device.cxl.cache.size 64KiB "
                "or the like");
}

/// CXL.mem has one host and one device on each link. [CXL-3.8]
void check_cxl_mem(const Config& config, bool has_switch, BrokenRelations& broken) {
  const Bytes memory = config.device.cxl.memory;
  broken.add_if(
      memory > 0 && config.link.preset.cxl == CxlFlits::kNone, {"device.cxl.memory", "link.preset"},
      "CXL.mem on a PCIe link; expected link.preset cxl68_gen5x16, cxl256_gen6x16 or the like");
  broken.add_if(memory > 0 && has_switch, {"device.cxl.memory", "system.topology"},
                "CXL.mem behind a switch; expected system.topology direct");
  const WorkloadConfig& workload = config.workload;
  if (has_requests(workload.via)) {
    return;
  }
  const bool is_plain =
      workload.kind == WorkloadKind::kPostedWrite || workload.kind == WorkloadKind::kRead ||
      workload.kind == WorkloadKind::kReadWrite || workload.kind == WorkloadKind::kTrace;
  broken.add_if(!is_plain, {"workload.via", "workload.kind"},
                "kind {} by {}; expected posted_write, read, read_write or trace",
                spelling(workload.kind), spelling(workload.via));
  if (workload.via == WorkloadVia::kCxlCache) {
    return;
  }
  broken.add_if(memory == 0 && workload.kind == WorkloadKind::kTrace,
                {"workload.via", "device.cxl.memory"},
                "requests of a trace to memory that the device does not have; expected "
                "device.cxl.memory 256MiB or the like");
  const Bytes end = workload.buffer_base + workload.buffer_size * workload.domains;
  broken.add_if(end > memory && workload.kind != WorkloadKind::kTrace,
                {"workload.via", "device.cxl.memory", "workload.buffer_base",
                 "workload.buffer_size", "workload.domains"},
                "buffers of CXL.mem up to {}, and {} of memory on the device; expected "
                "device.cxl.memory to hold them",
                size_text(end), size_text(memory));
}

/// Back invalidation is known to 256-byte flits alone. [CXL-8.1]
void check_hdm_db(const Config& config, BrokenRelations& broken) {
  const CxlDeviceConfig& device = config.device.cxl;
  const WorkloadVia via = config.workload.via;
  if (device.coherence == CxlCoherence::kHdmH) {
    broken.add_if(
        via == WorkloadVia::kCxlOwn || via == WorkloadVia::kCxlBoth,
        {"workload.via", "device.cxl.coherence"},
        "{} of memory that the device does not cache; expected device.cxl.coherence hdm_db",
        spelling(via));
    return;
  }
  check_sets("device.cxl.own_cache.size", "device.cxl.own_cache.ways", device.own_cache.size,
             device.own_cache.ways, broken);
  check_sets("host.cxl_mem.cache.size", "host.cxl_mem.cache.ways", config.host.cxl_mem.cache.size,
             config.host.cxl_mem.cache.ways, broken);
  broken.add_if(config.link.preset.cxl != CxlFlits::k256, {"device.cxl.coherence", "link.preset"},
                "hdm_db on a link without back invalidation; expected link.preset cxl256_gen6x16 "
                "or the like");
  broken.add_if(device.memory == 0, {"device.cxl.coherence", "device.cxl.memory"},
                "hdm_db without memory; expected device.cxl.memory 16GiB or the like");
  constexpr unsigned kFewest = 2, kMost = 32768;  // a request and its victim; tags below 8000h
  const unsigned outstanding = config.host.cxl_mem.outstanding;
  broken.add_if(outstanding < kFewest || outstanding > kMost,
                {"device.cxl.coherence", "host.cxl_mem.outstanding"},
                "{} requests out and hdm_db; expected host.cxl_mem.outstanding {} to {}",
                outstanding, kFewest, kMost);
}

}  // namespace

void check_cxl(const Config& config, const TopologyFacts& topology, BrokenRelations& broken) {
  check_cxl_cache(config, topology, broken);
  check_cxl_mem(config, topology.has_switch, broken);
  check_hdm_db(config, broken);
}

}  // namespace flitwise::config
