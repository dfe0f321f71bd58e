// SPDX-License-Identifier: Apache-2.0
// Table of the section `host.iommu_driver`.
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

Keys unmap_keys() {
  return {
      choice(
          "host.iommu_driver.mode", [](auto& c) { return &c.host.iommu_driver.mode; },
          "Invalidate each unmapped range and wait for it, or collect unmaps and then invalidate "
          "their domains whole."),
      count(
          "host.iommu_driver.batch", [](auto& c) { return &c.host.iommu_driver.batch; },
          between(1, 256),
          "Unmaps whose invalidations share one wait, where there are so many to do."),
      time(
          "host.iommu_driver.flush_after", [](auto& c) { return &c.host.iommu_driver.flush_after; },
          between(Time::from_ns(1), Time::from_us(1'000'000)),
          "Mode deferred: invalidates so long after the first unmap, though there is no whole "
          "batch."),
      choice(
          "host.iommu_driver.wait", [](auto& c) { return &c.host.iommu_driver.wait; },
          "Look for the end of invalidations in memory, or be interrupted."),
      real(
          "host.iommu_driver.unmap_rate", [](auto& c) { return &c.host.iommu_driver.unmap_rate; },
          0, 1e9, "Unmaps a second, on average; as many as the driver can do, where that is less."),
      count(
          "host.iommu_driver.unmap_pages", [](auto& c) { return &c.host.iommu_driver.unmap_pages; },
          between(1, 512), "Pages of one unmap, at most the buffer of one domain."),
      time(
          "host.iommu_driver.remap_after", [](auto& c) { return &c.host.iommu_driver.remap_after; },
          or_zero_as("never", between(Time::from_ns(1), Time::from_us(1'000'000))),
          "A page that was unmapped is mapped again, elsewhere, so long after it was free; never: "
          "only when a device asks for it."),
  };
}

Keys teardown_keys() {
  return {
      real(
          "host.iommu_driver.teardown_rate",
          [](auto& c) { return &c.host.iommu_driver.teardown_rate; }, 0, 1e9,
          "Contexts torn down a second, on average, each once; as many as the driver can do, where "
          "that is less."),
      flag(
          "host.iommu_driver.teardown_reset",
          [](auto& c) { return &c.host.iommu_driver.teardown_reset; },
          "Resets the function of each context that was torn down; each domain needs a virtual "
          "function of its own."),
  };
}

Keys page_keys() {
  return {
      real(
          "host.iommu_driver.premapped", [](auto& c) { return &c.host.iommu_driver.premapped; }, 0,
          1, "Share of the pages that are mapped at the start."),
      time(
          "host.iommu_driver.map_latency", [](auto& c) { return &c.host.iommu_driver.map_latency; },
          any_latency(), "From the record of a page request, or of a fault, to the mapped page."),
      real(
          "host.iommu_driver.refuse_fraction",
          [](auto& c) { return &c.host.iommu_driver.refuse_fraction; }, 0, 1,
          "Share of the page requests that are answered with Invalid Request."),
      size(
          "host.iommu_driver.page_request_queue",
          [](auto& c) { return &c.host.iommu_driver.page_request_queue; },
          power_of_two(Bytes{4} << 10, Bytes{64} << 10),
          "Queue of page requests in memory, 32 bytes a record."),
  };
}

}  // namespace

Keys iommu_driver_keys() {
  Keys all = {
      flag(
          "host.iommu_driver.enabled", [](auto& c) { return &c.host.iommu_driver.enabled; },
          "A driver maps and unmaps pages and serves page requests and faults while devices run."),
      time(
          "host.iommu_driver.step", [](auto& c) { return &c.host.iommu_driver.step; },
          or_zero_as("software_step", any_latency()),
          "Between two of its accesses; software_step: host.timing.software_step."),
      choice(
          "host.iommu_driver.mistake", [](auto& c) { return &c.host.iommu_driver.mistake; },
          "What the driver does wrong, to show that the checks notice: invalidate devices before "
          "the agent, give pages away before the invalidation is over, leave devices out, end "
          "contexts whose device still works, leave PASID caches out, leave pages permitted."),
  };
  append(all, unmap_keys());
  append(all, teardown_keys());
  append(all, page_keys());
  return all;
}

}  // namespace flitwise::config
