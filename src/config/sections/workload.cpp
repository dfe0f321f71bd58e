// SPDX-License-Identifier: Apache-2.0
// Table of the section `workload`.
#include "config/sections/sections.h"
#include "workload/shipped_distributions.h"

namespace flitwise::config {

namespace {

constexpr std::uint64_t kMany = 1'000'000'000'000;  // 10^12 requests

std::vector<std::string> shipped_names() {
  const auto names = shipped_distribution_names();
  return {names.begin(), names.end()};
}

Keys workload_request_keys() {
  return {
      choice(
          "workload.kind", [](auto& c) { return &c.workload.kind; },
          "What the device asks for; nic makes the TLPs of a NIC from each message."),
      choice(
          "workload.via", [](auto& c) { return &c.workload.via; },
          "Who makes the requests: devices by DMA or through device.cxl.cache; the host by CXL.mem "
          "into device.cxl.memory (cxl_mem), the device's core there (cxl_own), or each of these "
          "two a workload of its own (cxl_both)."),
      size(
          "workload.payload", [](auto& c) { return &c.workload.payload; },
          between(1, Bytes{1} << 20), "Bytes of each request, where no sizes are given."),
      file(
          "workload.sizes", [](auto& c) { return &c.workload.sizes; }, shipped_names(),
          "Distribution of sizes: a published one by name, or a CSV of bytes,cumulative_percent."),
      size(
          "workload.size_cap", [](auto& c) { return &c.workload.size_cap; },
          between(1, Bytes{1} << 30), "Longer messages of a distribution are cut to this."),
      count(
          "workload.requests", [](auto& c) { return &c.workload.requests; }, between(1, kMany),
          "Requests that count, after run.warmup."),
      real(
          "workload.read_fraction", [](auto& c) { return &c.workload.read_fraction; }, 0, 1,
          "Share of reads (read_write) or of transmits (nic)."),
      choice(
          "workload.at", [](auto& c) { return &c.workload.at; }, "Address type of the requests."),
      file(
          "workload.trace", [](auto& c) { return &c.workload.trace; }, {},
          "Requests to replay, for kind trace: CSV of time_ns,domain,op,address,bytes."),
      size(
          "workload.buffer_base", [](auto& c) { return &c.workload.buffer_base; },
          between(0, Bytes{1} << 46), "First byte of the DMA buffers in host memory."),
      size(
          "workload.buffer_size", [](auto& c) { return &c.workload.buffer_size; },
          between(64, Bytes{1} << 40), "Buffer of each domain."),
      choice(
          "workload.placement", [](auto& c) { return &c.workload.placement; },
          "Where in its domain's buffer the next request goes; ring: behind the one before; "
          "random: "
          "anywhere, as if the buffer were a table."),
      flag(
          "workload.real_payload", [](auto& c) { return &c.workload.real_payload; },
          "Payload bytes are carried and written, not only counted."),
  };
}

Keys domain_keys() {
  return {
      count(
          "workload.domains", [](auto& c) { return &c.workload.domains; }, between(1, 1U << 20),
          "Domains that take part, each a function and a PASID."),
      choice(
          "workload.domain_choice", [](auto& c) { return &c.workload.domain_choice; },
          "Which domain the next request belongs to."),
      real(
          "workload.zipf_exponent", [](auto& c) { return &c.workload.zipf_exponent; }, 0, 10,
          "Skew of the choice zipf."),
      count(
          "workload.working_set", [](auto& c) { return &c.workload.working_set; },
          between(1, 1U << 20), "Domains of one phase, for the choice working_set."),
      count(
          "workload.phase_requests", [](auto& c) { return &c.workload.phase_requests; },
          between(1, kMany), "Requests of one phase, for the choice working_set."),
      real(
          "workload.churn", [](auto& c) { return &c.workload.churn; }, 0, 1,
          "Probability per request that a context ends and another starts, for the choice churn."),
  };
}

Keys arrival_keys() {
  return {
      choice(
          "workload.arrival", [](auto& c) { return &c.workload.arrival; },
          "When the next request comes; closed_loop: as soon as there is room."),
      rate(
          "workload.rate", "Mreq/s", request_rate_dimension(), 1'000'000,
          [](auto& c) { return &c.workload.rate_mrps; }, between(1, 100'000'000'000),
          "Mean rate of open arrivals."),
      count(
          "workload.burst", [](auto& c) { return &c.workload.burst; }, between(1, kMany),
          "Requests of one burst, for the arrival on_off."),
  };
}

}  // namespace

Keys workload_keys() {
  Keys all = workload_request_keys();
  append(all, domain_keys());
  append(all, arrival_keys());
  return all;
}

}  // namespace flitwise::config
