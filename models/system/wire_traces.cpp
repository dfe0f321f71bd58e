// SPDX-License-Identifier: Apache-2.0
#include "system/wire_traces.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "flitwise/link_socket.h"
#include "trace/link_capture.h"

namespace flitwise {
namespace {

using MakeSink = std::unique_ptr<TraceSink> (*)(const std::string& path);

/// What makes a sink of a file of its own, by the kind of --trace.
constexpr std::array kSinks = {std::pair<const char*, MakeSink>{"packets", packet_csv},
                               std::pair<const char*, MakeSink>{"perfetto", perfetto_trace},
                               std::pair<const char*, MakeSink>{"vcd", vcd_trace},
                               std::pair<const char*, MakeSink>{"sqlite", sqlite_trace},
                               std::pair<const char*, MakeSink>{"series", series_trace}};

// RDMA adapters speak Ethernet; packets of PIO have no header that a network knows.
CapturedPort port_of(const Fabric& fabric, const FabricDevice& device) {
  return {
      device.name,
      fmt::format("network port of {} of {}, below {}", device.name, host_name(device.host),
                  fabric.graph[fabric.graph.upper_of(device.node)].name),
      device.config.workload.via == WorkloadVia::kRdma ? LinkType::kEthernet : LinkType::kUser0};
}

}  // namespace

void WireTraces::Each::add(const TracedLink& link) {
  for (TraceSink* const sink : sinks_) {
    sink->add(link);
  }
}

void WireTraces::Each::record(const TraceEvent& event) {
  for (TraceSink* const sink : sinks_) {
    sink->record(event);
  }
}

void WireTraces::Each::over(const RequestEvent& event) {
  for (TraceSink* const sink : sinks_) {
    sink->over(event);
  }
}

WireTraces::WireTraces(const TraceConfig& config) : capture_(config.capture) {
  for (const auto& [kind, make] : kSinks) {
    if (const auto file = config.files.find(kind); file != config.files.end()) {
      sinks_.push_back(make(file->second));
    }
  }
  if (const auto file = config.files.find("pcapng"); file != config.files.end()) {
    frames_ = std::make_unique<FrameCapture>(file->second);
    if (capture_ != CaptureOf::kPorts) {
      sinks_.push_back(std::make_unique<LinkCapture>(*frames_));
    }
  }
  for (const std::unique_ptr<TraceSink>& sink : sinks_) {
    each_.add_sink(*sink);
  }
  if (!sinks_.empty() && !config.selection.is_everything()) {
    gate_ = std::make_unique<TraceGate>(config.selection, each_);
  }
  if (frames_) {
    frames_->show_only(config.selection.from, config.selection.until);
  }
}

void WireTraces::watch(Fabric& fabric, LatencyTracer& tracer) {
  if (frames_ && capture_ != CaptureOf::kLinks) {
    watch_ports(fabric);
  }
  if (sinks_.empty()) {
    return;
  }
  TraceSink& all = sinks_.size() == 1 ? *sinks_.front() : each_;
  TraceSink& sink = gate_ ? *gate_ : all;
  tracer.tell(sink);
  for (FabricLink& one : fabric.links) {
    const auto& link = *one.link;
    sink.add(
        {link.name(),
         {link.header_credits(LinkSide::kUpstream), link.header_credits(LinkSide::kDownstream)}});
    one.link->watch(&sink);
  }
}

void WireTraces::watch_ports(Fabric& fabric) const {
  for (FabricDevice& device : fabric.devices) {
    if (device.nic) {
      device.nic->watch(*frames_, frames_->add(port_of(fabric, device)));
    }
  }
  for (std::size_t i = 0; fabric.network != nullptr && i < fabric.network->adapters(); ++i) {
    const std::string name = fabric.network->name_of_port(i);
    fabric.network->nic(i).watch(
        *frames_,
        frames_->add({name, fmt::format("port of the switch, {}", name), LinkType::kEthernet}));
  }
}

void WireTraces::flush() const {
  if (gate_) {
    gate_->flush();
  }
  for (const std::unique_ptr<TraceSink>& sink : sinks_) {
    sink->flush();
  }
  if (frames_) {
    frames_->flush(now());
  }
}

std::vector<std::string> WireTraces::notes() const {
  return gate_ ? gate_->notes() : std::vector<std::string>{};
}

}  // namespace flitwise
