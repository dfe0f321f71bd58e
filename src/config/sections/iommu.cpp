// SPDX-License-Identifier: Apache-2.0
// Table of the section `iommu`.
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

/// Rows of one cache; `at` gives the address of its CacheConfig.
template <class At>
Keys cache_keys(const std::string& path, const std::string& what, At at) {
  return {
      count(
          path + ".entries", [at](auto& c) { return &at(c)->entries; },
          or_zero_as("none", between(1, 1U << 20)), "Entries of the cache of " + what + "."),
      count(
          path + ".ways", [at](auto& c) { return &at(c)->ways; },
          or_zero_as("full", between(1, 1U << 20)),
          "Ways of a set, a divisor of the entries; full: fully associative."),
      choice(
          path + ".policy", [at](auto& c) { return &at(c)->policy; }, "Who leaves a full set."),
  };
}

Keys all_cache_keys() {
  Keys all;
  append(all, cache_keys("iommu.context_cache", "context entries",
                         [](auto& c) { return &c.iommu.context_cache; }));
  append(all, cache_keys("iommu.pasid_cache", "PASID table entries",
                         [](auto& c) { return &c.iommu.pasid_cache; }));
  append(all, cache_keys("iommu.iotlb", "translations", [](auto& c) { return &c.iommu.iotlb; }));
  append(all, cache_keys("iommu.paging_cache", "page tables on the way to a page",
                         [](auto& c) { return &c.iommu.paging_cache; }));
  append(all, cache_keys("iommu.second_stage_cache", "second-stage pages, for nested walks",
                         [](auto& c) { return &c.iommu.second_stage_cache; }));
  append(all,
         cache_keys("iommu.permission_cache", "page permissions, and of tables above them each",
                    [](auto& c) { return &c.iommu.permission_cache; }));
  return all;
}

Keys capability_keys() {
  return {
      count(
          "iommu.capabilities.host_address_bits",
          [](auto& c) { return &c.iommu.capabilities.host_address_bits; }, between(36, 52),
          "Width of physical addresses; higher bits of entries are reserved."),
      count(
          "iommu.capabilities.pasid_bits", [](auto& c) { return &c.iommu.capabilities.pasid_bits; },
          or_zero_as("none", between(1, 20)), "Width of PASIDs, ECAP.PSS + 1; none: no PASID."),
      flag(
          "iommu.capabilities.first_stage_5_level",
          [](auto& c) { return &c.iommu.capabilities.first_stage_5_level; },
          "CAP.FS5LP: first-stage tables of five levels."),
      flag(
          "iommu.capabilities.second_stage_5_level",
          [](auto& c) { return &c.iommu.capabilities.second_stage_5_level; },
          "CAP.SAGAW bit 3: second-stage tables of five levels."),
      flag(
          "iommu.capabilities.nested", [](auto& c) { return &c.iommu.capabilities.nested; },
          "ECAP.NEST: first stage over second stage."),
      flag(
          "iommu.capabilities.rid_pasid", [](auto& c) { return &c.iommu.capabilities.rid_pasid; },
          "ECAP.RPS: requests without PASID use RID_PASID of their context, else PASID 0."),
      flag(
          "iommu.capabilities.caching_mode",
          [](auto& c) { return &c.iommu.capabilities.caching_mode; },
          "CAP.CM: what is not present may be cached."),
      count(
          "iommu.capabilities.fault_records",
          [](auto& c) { return &c.iommu.capabilities.fault_records; }, between(1, 32),
          "Fault recording registers, CAP.NFR + 1."),
  };
}

Keys iommu_timing_keys() {
  return {
      time(
          "iommu.timing.clock", [](auto& c) { return &c.iommu.timing.clock; }, any_clock(),
          "Period of the agent's clock."),
      time(
          "iommu.timing.context_cache", [](auto& c) { return &c.iommu.timing.context_cache; },
          any_latency(), "A hit in the context cache."),
      time(
          "iommu.timing.pasid_cache", [](auto& c) { return &c.iommu.timing.pasid_cache; },
          any_latency(), "A hit in the PASID cache."),
      time(
          "iommu.timing.second_stage_cache",
          [](auto& c) { return &c.iommu.timing.second_stage_cache; }, any_latency(),
          "A hit in the cache of second-stage translations, in a nested walk."),
      time(
          "iommu.timing.iotlb", [](auto& c) { return &c.iommu.timing.iotlb; }, any_latency(),
          "A look-up in the IOTLB."),
      time(
          "iommu.timing.paging_cache", [](auto& c) { return &c.iommu.timing.paging_cache; },
          any_latency(), "A look-up in the paging-structure caches, before a walk."),
      time(
          "iommu.timing.permission_cache", [](auto& c) { return &c.iommu.timing.permission_cache; },
          any_latency(), "A look-up in the permission cache."),
      time(
          "iommu.timing.invalidation", [](auto& c) { return &c.iommu.timing.invalidation; },
          any_latency(), "Execution of one invalidation descriptor."),
      time(
          "iommu.timing.invalidate_timeout",
          [](auto& c) { return &c.iommu.timing.invalidate_timeout; },
          between(Time::from_us(1), Time::from_us(90'000'000)),
          "An Invalidate Request that a device has not answered by then is given up. The standard "
          "says 60 s to 90 s; less is for tests of what follows."),
  };
}

Keys iommu_page_request_keys() {
  return {
      choice(
          "iommu.page_requests.overflow", [](auto& c) { return &c.iommu.page_requests.overflow; },
          "What becomes of page requests for which their queue has no room: the last of a group is "
          "answered with success and the others are dropped, or all are dropped."),
      flag(
          "iommu.page_requests.respond_pasid",
          [](auto& c) { return &c.iommu.page_requests.respond_pasid; },
          "The agent's own answers to page requests name the PASID of the request (PRG Response "
          "PASID Required of the functions)."),
  };
}

}  // namespace

Keys iommu_keys() {
  Keys all = {
      choice(
          "iommu.translation", [](auto& c) { return &c.iommu.translation; },
          "Tables that host software has made for the workload's domains before it starts: their "
          "buffers, each at its own address; off: software may still make tables of its own."),
      size(
          "iommu.page", [](auto& c) { return &c.iommu.page; },
          only({Bytes{4} << 10, Bytes{2} << 20, Bytes{1} << 30}), "Pages of those tables."),
      flag(
          "iommu.legacy_codes", [](auto& c) { return &c.iommu.legacy_codes; },
          "Report faults by the numbers of the legacy table instead of those of scalable mode."),
      count(
          "iommu.walkers", [](auto& c) { return &c.iommu.walkers; }, between(1, 256),
          "Page walks at a time."),
      count(
          "iommu.reply_split", [](auto& c) { return &c.iommu.reply_split; }, between(0, 15),
          "Translations in the first of two completions for a Translation Request that gets more; "
          "0: all in one."),
      choice(
          "iommu.reserved_tail_bit", [](auto& c) { return &c.iommu.reserved_tail_bit; },
          "Bit 4 of the invalidation queue's tail with 256-bit descriptors: an error that stops "
          "the "
          "queue, or ignored."),
      flag(
          "iommu.secure_ats", [](auto& c) { return &c.iommu.secure_ats; },
          "Every translated request is checked against its domain's permission table in host "
          "memory; off: those of a function with a device TLB go on unchecked."),
  };
  append(all, all_cache_keys());
  append(all, capability_keys());
  append(all, iommu_page_request_keys());
  append(all, iommu_timing_keys());
  return all;
}

}  // namespace flitwise::config
