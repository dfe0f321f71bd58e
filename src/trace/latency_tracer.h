// SPDX-License-Identifier: Apache-2.0
/// Latencies between any two hops, from the stamps that packets carry. A request is over with its
/// last byte, in memory or at the engine; its TLPs, or lines of CXL, are counted apart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "stats/latency_histogram.h"
#include "trace/hop_means.h"
#include "trace/trace_sink.h"

namespace flitwise {

class LatencyTracer {
 public:
  explicit LatencyTracer(const std::vector<LatencyPair>& pairs);

  /// A write TLP is in memory, and with the last one its request.
  void write_committed(const Packet& packet);
  /// A read TLP has its last completion; its request is over at `done` where it is the last one.
  void read_completed(const Packet& request, Time issued, Time done);
  /// A line of CXL that was read is there.
  void line_read(const Packet& packet) {
    tell_over(packet, Hop::kCompleted);
    if (packet.counts) {
      read_hops_.record(packet);
      record_pairs(packet);
    }
  }
  /// A line of CXL that was written is in the memory or the cache.
  void line_written(const Packet& packet);
  /// A request of several lines is over.
  void read_over(bool counts, Time issued, Time done) { over(dma_read_, counts, issued, done); }
  void write_over(bool counts, Time issued, Time done) { over(dma_write_, counts, issued, done); }
  /// Tells of each TLP and line that is over, measured or not. It outlives the tracer.
  void tell(TraceSink& sink) { sink_ = &sink; }
  /// Calls once so many more measured requests are over, and again after as many as the call says.
  /// 0 of the call: never again. REQUIRES: requests > 0.
  void call_after(std::uint64_t requests, std::function<std::uint64_t()> call) {
    left_ = requests;
    call_ = std::move(call);
  }
  const LatencyHistogram& reads() const { return dma_read_; }
  const LatencyHistogram& writes() const { return dma_write_; }
  /// dma_read and dma_write first, then the configured pairs, then dma_write_tlp.
  std::vector<LatencyResult> results() const;
  /// Of reads, then of writes.
  std::vector<HopResult> hops() const;

 private:
  struct Pair {
    std::string name;
    Hop from, to;
    LatencyHistogram histogram;
  };
  void record_pairs(const Packet& packet);
  void tell_over(const Packet& packet, Hop last) const {
    if (sink_ != nullptr) {
      sink_->over({&packet, packet.stamped(last)});
    }
  }
  void over(LatencyHistogram& requests, bool counts, Time issued, Time done) {
    if (counts) {
      over(requests, done - issued);
    }
  }
  void over(LatencyHistogram& requests, const LatencySample& latency) {
    requests.record(latency);
    if (--left_ == 0) {
      left_ = call_();
    }
  }

  LatencyHistogram dma_read_, dma_write_, dma_write_tlp_;
  HopMeans read_hops_, write_hops_;
  std::vector<Pair> pairs_;
  TraceSink* sink_ = nullptr;
  std::uint64_t left_ = 0;  // requests until the next call; 0: that is never
  std::function<std::uint64_t()> call_;
};

}  // namespace flitwise
