// SPDX-License-Identifier: Apache-2.0
// Table of the section `device`.
#include "config/sections/sections.h"
#include "flitwise/cxl.h"

namespace flitwise::config {

Keys device_keys() {
  return joined({
      count(KEY(device.functions.count), between(1, 256),
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
      flag(KEY(device.dhi.trusted), "Every ALLOC of the device asks for a trusted domain."),
      count(KEY(device.dhi.capabilities), between(0, 0xffff),
            "Capability bits that every ALLOC of the device asks for, 16 bits."),
      storage_keys(KEY(device.dhi.storage)),
      // ---- cache of translations
      flag(KEY(device.atc.enabled),
           "Each function has the ATS capability and a cache of translations; software enables it "
           "where iommu.translation is not off."),
      cache_keys(KEY(device.atc), between(1, 1U << 20), "each function"),
      time(KEY(device.atc.timing.lookup), any_latency(), "A look-up in the cache."),
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
            "Pages asked for beyond the one that missed, with when: prefetch."),
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
