// SPDX-License-Identifier: Apache-2.0
// Tables of the sections `host`, `iommu` and `device`.
#include "config/sections/sections.h"
#include "flitwise/cxl.h"

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
      flag(KEY(host.atomics),
           "Root ports do FetchAdd, Swap and CAS in host memory, and announce it; without it they "
           "answer them with UR. Atomics of RDMA are none of these: their adapter reads and "
           "writes."),
      flag(KEY(host.deferrable_writes),
           "Root ports take deferrable writes (DMWr) to host memory; without it they answer them "
           "with UR."),
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
      flag(KEY(host.dhi.check_capabilities),
           "Serve translated requests only where bit 0 of the capabilities of their handle is set, "
           "and atomics and deferrable writes where bit 1 is."),
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
      count(KEY(host.dhi.granted.capabilities), between(0, 3),
            "Capability bits granted: 1 translated requests, 2 atomics and deferrable writes."),
      count(KEY(host.dhi.granted.contexts), or_zero_as("none", between(1, kMostContexts)),
            "Contexts granted of each PASID p, n of them: those numbered from p * n on, of each "
            "kind; the largest value: any."),
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
      core_keys(),
      verbs_keys(),
  });
}

Keys iommu_keys() {
  const Limits cached = or_zero_as("none", between(1, 1U << 20));
  return joined({
      choice(
          KEY(iommu.translation),
          "Tables that host software has made for the workload's domains before it starts: their "
          "buffers, each at its own address; off: software may still make tables of its own."),
      size(KEY(iommu.page), only({Bytes{4} << 10, Bytes{2} << 20, Bytes{1} << 30}),
           "Pages of those tables."),
      flag(KEY(iommu.legacy_codes),
           "Report faults by the numbers of the legacy table instead of those of scalable mode."),
      count(KEY(iommu.walkers), between(1, 256), "Page walks at a time."),
      count(KEY(iommu.reply_split), between(0, 15),
            "Translations in the first of two completions for a Translation Request that gets "
            "more; 0: all in one."),
      choice(KEY(iommu.reserved_tail_bit),
             "Bit 4 of the invalidation queue's tail with 256-bit descriptors: an error that stops "
             "the queue, or ignored."),
      flag(KEY(iommu.secure_ats),
           "Every translated request is checked against its domain's permission table in host "
           "memory; off: those of a function with a device TLB go on unchecked."),
      // ---- caches
      cache_keys(KEY(iommu.context_cache), cached, "context entries"),
      cache_keys(KEY(iommu.pasid_cache), cached, "PASID table entries"),
      cache_keys(KEY(iommu.iotlb), cached, "translations"),
      cache_keys(KEY(iommu.paging_cache), cached, "page tables on the way to a page"),
      cache_keys(KEY(iommu.second_stage_cache), cached, "second-stage pages, for nested walks"),
      cache_keys(KEY(iommu.permission_cache), cached,
                 "page permissions, and of tables above them each"),
      // ---- capabilities
      count(KEY(iommu.capabilities.host_address_bits), between(36, 52),
            "Width of physical addresses; higher bits of entries are reserved."),
      count(KEY(iommu.capabilities.pasid_bits), or_zero_as("none", between(1, 20)),
            "Width of PASIDs, ECAP.PSS + 1; none: no PASID."),
      flag(KEY(iommu.capabilities.first_stage_5_level),
           "CAP.FS5LP: first-stage tables of five levels."),
      flag(KEY(iommu.capabilities.second_stage_5_level),
           "CAP.SAGAW bit 3: second-stage tables of five levels."),
      flag(KEY(iommu.capabilities.nested), "ECAP.NEST: first stage over second stage."),
      flag(KEY(iommu.capabilities.rid_pasid),
           "ECAP.RPS: requests without PASID use RID_PASID of their context, else PASID 0."),
      flag(KEY(iommu.capabilities.caching_mode), "CAP.CM: what is not present may be cached."),
      count(KEY(iommu.capabilities.fault_records), between(1, 32),
            "Fault recording registers, CAP.NFR + 1."),
      // ---- page requests
      choice(KEY(iommu.page_requests.overflow),
             "What becomes of page requests for which their queue has no room: the last of a group "
             "is answered with success and the others are dropped, or all are dropped."),
      flag(KEY(iommu.page_requests.respond_pasid),
           "The agent's own answers to page requests name the PASID of the request (PRG Response "
           "PASID Required of the functions)."),
      // ---- timing
      time(KEY(iommu.timing.clock), any_clock(), "Period of the agent's clock."),
      time(KEY(iommu.timing.context_cache), any_latency(), "A hit in the context cache."),
      time(KEY(iommu.timing.pasid_cache), any_latency(), "A hit in the PASID cache."),
      time(KEY(iommu.timing.second_stage_cache), any_latency(),
           "A hit in the cache of second-stage translations, in a nested walk."),
      time(KEY(iommu.timing.iotlb), any_latency(), "A look-up in the IOTLB."),
      time(KEY(iommu.timing.paging_cache), any_latency(),
           "A look-up in the paging-structure caches, before a walk."),
      time(KEY(iommu.timing.permission_cache), any_latency(), "A look-up in the permission cache."),
      time(KEY(iommu.timing.invalidation), any_latency(),
           "Execution of one invalidation descriptor."),
      time(KEY(iommu.timing.invalidate_timeout),
           between(Time::from_us(1), Time::from_us(90'000'000)),
           "An Invalidate Request that a device has not answered by then is given up. The standard "
           "says 60 s to 90 s; less is for tests of what follows."),
  });
}

