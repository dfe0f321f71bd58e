// SPDX-License-Identifier: Apache-2.0
// Table of the section `iommu`.
#include "config/sections/sections.h"

namespace flitwise::config {

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

}  // namespace flitwise::config
