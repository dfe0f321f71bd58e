// SPDX-License-Identifier: Apache-2.0
// Engines and devices of a library user.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "common/ranges.h"
#include "endpoint/attached_device.h"
#include "endpoint/attached_engine.h"
#include "fabric/builder.h"
#include "flitwise/error.h"

namespace flitwise {

void Builder::check_attachments() const {
  const Attachments& all = surroundings_.attached;
  const auto check = [this](const std::string& name, bool is_device) {
    const std::optional<NodeIndex> node = graph_.find(name);
    if (!node || !graph_.is(*node, NodeKind::kDevice)) {
      const auto names =
          mapped<std::string>(graph_.devices(), [this](NodeIndex one) { return graph_[one].name; });
      throw SimulationError(
          fmt::format("an attachment for '{}', and no device is called so; there are: {}", name,
                      fmt::join(names, ", ")));
    }
    const Config own = fabric_.config_of(*node);
    if (own.workload.via != WorkloadVia::kDma || own.workload.kind == WorkloadKind::kHostile) {
      throw SimulationError("an attachment for '" + name +
                            "', which is no device with a DMA engine; expected workload.via dma, "
                            "and no workload.kind hostile");
    }
    if (is_device && own.link.carrier != Carrier::kPcie) {
      throw SimulationError("a device of your own for '" + name +
                            "' on a bit-packed link; expected link.carrier pcie");
    }
  };
  for (const auto& [name, engine] : all.engines) {
    check(name, false);
    if (all.devices.count(name) > 0) {
      throw SimulationError("an engine and a device for '" + name + "'; expected one of them");
    }
  }
  for (const auto& [name, device] : all.devices) {
    check(name, true);
  }
}

// In place of the DMA engine; false: nothing is attached there.
bool Builder::add_attached(FabricDevice& device) {
  Component* part = nullptr;
  const auto engine = surroundings_.attached.engines.find(device.name);
  const auto index = static_cast<std::size_t>(&device - fabric_.devices.data());
  const Fabric::Surroundings& around = surroundings_;  // which outlive the builder
  const auto counting_starts = [&around, index] { around.counting_starts(index); };
  if (device.outer != nullptr) {
    auto made = std::make_unique<AttachedDevice>(*device.outer, *device.endpoint,
                                                 surroundings_.pool, counting_starts);
    part = made.get();
    device.sender = std::move(made);
  } else if (engine != surroundings_.attached.engines.end()) {
    auto made = std::make_unique<AttachedEngine>(
        device.name, *engine->second, *device.endpoint, device.config.run.warmup,
        dma_routes(graph_, device, device.name),
        AttachedEngine::Hooks{counting_starts, around.work_ended});
    part = made.get();
    device.sender = std::move(made);
  } else {
    return false;
  }
  device.components.insert(
      std::find(device.components.begin(), device.components.end(), device.endpoint), part);
  return true;
}

}  // namespace flitwise