Keys device_keys() {
  return joined({
      count(KEY(device.functions.count), between(1, kMostFunctions),
            "Functions of the device: PF 0 and its VFs."),
      flag(KEY(device.functions.has_pasid), "The functions have the PASID capability."),
      choice(KEY(device.functions.pasid_space),
             "Who gives PASIDs to processes; function: each function, from 0 on; system: the host, "
             "so that no two processes of a device share one."),
      size(KEY(device.functions.bar_size), power_of_two(4096, Bytes{1} << 30),
           "BAR 0 of each function."),
      count(KEY(device.dma.outstanding), between(1, 65536), "Reads in flight, whole device."),
      time(KEY(device.dma.issue_interval), any_latency(),
           "Time between two requests of the DMA engine, on average: they go on clock edges."),
      flag(KEY(device.dma.relaxed_ordering),
           "Requests have the RO bit set, where the handle rules let them."),
      flag(KEY(device.dma.id_based_ordering),
           "Requests have the IDO bit set, where the handle rules let them."),
      flag(KEY(device.dma.no_snoop),
           "Its reads and writes have No Snoop set, but by translations that forbid it."),
      size(KEY(device.ring.memory), or_zero_as("none", between(Bytes{4} << 10, Bytes{1} << 30)),
           "Memory of the device that host software fills and reads by a descriptor ring in BAR 0; "
           "none: no ring."),
      count(KEY(device.ring.prefetch), between(1, 64),
            "Descriptors that the ring fetches by one read, at most."),
      count(KEY(device.tag_bits), only({5, 8, 10, 14}),
            "Width of the tags that requests use; 14 in flit mode."),
      // ---- handles
      flag(KEY(device.dhi.supported), "The device has the capability for handles."),
      flag(KEY(device.dhi.enabled), "Software enables handles in it."),
      count(KEY(device.dhi.bits), between(2, 12),
            "Width of a handle; the device has 2^bits of them."),
      choice(KEY(device.dhi.on_miss),
             "A message whose domain has no handle waits for one, or goes with its full identity."),
      choice(KEY(device.dhi.alloc_order),
             "How the device learns that an ALLOC is applied before ordering may be relaxed."),
      choice(KEY(device.dhi.victim), "Which handle is taken when none is free."),
      flag(KEY(device.dhi.prefer_ended), "Handles whose context has ended are taken first."),
      flag(KEY(device.dhi.prefer_idle), "Handles without an outstanding request are taken first."),
      choice(KEY(device.dhi.dealloc),
             "Whether the device sends DEALLOC, or lets the next ALLOC take the handle over."),
      choice(KEY(device.dhi.management),
             "Who chooses handles: the device, or software through registers."),
      choice(KEY(device.dhi.allocate_at), "When a handle is allocated."),
      choice(KEY(device.dhi.contexts),
             "Contexts of one process (workload.contexts) have a handle each, or share one."),
      flag(KEY(device.dhi.trusted), "Every ALLOC of the device asks for a trusted domain."),
      count(KEY(device.dhi.capabilities), between(0, 3),
            "Capability bits that every ALLOC of the device asks for, as in "
            "host.dhi.granted.capabilities."),
      storage_keys(KEY(device.dhi.storage)),
      // ---- cache of translations
      flag(KEY(device.atc.enabled),
           "Each function has the ATS capability and a cache of translations; software enables it "
           "where iommu.translation is not off."),
      cache_keys(KEY(device.atc), between(1, 1U << 20), "each function"),
      time(KEY(device.atc.timing.lookup), any_latency(), "A look-up in the cache."),
      count(KEY(device.atc.parked), between(1, 4096),
            "Transfers that may wait for translations and pages, or behind such ones."),
      // ---- Translation Requests
      count(KEY(device.atc.requests), between(1, 256),
            "Translation Requests of one function that may be out."),
      count(
          KEY(device.atc.translations), between(1, 16),
          "Translations that one request asks for at least; never more than RCB and MRRS let it."),
      choice(KEY(device.atc.when),
             "Which misses are worth a Translation Request: all, those of pages that are used "
             "again, all with pages ahead, or those of domains that software hints at; the others "
             "go untranslated."),
      count(KEY(device.atc.reuse_threshold), between(1, 255),
            "Misses of a page that earn it a translation, with when: reuse."),
      count(KEY(device.atc.reuse_pages), power_of_two(1, 1U << 20),
            "Pages whose misses are counted, with when: reuse."),
      count(KEY(device.atc.pages_ahead), between(1, 15),
            "Pages asked for beyond the one that missed, with when: prefetch; never more than RCB "
            "and "
            "MRRS let it, 7 with link.rcb 64B."),
      count(
          KEY(device.atc.hinted_domains), or_zero_as("all", between(1, 1U << 20)),
          "Domains, from 0 on, whose buffers software calls worth a translation, with when: hint."),
      count(KEY(device.atc.stu), between(0, 31),
            "Smallest Translation Unit that software sets: 2^stu pages of 4 KiB."),
      // ---- invalidation
      count(KEY(device.atc.queue_depth), between(1, 32),
            "Invalidate Queue Depth that the capability shows."),
      choice(KEY(device.atc.discard),
             "What an invalidation takes from the reply to a Translation Request that it overlaps "
             "in part."),
      flag(KEY(device.atc.coalesce), "One Invalidate Completion may answer several ITags."),
      flag(KEY(device.atc.rounds_up),
           "An invalidation of less than the STU is grown to it; else it is unsupported."),
      flag(KEY(device.atc.keeps_agent_id),
           "Invalidate Completions go to the requester of the first request since the reset."),
      flag(KEY(device.atc.global_invalidate), "The capability shows Global Invalidate Supported."),
      // ---- page requests
      flag(KEY(device.pri.enabled),
           "The device has the Page Request Interface, which software enables with ATS."),
      count(KEY(device.pri.capacity), between(1, 1U << 20), "Outstanding Page Request Capacity."),
      count(KEY(device.pri.allocation), between(1, 1U << 20),
            "Page requests that software lets be out."),
      flag(KEY(device.pri.response_pasid),
           "PRG Response PASID Required: responses name the PASID of their group."),
      flag(KEY(device.pri.clamps_allocation),
           "An allocation above the capacity is cut to it when it is written."),
      count(KEY(device.pri.group_pages), between(1, 512),
            "Pages of one transfer that a group asks for at most, from the one that was missed on, "
            "as far as there are credits."),
      // ---- CXL
      size(KEY(device.cxl.memory), or_zero_as("none", between(Bytes{4} << 10, Bytes{1} << 46)),
           "Memory of the device that the host reaches by CXL.mem (type 3)."),
      choice(KEY(device.cxl.coherence),
             "Who keeps that memory coherent: the host alone, or the device as well, which caches "
             "it (type 2) and takes lines back by BISnp."),
      size(KEY(device.cxl.own_cache.size), between(64, Bytes{1} << 30),
           "hdm_db: cache of the device for lines of its own memory."),
      count(KEY(device.cxl.own_cache.ways), between(1, 64), "Lines of a set."),
      count(KEY(device.cxl.own_cache.snoops), between(1, kCxlIds),
            "BISnp that the device has out."),
      count(KEY(device.cxl.own_cache.lines_per_clock), between(1, 64),
            "Lines that the core asks that cache for in a clock of the device, at most."),
      time(KEY(device.cxl.own_cache.lookup), any_latency(),
           "Core to the answer of a hit, to the memory or to its controller, each."),
      size(KEY(device.cxl.cache.size), or_zero_as("none", between(64, Bytes{1} << 30)),
           "Cache of the device for lines of the host's memory, by CXL.cache (types 1 and 2)."),
      count(KEY(device.cxl.cache.ways), between(1, 64), "Lines of a set."),
      count(KEY(device.cxl.cache.requests), between(2, kCxlIds),
            "CXL.cache requests that the device has out."),
      choice(KEY(device.cxl.cache.read),
             "Reads of lines that the cache does not hold: RdShared, RdAny, or RdCurr, which keeps "
             "nothing."),
      choice(KEY(device.cxl.cache.write),
             "Writes of lines that the cache does not own: RdOwn and RdOwnNoData; ItoMWr and WrInv "
             "(through) or WOWrInvF and WOWrInv (posted) past it."),
      flag(KEY(device.cxl.cache.offers_clean_evictions),
           "Clean lines leave with CleanEvict, else with CleanEvictNoData."),
      count(KEY(device.cxl.cache.lines_per_clock), between(1, 64),
            "Lines that the core asks its cache for in a clock of the device, at most."),
      time(KEY(device.cxl.cache.lookup), any_latency(),
           "Core to the answer of a hit or to the link, snoop to answer, each."),
      time(KEY(device.cxl.timing.latency), any_latency(), "The memory itself."),
      time(KEY(device.cxl.timing.controller), any_latency(),
           "Request to memory, and memory to response, each."),
      pio_keys(),
      rdma_keys(),
      srdma_keys(),
      // ---- timing
      time(KEY(device.timing.clock), any_clock(), "Clock period of the device."),
      time(KEY(device.timing.pipeline), any_latency(), "Engine to link, and link to engine, each."),
      time(KEY(device.timing.mmio), any_latency(), "From a BAR access to its completion."),
      time(KEY(device.timing.completion_timeout),
           between(Time::from_us(1), Time::from_us(64'000'000)),
           "A non-posted request without completion for so long has failed."),
  });
}

}  // namespace flitwise::config
