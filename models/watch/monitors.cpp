// SPDX-License-Identifier: Apache-2.0
// What the monitors of each link have to know.
#include "watch/monitors.h"

#include <fmt/format.h>

#include <algorithm>

#include "config_space/capabilities.h"
#include "link/shared_credits.h"
#include "monitor/link_monitor.h"

namespace flitwise {
namespace {

bool has_ordered_handles(const DeviceConfig& device) {
  return device.dhi.alloc_order != AllocOrder::kNone;
}

SharedCredits shared_credits_of(const LinkConfig& link) {
  if (!has_shared_credits(link)) {
    return SharedCredits::kNone;
  }
  return link.shared_credits.merged ? SharedCredits::kMerged : SharedCredits::kApart;
}

// The largest of the devices that send over the link: a long read of another one goes unnoticed.
std::uint32_t enabled_mrrs(const Fabric& fabric, NodeIndex lower) {
  std::uint32_t mrrs = 0;
  for (const FabricDevice& device : fabric.devices) {
    if (fabric.graph.is_at_or_below(device.node, lower)) {
      mrrs = std::max(mrrs, device_control(device.endpoint->target().space(0)).mrrs);
    }
  }
  return mrrs;
}

LinkMonitorOptions options_for(const Fabric& fabric, std::size_t index, const Config& config) {
  const LinkConfig& link = fabric.links[index].link->config();
  LinkMonitorOptions options;
  options.link = fabric.links[index].name;
  options.has_data_link = link.carrier == Carrier::kPcie;
  options.has_flits = link.is_in_flit_mode();
  options.has_messages = link.preset.cxl != CxlFlits::kNone;
  options.shared_credits = shared_credits_of(link);
  options.mps = static_cast<std::uint32_t>(link.mps);
  options.mrrs = 0;
  const NodeIndex lower = fabric.links[index].lower;
  const bool is_trunk = fabric.graph.is(lower, NodeKind::kSwitch);
  options.host_timeout = config.host.timing.completion_timeout;
  options.device_timeout = Time::never();
  options.is_switch_below = is_trunk;
  options.is_host_above = fabric.graph.is(fabric.graph.upper_of(lower), NodeKind::kRootPort);
  options.announces_handles = false;
  options.enabled_mrrs = [&fabric, lower] { return enabled_mrrs(fabric, lower); };
  for (const FabricDevice& device : fabric.devices) {
    if (!fabric.graph.is_at_or_below(device.node, lower)) {
      continue;
    }
    const Config& c = device.config;
    options.mrrs = std::max(options.mrrs, static_cast<std::uint32_t>(c.link.mrrs));
    options.host_rcb = static_cast<std::uint32_t>(link.rcb);
    options.has_memory_states = c.device.cxl.coherence == CxlCoherence::kHdmDb;
    options.device_timeout = std::min(options.device_timeout, c.device.timing.completion_timeout);
    options.form = {c.link.identity, c.link.dhi_form, c.device.dhi.bits};
    options.has_coherent_handles = options.has_coherent_handles && has_ordered_handles(c.device);
    const bool has_translated_lines =
        c.workload.via == WorkloadVia::kCxlCache && c.device.atc.enabled;
    const bool has_static_ones =
        c.workload.via == WorkloadVia::kRdma && c.device.rdma.pretranslation.is_on;
    options.asks_for_translations = !is_trunk && (has_translated_lines || has_static_ones) &&
                                    c.link.identity != Identity::kDhi &&
                                    c.workload.at == At::kUntranslated;
    options.announces_handles = !is_trunk && has_ordered_handles(c.device) &&
                                c.device.dhi.management == HandleManagement::kDevice;
  }
  return options;
}

}  // namespace

Monitors::Monitors(Fabric& fabric, const Config& config)
    : Bystander("protocol monitors"), fabric_(fabric) {
  if (config.run.monitors == MonitorMode::kOff) {
    return;
  }
  for (std::size_t i = 0; i < fabric.links.size(); ++i) {
    links_.push_back(std::make_unique<LinkMonitor>(options_for(fabric, i, config)));
    fabric.links[i].link->watch(*links_.back());
  }
}

Monitors::~Monitors() = default;

void Monitors::observe(const Observer& observer) {
  for (const auto& one : links_) {
    const char* const place = one->log().link().c_str();
    one->log().listen([&observer, place](ViolationLog::Kind kind, Time time, const char* rule,
                                         const Packet& packet, const std::string& other) {
      const bool is_warning = kind == ViolationLog::Kind::kWarning;
      if (observer) {
        observer({time, place, is_warning ? "warning" : "violation", rule, &packet, other.c_str()});
      }
    });
  }
}

std::vector<CheckResult> Monitors::checks() const {
  std::vector<CheckResult> all;
  for (const auto& one : links_) {
    const ViolationLog& log = one->log();
    const std::string detail = log.count() == 0
                                   ? ""
                                   : fmt::format("{} violations, the first of {}: {}", log.count(),
                                                 log.first()[0].rule, log.first()[0].sentence);
    all.push_back({log.link() + ": protocol monitors", log.count() == 0, detail});
  }
  return all;
}

void Monitors::report(RunResult& result) const {
  for (const auto& one : links_) {
    for (const auto& [rule, count] : one->log().warnings()) {
      result.errors["warning_" + rule] += count;
    }
  }
  result.violations = violations();
}

std::vector<Violation> Monitors::violations() const {
  std::vector<Violation> all;
  for (const auto& one : links_) {
    all.insert(all.end(), one->log().first().begin(), one->log().first().end());
  }
  for (const auto& watch : fabric_.cache_watches) {
    all.insert(all.end(), watch->violations().begin(), watch->violations().end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Violation& a, const Violation& b) { return a.time < b.time; });
  return all;
}

}  // namespace flitwise
