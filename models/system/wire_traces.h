// SPDX-License-Identifier: Apache-2.0
/// The traces of a machine, each a sink: of its links, of requests that are over, of its network
/// ports. What a run has not asked for is not there. (docs/traces.md)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "trace/frame_capture.h"
#include "trace/latency_tracer.h"
#include "trace/trace_gate.h"
#include "trace/trace_sink.h"

namespace flitwise {

class WireTraces {
 public:
  /// Makes their files. Throws std::system_error.
  explicit WireTraces(const TraceConfig& config);

  /// What passes, and what is over, from now on is recorded. Fabric and tracer are gone before this
  /// object is.
  void watch(Fabric& fabric, LatencyTracer& tracer);
  /// All so far is kept. Throws std::system_error where it could not be.
  void flush() const;
  /// What the user has asked to see and never was, a sentence each.
  std::vector<std::string> notes() const;

 private:
  /// What is told goes to each of several.
  class Each final : public TraceSink {
   public:
    void add_sink(TraceSink& sink) { sinks_.push_back(&sink); }
    void add(const TracedLink& link) override;
    void record(const TraceEvent& event) override;
    void over(const RequestEvent& event) override;

   private:
    std::vector<TraceSink*> sinks_;
  };
  void watch_ports(Fabric& fabric) const;

  const CaptureOf capture_;
  std::unique_ptr<FrameCapture> frames_;
  std::vector<std::unique_ptr<TraceSink>> sinks_;
  Each each_;
  std::unique_ptr<TraceGate> gate_;  // null: everything is shown
};

}  // namespace flitwise
