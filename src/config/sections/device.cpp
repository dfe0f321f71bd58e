// SPDX-License-Identifier: Apache-2.0
// Table of the section `device`.
#include "config/sections/sections.h"
#include "config/sections/storage.h"
#include "flitwise/cxl.h"

namespace flitwise::config {

namespace {

Keys shell_keys() {
  return {
      count(
          "device.functions.count", [](auto& c) { return &c.device.functions.count; },
          between(1, 256), "Functions of the device: PF 0 and its VFs."),
      flag(
          "device.functions.has_pasid", [](auto& c) { return &c.device.functions.has_pasid; },
          "The functions have the PASID capability."),
      choice(
          "device.functions.pasid_space", [](auto& c) { return &c.device.functions.pasid_space; },
          "Who gives PASIDs to processes; function: each function, from 0 on; system: the host, so "
          "that no two processes of a device share one."),
      size(
          "device.functions.bar_size", [](auto& c) { return &c.device.functions.bar_size; },
          power_of_two(4096, Bytes{1} << 30), "BAR 0 of each function."),
      count(
          "device.dma.outstanding", [](auto& c) { return &c.device.dma.outstanding; },
          between(1, 65536), "Reads in flight, whole device."),
      time(
          "device.dma.issue_interval", [](auto& c) { return &c.device.dma.issue_interval; },
          any_latency(),
          "Time between two requests of the DMA engine, on average: they go on clock edges."),
      flag(
          "device.dma.relaxed_ordering", [](auto& c) { return &c.device.dma.relaxed_ordering; },
          "Requests have the RO bit set, where the handle rules let them."),
      flag(
          "device.dma.id_based_ordering", [](auto& c) { return &c.device.dma.id_based_ordering; },
          "Requests have the IDO bit set, where the handle rules let them."),
      count(
          "device.tag_bits", [](auto& c) { return &c.device.tag_bits; }, only({5, 8, 10, 14}),
          "Width of the tags that requests use; 14 in flit mode."),
  };
}

Keys device_dhi_keys() {
  return {
      flag(
          "device.dhi.supported", [](auto& c) { return &c.device.dhi.supported; },
          "The device has the capability for handles."),
      flag(
          "device.dhi.enabled", [](auto& c) { return &c.device.dhi.enabled; },
          "Software enables handles in it."),
      count(
          "device.dhi.bits", [](auto& c) { return &c.device.dhi.bits; }, between(2, 12),
          "Width of a handle; the device has 2^bits of them."),
      choice(
          "device.dhi.on_miss", [](auto& c) { return &c.device.dhi.on_miss; },
          "A message whose domain has no handle waits for one, or goes with its full identity."),
      choice(
          "device.dhi.alloc_order", [](auto& c) { return &c.device.dhi.alloc_order; },
          "How the device learns that an ALLOC is applied before ordering may be relaxed."),
      choice(
          "device.dhi.victim", [](auto& c) { return &c.device.dhi.victim; },
          "Which handle is taken when none is free."),
      flag(
          "device.dhi.prefer_ended", [](auto& c) { return &c.device.dhi.prefer_ended; },
          "Handles whose context has ended are taken first."),
      flag(
          "device.dhi.prefer_idle", [](auto& c) { return &c.device.dhi.prefer_idle; },
          "Handles without an outstanding request are taken first."),
      choice(
          "device.dhi.dealloc", [](auto& c) { return &c.device.dhi.dealloc; },
          "Whether the device sends DEALLOC, or lets the next ALLOC take the handle over."),
      choice(
          "device.dhi.management", [](auto& c) { return &c.device.dhi.management; },
          "Who chooses handles: the device, or software through registers."),
      choice(
          "device.dhi.allocate_at", [](auto& c) { return &c.device.dhi.allocate_at; },
          "When a handle is allocated."),
      flag(
          "device.dhi.trusted", [](auto& c) { return &c.device.dhi.trusted; },
          "Every ALLOC of the device asks for a trusted domain."),
      count(
          "device.dhi.capabilities", [](auto& c) { return &c.device.dhi.capabilities; },
          between(0, 0xffff), "Capability bits that every ALLOC of the device asks for, 16 bits."),
  };
}

Keys device_cxl_keys() {
  return {
      size(
          "device.cxl.memory", [](auto& c) { return &c.device.cxl.memory; },
          or_zero_as("none", between(Bytes{4} << 10, Bytes{1} << 46)),
          "Memory of the device that the host reaches by CXL.mem (type 3)."),
      choice(
          "device.cxl.coherence", [](auto& c) { return &c.device.cxl.coherence; },
          "Who keeps that memory coherent: the host alone, or the device as well, which caches it "
          "(type 2) and takes lines back by BISnp."),
      size(
          "device.cxl.own_cache.size", [](auto& c) { return &c.device.cxl.own_cache.size; },
          between(64, Bytes{1} << 30), "hdm_db: cache of the device for lines of its own memory."),
      count(
          "device.cxl.own_cache.ways", [](auto& c) { return &c.device.cxl.own_cache.ways; },
          between(1, 64), "Lines of a set."),
      count(
          "device.cxl.own_cache.snoops", [](auto& c) { return &c.device.cxl.own_cache.snoops; },
          between(1, kCxlIds), "BISnp that the device has out."),
      count(
          "device.cxl.own_cache.lines_per_clock",
          [](auto& c) { return &c.device.cxl.own_cache.lines_per_clock; }, between(1, 64),
          "Lines that the core asks that cache for in a clock of the device, at most."),
      time(
          "device.cxl.own_cache.lookup", [](auto& c) { return &c.device.cxl.own_cache.lookup; },
          any_latency(), "Core to the answer of a hit, to the memory or to its controller, each."),
      size(
          "device.cxl.cache.size", [](auto& c) { return &c.device.cxl.cache.size; },
          or_zero_as("none", between(64, Bytes{1} << 30)),
          "Cache of the device for lines of the host's memory, by CXL.cache (types 1 and 2)."),
      count(
          "device.cxl.cache.ways", [](auto& c) { return &c.device.cxl.cache.ways; }, between(1, 64),
          "Lines of a set."),
      count(
          "device.cxl.cache.requests", [](auto& c) { return &c.device.cxl.cache.requests; },
          between(2, kCxlIds), "CXL.cache requests that the device has out."),
      choice(
          "device.cxl.cache.read", [](auto& c) { return &c.device.cxl.cache.read; },
          "Reads of lines that the cache does not hold: RdShared, RdAny, or RdCurr, which keeps "
          "nothing."),
      choice(
          "device.cxl.cache.write", [](auto& c) { return &c.device.cxl.cache.write; },
          "Writes of lines that the cache does not own: RdOwn and RdOwnNoData; ItoMWr and WrInv "
          "(through) or WOWrInvF and WOWrInv (posted) past it."),
      flag(
          "device.cxl.cache.offers_clean_evictions",
          [](auto& c) { return &c.device.cxl.cache.offers_clean_evictions; },
          "Clean lines leave with CleanEvict, else with CleanEvictNoData."),
      count(
          "device.cxl.cache.lines_per_clock",
          [](auto& c) { return &c.device.cxl.cache.lines_per_clock; }, between(1, 64),
          "Lines that the core asks its cache for in a clock of the device, at most."),
      time(
          "device.cxl.cache.lookup", [](auto& c) { return &c.device.cxl.cache.lookup; },
          any_latency(), "Core to the answer of a hit or to the link, snoop to answer, each."),
      time(
          "device.cxl.timing.latency", [](auto& c) { return &c.device.cxl.timing.latency; },
          any_latency(), "The memory itself."),
      time(
          "device.cxl.timing.controller", [](auto& c) { return &c.device.cxl.timing.controller; },
          any_latency(), "Request to memory, and memory to response, each."),
  };
}

Keys device_timing_keys() {
  return {
      time(
          "device.timing.clock", [](auto& c) { return &c.device.timing.clock; }, any_clock(),
          "Clock period of the device."),
      time(
          "device.timing.pipeline", [](auto& c) { return &c.device.timing.pipeline; },
          any_latency(), "Engine to link, and link to engine, each."),
      time(
          "device.timing.mmio", [](auto& c) { return &c.device.timing.mmio; }, any_latency(),
          "From a BAR access to its completion."),
      time(
          "device.timing.completion_timeout",
          [](auto& c) { return &c.device.timing.completion_timeout; },
          between(Time::from_us(1), Time::from_us(64'000'000)),
          "A non-posted request without completion for so long has failed."),
  };
}

}  // namespace

Keys device_keys() {
  Keys all = shell_keys();
  append(all, device_dhi_keys());
  append(all, storage_keys("device.dhi.storage", [](auto& c) { return &c.device.dhi.storage; }));
  append(all, device_ats_keys());
  append(all, device_cxl_keys());
  append(all, device_timing_keys());
  return all;
}

}  // namespace flitwise::config
