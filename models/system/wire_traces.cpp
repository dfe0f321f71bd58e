// SPDX-License-Identifier: Apache-2.0
#include "system/wire_traces.h"

#include <fmt/format.h>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

template <class Trace, class Make>
std::unique_ptr<Trace> trace_of(const TraceConfig& config, const char* kind, Make make) {
  const auto file = config.files.find(kind);
  return file == config.files.end() ? nullptr : make(file->second);
}

// RDMA adapters speak Ethernet; packets of PIO have no header that a network knows.
CapturedPort port_of(const Fabric& fabric, const FabricDevice& device) {
  return {
      device.name,
      fmt::format("network port of {} of {}, below {}", device.name, host_name(device.host),
                  fabric.graph[fabric.graph.upper_of(device.node)].name),
      device.config.workload.via == WorkloadVia::kRdma ? LinkType::kEthernet : LinkType::kUser0};
}

}  // namespace

WireTraces::WireTraces(const TraceConfig& config)
    : packets_(trace_of<TraceSink>(config, "packets", packet_csv)),
      frames_(trace_of<FrameCapture>(config, "pcapng", [](const std::string& path) {
        return std::make_unique<FrameCapture>(path);
      })) {}

void WireTraces::watch(Fabric& fabric) const {
  if (packets_) {
    for (FabricLink& one : fabric.links) {
      one.link->watch(packets_.get());
    }
  }
  if (frames_) {
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
}

void WireTraces::flush() const {
  if (packets_) {
    packets_->flush();
  }
  if (frames_) {
    frames_->flush(now());
  }
}

}  // namespace flitwise
