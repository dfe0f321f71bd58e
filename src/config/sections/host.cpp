// SPDX-License-Identifier: Apache-2.0
// Table of the section `host`.
#include "config/sections/sections.h"

namespace flitwise::config {

Keys host_keys() {
  constexpr std::uint64_t kLastPasid = (1U << 20) - 1;
  return joined({
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
      // ---- handles
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
      // ---- driver of the translation agent
      flag(KEY(host.iommu_driver.enabled),
           "A driver maps and unmaps pages and serves page requests and faults while devices run."),
      time(KEY(host.iommu_driver.step), or_zero_as("software_step", any_latency()),
           "Between two of its accesses; software_step: host.timing.software_step."),
      choice(
          KEY(host.iommu_driver.mistake),
          "What the driver does wrong, to show that the checks notice: invalidate devices before "
          "the agent, give pages away before the invalidation is over, leave devices out, end "
          "contexts whose device still works, leave PASID caches out, leave pages permitted."),
      choice(KEY(host.iommu_driver.mode),
             "Invalidate each unmapped range and wait for it, or collect unmaps and then "
             "invalidate their domains whole."),
      count(KEY(host.iommu_driver.batch), between(1, 256),
            "Unmaps whose invalidations share one wait, where there are so many to do."),
      time(KEY(host.iommu_driver.flush_after), between(Time::from_ns(1), Time::from_us(1'000'000)),
           "Mode deferred: invalidates so long after the first unmap, though there is no whole "
           "batch."),
      choice(KEY(host.iommu_driver.wait),
             "Look for the end of invalidations in memory, or be interrupted."),
      real(KEY(host.iommu_driver.unmap_rate), 0, 1e9,
           "Unmaps a second, on average; as many as the driver can do, where that is less."),
      count(KEY(host.iommu_driver.unmap_pages), between(1, 512),
            "Pages of one unmap, at most the buffer of one domain."),
      time(KEY(host.iommu_driver.remap_after),
           or_zero_as("never", between(Time::from_ns(1), Time::from_us(1'000'000))),
           "A page that was unmapped is mapped again, elsewhere, so long after it was free; never: "
           "only when a device asks for it."),
      real(KEY(host.iommu_driver.teardown_rate), 0, 1e9,
           "Contexts torn down a second, on average, each once; as many as the driver can do, "
           "where that is less."),
      flag(KEY(host.iommu_driver.teardown_reset),
           "Resets the function of each context that was torn down; each domain needs a virtual "
           "function of its own."),
      real(KEY(host.iommu_driver.premapped), 0, 1,
           "Share of the pages that are mapped at the start."),
      time(KEY(host.iommu_driver.map_latency), any_latency(),
           "From the record of a page request, or of a fault, to the mapped page."),
      real(KEY(host.iommu_driver.refuse_fraction), 0, 1,
           "Share of the page requests that are answered with Invalid Request."),
      size(KEY(host.iommu_driver.page_request_queue), power_of_two(Bytes{4} << 10, Bytes{64} << 10),
           "Queue of page requests in memory, 32 bytes a record."),
      // ---- storage of handles
      storage_keys(KEY(host.dhi.storage)),
      // ---- CXL and timing
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
  });
}

}  // namespace flitwise::config
