// SPDX-License-Identifier: Apache-2.0
// Latencies from stamps.
#include "trace/latency_tracer.h"

#include <algorithm>

namespace flitwise {
namespace {

Hop hop_named(const std::string& name) {
  for (int i = 0; i < kHops; ++i) {
    if (name == name_of(static_cast<Hop>(i))) {
      return static_cast<Hop>(i);
    }
  }
  throw SimulationError("no hop is called " + name);  // the config reader refuses such names
}

}  // namespace

LatencyTracer::LatencyTracer(const std::vector<LatencyPair>& pairs) {
  for (const LatencyPair& pair : pairs) {
    pairs_.push_back({pair.name, hop_named(pair.from), hop_named(pair.to), LatencyHistogram()});
  }
}

// A TLP that never comes to memory leaves its request without an end: it is not counted. Nor
// is a raw one, of a hostile device say; raw reads are not either.
void LatencyTracer::write_committed(const Packet& packet) {
  tell_over(packet, Hop::kMemory);
  if (!packet.counts || packet.is_raw) {
    return;
  }
  const Time issued = packet.stamped(Hop::kIssue);
  const Time done = packet.stamped(Hop::kMemory);
  const LatencySample latency(done - issued);
  dma_write_tlp_.record(latency);
  write_hops_.record(packet);
  record_pairs(packet);
  if (packet.is_whole_request) {
    over(dma_write_, latency);
  } else if (packet.write) {
    WriteRequest& request = *packet.write;
    request.last = std::max(request.last, done);
    request.bytes_left -= packet.payload_bytes;
    if (request.bytes_left == 0) {
      over(dma_write_, request.last - issued);
    }
  }
}

void LatencyTracer::read_completed(const Packet& request, Time issued, Time done) {
  line_read(request);
  if (request.is_whole_request) {
    read_over(request.counts, issued, done);
  }
}

void LatencyTracer::line_written(const Packet& packet) {
  tell_over(packet, Hop::kMemory);
  if (packet.counts) {
    dma_write_tlp_.record(packet.stamped(Hop::kMemory) - packet.stamped(Hop::kIssue));
    write_hops_.record(packet);
    record_pairs(packet);
  }
}

void LatencyTracer::record_pairs(const Packet& packet) {
  for (Pair& pair : pairs_) {
    const Time from = packet.stamped(pair.from);
    const Time to = packet.stamped(pair.to);
    if (from != kNotStamped && to != kNotStamped) {
      pair.histogram.record(to - from);
    }
  }
}

std::vector<LatencyResult> LatencyTracer::results() const {
  std::vector<LatencyResult> results = {dma_read_.summary("dma_read"),
                                        dma_write_.summary("dma_write")};
  for (const Pair& pair : pairs_) {
    results.push_back(pair.histogram.summary(pair.name));
  }
  results.push_back(dma_write_tlp_.summary("dma_write_tlp"));
  return results;
}

std::vector<HopResult> LatencyTracer::hops() const {
  std::vector<HopResult> rows;
  read_hops_.report("read", rows);
  write_hops_.report("write", rows);
  return rows;
}

}  // namespace flitwise
