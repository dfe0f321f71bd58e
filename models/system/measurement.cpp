// SPDX-License-Identifier: Apache-2.0
// Windows and their figures.
#include "system/measurement.h"

#include <algorithm>
#include <iterator>

#include "system/request_routes.h"

namespace flitwise {
namespace {

std::optional<PartitionId> partition_of(const FabricDevice& device) {
  return device.handles->table().partition_of(Bdf::of(device.buses.secondary, 0, 0));
}

/// Handle messages of devices that have no share of the table.
std::map<std::string, std::uint64_t> strangers(const HostHandles& handles) {
  const std::uint64_t count = handles.table().statistics_of_others().rejected();
  return count == 0 ? std::map<std::string, std::uint64_t>{}
                    : std::map<std::string, std::uint64_t>{{"handle_without_partition", count}};
}

/// Visits what of CXL.cache and CXL.mem stands at its link. void visit(agent).
template <class Visit>
void for_each_agent(const FabricDevice& device, Visit&& visit) {
  const auto visit_one = [&visit](const auto& agent) {
    if (agent) {
      visit(*agent);
    }
  };
  visit_one(device.mem_host);
  visit_one(device.mem_device);
  visit_one(device.hdm_host);
  visit_one(device.hdm_device);
  visit_one(device.cache);
}

std::map<std::string, std::uint64_t> of_device(const FabricDevice& device) {
  std::map<std::string, std::uint64_t> errors = device.endpoint->errors();
  if (device.engine && device.engine->stray_doorbells() > 0) {
    errors["stray_doorbell"] += device.engine->stray_doorbells();
  }
  for_each_agent(device, [&errors](const auto& agent) {
    for (const auto& [kind, count] : agent.errors()) {
      errors[kind] += count;
    }
  });
  return errors;
}

CxlHdmDbResult hdm_db_counts(const FabricDevice& device) {
  CxlHdmDbResult counts;
  counts.device = device.name;
  device.hdm_host->tell(counts);
  device.hdm_device->tell(counts);
  return counts;
}

// Of its engine, and of the shell or agent that serves it.
void add_waits(const FabricDevice& device, std::vector<WaitResult>& waits) {
  const auto add = [&waits](std::vector<WaitResult> more) {
    std::move(more.begin(), more.end(), std::back_inserter(waits));
  };
  const bool is_of_host = device.config.workload.via == WorkloadVia::kCxlMem;
  if (device.engine) {
    add(device.engine->waits(device.name, is_of_host ? "down" : "up"));
  }
  if (device.host_engine) {
    add(device.host_engine->waits(device.name + ".host", "down"));
  }
  add(device.endpoint->waits());
  for_each_agent(device, [&add](const auto& agent) { add(agent.waits()); });
}

}  // namespace

Measurement::Measurement(Fabric& fabric, const Hosts& hosts)
    : fabric_(fabric),
      is_open_(fabric.devices.size(), false),
      is_closed_(fabric.devices.size(), false) {
  const auto add = [this](const auto* component, std::optional<std::size_t> device) {
    error_sources_.push_back({[component] { return component->errors(); }, device, {}});
  };
  for (const auto& host : hosts) {
    add(&host->bridge, std::nullopt);
  }
  std::vector<const HostHandles*> tables;
  std::vector<const RootPort*> ports;
  for (std::size_t i = 0; i < fabric.devices.size(); ++i) {
    const FabricDevice& device = fabric.devices[i];
    error_sources_.push_back({[&device] { return of_device(device); }, i, {}});
    if (std::find(ports.begin(), ports.end(), device.root_port) == ports.end()) {
      ports.push_back(device.root_port);
      add(device.root_port, device.is_below_switch ? std::nullopt : std::optional<std::size_t>(i));
    }
    if (std::find(tables.begin(), tables.end(), device.handles) == tables.end()) {
      tables.push_back(device.handles);
      error_sources_.push_back(
          {[&device] { return strangers(*device.handles); }, std::nullopt, {}});
    }
  }
  for (const auto& home : fabric.homes) {
    if (home) {
      add(home.get(), std::nullopt);
    }
  }
  for (const auto& one : fabric.switches) {
    add(one.get(), std::nullopt);
  }
}

void Measurement::forget_errors() {
  for (ErrorSource& source : error_sources_) {
    source.before = source.count();
  }
}

void Measurement::note_errors(std::optional<std::size_t> device) {
  for (ErrorSource& source : error_sources_) {
    if (source.device == device) {
      source.before = source.count();
    }
  }
}

bool Measurement::is_shared(std::size_t link) const {
  return std::none_of(fabric_.devices.begin(), fabric_.devices.end(),
                      [&](const FabricDevice& one) { return one.link == link; });
}

void Measurement::open(std::size_t index, bool from_first_counted) {
  if (is_open_[index]) {
    return;
  }
  if (!begin_) {
    begin_ = now();
    note_errors(std::nullopt);
    for (const auto& start : starts_) {
      start();
    }
    for (const auto& port : fabric_.root_ports) {
      port->start_window();
    }
    for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
      if (is_shared(i)) {
        fabric_.links[i].link->start_window(from_first_counted);
      }
    }
  }
  is_open_[index] = true;
  FabricDevice& device = fabric_.devices[index];
  note_errors(index);
  fabric_.links[device.link].link->start_window(from_first_counted);
  device.endpoint->start_window();
  for (DmaEngine* const engine : {device.engine.get(), device.host_engine.get()}) {
    if (engine != nullptr) {
      engine->start_window();
    }
  }
  for_each_agent(device, [](auto& agent) { agent.start_window(); });
  if (device.cache) {
    device.home->port(device.home_port).start_window(now());
  }
  if (const std::optional<PartitionId> partition = partition_of(device)) {
    device.handles->table().reset_statistics(*partition);
  }
}

