// SPDX-License-Identifier: Apache-2.0
// Table of the section `workload`.
#include "config/sections/sections.h"
#include "workload/size_distribution.h"

namespace flitwise::config {

Keys workload_keys() {
  constexpr std::uint64_t kMany = 1'000'000'000'000;  // 10^12 requests
  const auto names = shipped_distribution_names();
  return {
      choice(KEY(workload.kind),
             "What the device asks for; nic makes the TLPs of a NIC from each message."),
      choice(KEY(workload.via),
             "Who makes the requests: devices by DMA or through device.cxl.cache; the host by "
             "CXL.mem into device.cxl.memory (cxl_mem), the device's core there (cxl_own), or each "
             "of these two a workload of its own (cxl_both)."),
      size(KEY(workload.payload), between(1, Bytes{1} << 20),
           "Bytes of each request, where no sizes are given."),
      file(KEY(workload.sizes), {names.begin(), names.end()},
           "Distribution of sizes: a published one by name, or a CSV of bytes,cumulative_percent."),
      size(KEY(workload.size_cap), between(1, Bytes{1} << 30),
           "Longer messages of a distribution are cut to this."),
      count(KEY(workload.requests), between(1, kMany), "Requests that count, after run.warmup."),
      real(KEY(workload.read_fraction), 0, 1, "Share of reads (read_write) or of transmits (nic)."),
      choice(KEY(workload.at), "Address type of the requests."),
      file(KEY(workload.trace), {},
           "Requests to replay, for kind trace: CSV of time_ns,domain,op,address,bytes."),
      size(KEY(workload.buffer_base), between(0, Bytes{1} << 46),
           "First byte of the DMA buffers in host memory."),
      size(KEY(workload.buffer_size), between(64, Bytes{1} << 40), "Buffer of each domain."),
      choice(KEY(workload.placement),
             "Where in its domain's buffer the next request goes; ring: behind the one before; "
             "random: anywhere, as if the buffer were a table."),
      flag(KEY(workload.real_payload), "Payload bytes are carried and written, not only counted."),
      // ---- domains
      count(KEY(workload.domains), between(1, 1U << 20),
            "Domains that take part, each a function and a PASID."),
      choice(KEY(workload.domain_choice), "Which domain the next request belongs to."),
      real(KEY(workload.zipf_exponent), 0, 10, "Skew of the choice zipf."),
      count(KEY(workload.working_set), between(1, 1U << 20),
            "Domains of one phase, for the choice working_set."),
      count(KEY(workload.phase_requests), between(1, kMany),
            "Requests of one phase, for the choice working_set."),
      real(KEY(workload.churn), 0, 1,
           "Probability per request that a context ends and another starts, for the choice churn."),
      // ---- arrivals
      choice(KEY(workload.arrival),
             "When the next request comes; closed_loop: as soon as there is room."),
      rate("workload.rate", AT(workload.rate_mrps), "Mreq/s", request_rate_dimension(), 1'000'000,
           between(1, 100'000'000'000), "Mean rate of open arrivals."),
      count(KEY(workload.burst), between(1, kMany),
            "Requests of one burst, for the arrival on_off."),
  };
}

}  // namespace flitwise::config
