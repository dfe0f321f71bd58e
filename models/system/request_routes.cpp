// SPDX-License-Identifier: Apache-2.0
// Which places a request passes, and its completion on the way back.
#include "system/request_routes.h"

#include "system/fabric.h"

namespace flitwise {
namespace {

struct KindOfOp {
  Op op;
  const char* kind;
};
constexpr KindOfOp kKinds[] = {{Op::kRead, "read"}, {Op::kWrite, "write"}, {Op::kMsi, "msi"}};

// From the device up to its root port.
std::vector<std::string> links_above(const Graph& graph, NodeIndex node) {
  std::vector<std::string> names;
  for (; !graph.is(node, NodeKind::kRootPort); node = graph.upper_of(node)) {
    names.push_back(graph[node].link);
  }
  return names;
}

void add_agents(const FabricDevice& device, const Step& step, std::vector<Step>& steps) {
  const auto add = [&](const auto& agent) {
    if (agent) {
      steps.push_back({agent->name(), step.direction, step.kind});
    }
  };
  add(device.mem_host);
  add(device.hdm_host);
  add(device.mem_device);
  add(device.hdm_device);
  add(device.cache);
}

struct Source {
  const DmaEngine& engine;
  std::string place;  // that its waits name
  bool is_of_host;
};

RequestRoute route_of(const Fabric& fabric, const FabricDevice& device, const Source& source,
                      const KindOfOp& kind) {
  const char* const there = source.is_of_host ? "down" : "up";
  const char* const back = source.is_of_host ? "up" : "down";
  const std::vector<std::string> links = links_above(fabric.graph, device.node);
  RequestRoute route{links.front(), there, kind.kind, source.engine.issued(kind.op), {}};
  const std::string prefix = host_prefix(device.host);
  const bool is_cxl = device.config.workload.via != WorkloadVia::kDma;
  route.steps.push_back({source.place, there, kind.kind});
  if (is_cxl) {
    add_agents(device, {"", there, kind.kind}, route.steps);
  } else {
    route.steps.push_back({device.endpoint->name(), there, kind.kind});
  }
  for (const std::string& link : links) {
    route.steps.push_back({link, there, kind.kind});
  }
  if (!is_cxl) {
    route.steps.push_back({device.root_port->name(), there, kind.kind});
    route.steps.push_back({prefix + "iommu0", there, kind.kind});
  }
  if (is_cxl && device.cache) {
    route.steps.push_back({"home_of_" + device.name, there, kind.kind});
  }
  route.steps.push_back({prefix + "memory", there, kind.kind});
  if (is_cxl || kind.op == Op::kRead) {
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
      route.steps.push_back({*link, back, "completion"});
    }
  }
  return route;
}

}  // namespace

std::vector<RequestRoute> request_routes(const Fabric& fabric) {
  std::vector<RequestRoute> routes;
  for (const FabricDevice& device : fabric.devices) {
    std::vector<Source> sources;
    if (device.engine) {
      sources.push_back(
          {*device.engine, device.name, device.config.workload.via == WorkloadVia::kCxlMem});
    }
    if (device.host_engine) {
      sources.push_back({*device.host_engine, device.name + ".host", true});
    }
    for (const Source& source : sources) {
      for (const KindOfOp& kind : kKinds) {
        routes.push_back(route_of(fabric, device, source, kind));
      }
    }
  }
  return routes;
}

}  // namespace flitwise
