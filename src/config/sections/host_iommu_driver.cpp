// SPDX-License-Identifier: Apache-2.0
// Table of the section `host.iommu_driver`.
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

Keys unmap_keys() {
  return {
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
  };
}

Keys teardown_keys() {
  return {
      real(KEY(host.iommu_driver.teardown_rate), 0, 1e9,
           "Contexts torn down a second, on average, each once; as many as the driver can do, "
           "where that is less."),
      flag(KEY(host.iommu_driver.teardown_reset),
           "Resets the function of each context that was torn down; each domain needs a virtual "
           "function of its own."),
  };
}

Keys page_keys() {
  return {
      real(KEY(host.iommu_driver.premapped), 0, 1,
           "Share of the pages that are mapped at the start."),
      time(KEY(host.iommu_driver.map_latency), any_latency(),
           "From the record of a page request, or of a fault, to the mapped page."),
      real(KEY(host.iommu_driver.refuse_fraction), 0, 1,
           "Share of the page requests that are answered with Invalid Request."),
      size(KEY(host.iommu_driver.page_request_queue), power_of_two(Bytes{4} << 10, Bytes{64} << 10),
           "Queue of page requests in memory, 32 bytes a record."),
  };
}

}  // namespace

Keys iommu_driver_keys() {
  const Keys main = {
      flag(KEY(host.iommu_driver.enabled),
           "A driver maps and unmaps pages and serves page requests and faults while devices run."),
      time(KEY(host.iommu_driver.step), or_zero_as("software_step", any_latency()),
           "Between two of its accesses; software_step: host.timing.software_step."),
      choice(
          KEY(host.iommu_driver.mistake),
          "What the driver does wrong, to show that the checks notice: invalidate devices before "
          "the agent, give pages away before the invalidation is over, leave devices out, end "
          "contexts whose device still works, leave PASID caches out, leave pages permitted."),
  };
  return joined({main, unmap_keys(), teardown_keys(), page_keys()});
}

}  // namespace flitwise::config