void Measurement::close(std::size_t device) {
  if (!is_closed_[device]) {
    is_closed_[device] = true;
    fabric_.links[fabric_.devices[device].link].link->end_window();
  }
}

void Measurement::close() {
  end_ = now();
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    close(i);
  }
  for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
    if (is_shared(i)) {
      fabric_.links[i].link->end_window();
    }
  }
}

void Measurement::extend() {
  end_.reset();
  is_closed_.assign(is_closed_.size(), false);
  for (FabricLink& one : fabric_.links) {
    one.link->extend_window();
  }
}

LinkResult Measurement::link_result(std::size_t index) const {
  LinkResult result = fabric_.links[index].link->result();
  for (const FabricDevice& device : fabric_.devices) {
    if (device.link == index) {
      const StallTimes stalls = device.endpoint->stalls();
      result.up.stalls.tags = stalls.tags;
      result.up.stalls.handle = stalls.handle;
    }
  }
  return result;
}

DhiResult Measurement::dhi_result(const FabricDevice& device) const {
  DhiResult dhi = device.endpoint->dhi_result();
  const std::optional<PartitionId> partition = partition_of(device);
  if (!partition) {
    dhi.rejected = 0;
    return dhi;
  }
  const HostHandleStatistics& statistics = device.handles->table().statistics(*partition);
  dhi.wrong_domain = statistics.wrong_domain;
  dhi.rejected = statistics.rejected();
  for (int status = 1; status < kHandleStatuses; ++status) {
    if (const std::uint64_t count = statistics.rejections[static_cast<std::size_t>(status)]) {
      dhi.rejections[name_of(static_cast<HandleStatus>(status))] = count;
    }
  }
  return dhi;
}

Measurement::Errors Measurement::errors() const {
  Errors all;
  for (const ErrorSource& source : error_sources_) {
    for (const auto& [kind, count] : source.count()) {
      const auto before = source.before.find(kind);
      const std::uint64_t since = count - (before == source.before.end() ? 0 : before->second);
      if (since > 0) {
        all[kind] += since;
      }
    }
  }
  return all;
}

void Measurement::fill(RunResult& result) const {
  result.simulated = end_.value_or(now()) - begin_.value_or(Time{});
  for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
    result.rows<LinkResult>().push_back(link_result(i));
  }
  for (const FabricDevice& device : fabric_.devices) {
    result.rows<DhiResult>().push_back(dhi_result(device));
    add_waits(device, result.rows<WaitResult>());
    if (device.cache) {
      const CxlHome::Port& port = device.home->port(device.home_port);
      const std::string place = "home_of_" + device.name;
      result.rows<WaitResult>().push_back(
          port.work_waits.result({place, "home_requests", ResourceRole::kSlots, "up"}));
      result.rows<WaitResult>().push_back(port.to_link.waits(place, "down"));
    }
    for (AtsResult& function : device.endpoint->ats_results()) {
      result.rows<AtsResult>().push_back(std::move(function));
    }
    if (device.cache) {
      result.rows<CxlCacheResult>().push_back(device.cache->result());
    }
    if (device.hdm_host) {
      result.rows<CxlHdmDbResult>().push_back(hdm_db_counts(device));
    }
  }
  for (const auto& port : fabric_.root_ports) {
    for (WaitResult& one : port->waits()) {
      result.rows<WaitResult>().push_back(std::move(one));
    }
  }
  for (const FabricLink& one : fabric_.links) {
    for (WaitResult& wait : one.link->waits()) {
      result.rows<WaitResult>().push_back(std::move(wait));
    }
  }
  result.routes = request_routes(fabric_);
  result.errors = errors();
}

}  // namespace flitwise
