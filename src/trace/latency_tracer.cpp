// SPDX-License-Identifier: Apache-2.0
// Latencies from stamps.
#include "trace/latency_tracer.h"

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

void LatencyTracer::write_committed(const Packet& packet) {
  if (!packet.counts) {
    return;
  }
  if (packet.ends_request) {
    dma_write_.record(packet.stamped(Hop::kMemory) - packet.stamped(Hop::kIssue));
  }
  record_pairs(packet);
}

void LatencyTracer::read_completed(const Packet& request, Time issued, Time done) {
  if (!request.counts) {
    return;
  }
  if (request.ends_request) {
    dma_read_.record(done - issued);
  }
  record_pairs(request);
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
  return results;
}

}  // namespace flitwise
