// SPDX-License-Identifier: Apache-2.0
// Table of the section `host`.
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

Keys memory_keys() {
  return {
      size(KEY(host.memory.size), between(Bytes{1} << 20, Bytes{1} << 46),
           "Host memory, from address 0."),
      rate("host.memory.bandwidth", AT(host.memory.bandwidth_gbps), "Gb/s", bit_rate_dimension(),
           1'000'000'000, or_zero_as("infinite", between(1'000'000, 1'000'000'000'000'000)),
           "Rate of the memory; infinite never stalls."),
      time(KEY(host.memory.timing.latency), any_latency(), "One access, without waiting."),
      flag(KEY(host.requester_check),
           "Refuse requests and messages whose Requester ID is not on a bus below the root port."),
      flag(KEY(host.pasid), "Take PASIDs of devices; without it a TLP with one is malformed."),
      flag(KEY(host.translated_pasid),
           "Take PASIDs on translated requests; without it such a request is malformed."),
      size(KEY(host.dma_window.base), between(0, Bytes{1} << 46),
           "First byte that the devices below the root port may touch."),
      size(KEY(host.dma_window.size), or_zero_as("unlimited", between(1, Bytes{1} << 46)),
           "Bytes that they may touch; unlimited: all of memory."),
      size(KEY(host.trusted_window.base), between(0, Bytes{1} << 46),
           "First byte that only trusted requests may touch."),
      size(KEY(host.trusted_window.size), or_zero_as("none", between(1, Bytes{1} << 46)),
           "Bytes that only trusted requests may touch; none: trust is not asked for."),
  };
}

Keys grant_keys() {
  constexpr std::uint64_t kLastPasid = (1U << 20) - 1;
  return {
      choice(KEY(host.dhi.grant),
             "Which domains devices may name, in an ALLOC or in full: any, without trust, or what "
             "host.dhi.granted says."),
      count(KEY(host.dhi.granted.first_pasid), between(0, kLastPasid),
            "First PASID granted to each function of the device."),
      count(KEY(host.dhi.granted.last_pasid), between(0, kLastPasid),
            "Last PASID granted to each function of the device."),
      flag(KEY(host.dhi.granted.without_pasid), "Grants handles that name the function alone."),
      flag(KEY(host.dhi.granted.trusted), "Grants the trusted bit."),
      count(KEY(host.dhi.granted.capabilities), between(0, 0xffff),
            "Capability bits granted, 16 bits."),
  };
}

Keys host_dhi_keys() {
  return {
      choice(KEY(host.dhi.table),
             "One handle table for each device, or one for all, split into ranges."),
      count(KEY(host.dhi.entries), between(4, 4096),
            "Entries of the shared table, all ranges together."),
      choice(KEY(host.dhi.dealloc),
             "Whether an ALLOC over a valid handle frees it, or is refused until a DEALLOC."),
      flag(
          KEY(host.dhi.check_capabilities),
          "Serve translated requests only where bit 0 of the capabilities of their handle is set."),
      flag(KEY(host.dhi.report_errors), "Tell the device of posted messages that were refused."),
      choice(KEY(host.dhi.unknown_domain),
             "What a message to the device does when its domain has no handle."),
  };
}

Keys host_cxl_and_timing_keys() {
  return {
      count(KEY(host.cxl_mem.outstanding), between(1, 65536),
            "CXL.mem requests that the host has out, to each device."),
      time(KEY(host.cxl_mem.bridge), any_latency(),
           "CXL.mem: core to link, and link to core, each."),
      choice(KEY(host.cxl_mem.read),
             "hdm_db: reads of lines that the host does not hold: MemRd to share, MemRdData, or "
             "MemRd of which nothing is kept."),
      size(KEY(host.cxl_mem.cache.size), between(64, Bytes{1} << 30),
           "hdm_db: cache of the host for lines of each device's memory."),
      count(KEY(host.cxl_mem.cache.ways), between(1, 64), "Lines of a set."),
      count(KEY(host.cxl_mem.cache.lines_per_clock), between(1, 64),
            "Lines that the cores ask that cache for in a clock of the host, at most."),
      time(KEY(host.cxl_mem.cache.lookup), any_latency(), "Of requests, answers and snoops, each."),
      time(KEY(host.cxl_cache.bridge), any_latency(),
           "CXL.cache: home to link, and link to home, each."),
      time(KEY(host.cxl_cache.lookup), any_latency(),
           "CXL.cache: the home's directory, for each message."),
      flag(KEY(host.cxl_cache.pulls_clean_evictions),
           "CXL.cache: the home takes the data of clean evictions as well."),
      time(KEY(host.timing.root_port), any_latency(),
           "Ingress to memory, and memory to egress, each."),
      time(KEY(host.timing.clock), any_clock(), "Clock period of the host uncore."),
      time(KEY(host.timing.mmio), any_latency(), "Core to root port, one way."),
      time(KEY(host.timing.software_step), any_latency(), "One step of a software actor."),
      time(KEY(host.timing.completion_timeout),
           between(Time::from_us(1), Time::from_us(64'000'000)),
           "Software's reads and configuration requests give up after it."),
  };
}

}  // namespace

Keys host_keys() {
  return joined({memory_keys(), host_dhi_keys(), grant_keys(), iommu_driver_keys(),
                 storage_keys(KEY(host.dhi.storage)), host_cxl_and_timing_keys()});
}

}  // namespace flitwise::config
