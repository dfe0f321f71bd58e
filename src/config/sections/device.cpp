// SPDX-License-Identifier: Apache-2.0
// Table of the section `device`.
#include "config/sections/sections.h"
#include "flitwise/cxl.h"

namespace flitwise::config {

namespace {

Keys shell_keys() {
  return {
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
  };
}

Keys device_dhi_keys() {
  return {
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
  };
}

Keys device_cxl_keys() {
  return {
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
  };
}

Keys device_timing_keys() {
  return {
      time(KEY(device.timing.clock), any_clock(), "Clock period of the device."),
      time(KEY(device.timing.pipeline), any_latency(), "Engine to link, and link to engine, each."),
      time(KEY(device.timing.mmio), any_latency(), "From a BAR access to its completion."),
      time(KEY(device.timing.completion_timeout),
           between(Time::from_us(1), Time::from_us(64'000'000)),
           "A non-posted request without completion for so long has failed."),
  };
}

}  // namespace

Keys device_keys() {
  return joined({shell_keys(), device_dhi_keys(), storage_keys(KEY(device.dhi.storage)),
                 device_ats_keys(), device_cxl_keys(), device_timing_keys()});
}

}  // namespace flitwise::config
