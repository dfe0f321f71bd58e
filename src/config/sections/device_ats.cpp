// SPDX-License-Identifier: Apache-2.0
// Table of the parts of `device` that are about translations: `device.atc` and `device.pri`.
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

Keys cache_keys() {
  return {
      flag(KEY(device.atc.enabled),
           "Each function has the ATS capability and a cache of translations; software enables it "
           "where iommu.translation is not off."),
      count(KEY(device.atc.entries), between(1, 1U << 20),
            "Entries of the cache of each function."),
      count(KEY(device.atc.ways), or_zero_as("full", between(1, 1U << 20)),
            "Ways of a set, a divisor of the entries; full: fully associative."),
      choice(KEY(device.atc.policy), "Who leaves a full set."),
      time(KEY(device.atc.timing.lookup), any_latency(), "A look-up in the cache."),
  };
}

Keys translation_request_keys() {
  return {
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
  };
}

Keys invalidation_keys() {
  return {
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
  };
}

Keys device_page_request_keys() {
  return {
      flag(KEY(device.pri.enabled),
           "The device has the Page Request Interface, which software enables with ATS."),
      count(KEY(device.pri.capacity), between(1, 1U << 20), "Outstanding Page Request Capacity."),
      count(KEY(device.pri.allocation), between(1, 1U << 20),
            "Page requests that software lets be out."),
      flag(KEY(device.pri.response_pasid),
           "PRG Response PASID Required: responses name the PASID of their group."),
      flag(KEY(device.pri.clamps_allocation),
           "An allocation above the capacity is cut to it when it is written."),
  };
}

}  // namespace

Keys device_ats_keys() {
  return joined(
      {cache_keys(), translation_request_keys(), invalidation_keys(), device_page_request_keys()});
}

}  // namespace flitwise::config
