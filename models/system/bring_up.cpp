// SPDX-License-Identifier: Apache-2.0
// Host software of a machine: what it does before the engines begin, and for them.
#include <systemc>

#include <algorithm>

#include "config_space/registers.h"
#include "flitwise/error.h"
#include "host/function_reset.h"
#include "system/machine.h"

namespace flitwise {
namespace {

bool wants_handles(const FabricDevice& device) {
  return device.config.link.identity == Identity::kDhi && device.config.device.dhi.enabled &&
         device.range.size() > 0;
}

BootPolicy policy_for(const Fabric& fabric, const FabricDevice& device, std::uint8_t epoch) {
  const Config& config = device.config;
  BootPolicy policy;
  policy.mrrs = static_cast<unsigned>(config.link.mrrs);
  policy.wants_handles = wants_handles(device);
  policy.is_software_managed = config.device.dhi.management == HandleManagement::kSoftware;
  policy.every_hop_aware = fabric.is_handle_aware(device);
  policy.range = device.range;
  policy.epoch = epoch;
  policy.wants_translations = config.iommu.translation != Translation::kOff;
  policy.stu = config.device.atc.stu;
  policy.page_requests = config.device.pri.allocation;
  policy.pasid_bits = config.iommu.capabilities.pasid_bits;
  return policy;
}

}  // namespace

// Host software brings the machine up before anything else happens to it; once.
void Machine::bring_up() {
  if (is_serving() || is_cut_short_) {
    return;
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  boot();
  run_software([this] { return is_booted(); });
  if (is_booted()) {
    serve();
    bring_up_drivers();
  }
}

// Their queues are there before the first device asks for anything.
void Machine::bring_up_drivers() {
  for (const auto& host : hosts_) {
    if (host->driver) {
      serve_teardowns(*host);
      host->driver->start();
      run_software([&host] { return host->driver->is_ready(); });
    }
  }
}

void Machine::boot(std::uint8_t epoch) {
  const bool has_configuration_space = std::all_of(
      fabric_.devices.begin(), fabric_.devices.end(),
      [](const FabricDevice& device) { return device.config.link.carrier == Carrier::kPcie; });
  if (!has_configuration_space) {
    set_up_at_once();
    return;
  }
  for (const auto& host : hosts_) {
    boot_host(*host, epoch);
  }
}

void Machine::boot_host(HostNode& host, std::uint8_t epoch) {
  std::vector<BootPolicy> policies;
  for (const FabricDevice& device : fabric_.devices_of(host.number)) {
    policies.push_back(policy_for(fabric_, device, epoch));
  }
  host.boot = std::make_unique<Boot>(host.bridge, host.config, std::move(policies),
                                     fabric_.acs_of(host.number));
  host.boot->start([this, &host] { software_ready(host); });
}

// What the registers of a root port do to the link and the device right below it.
void Machine::serve_resets(HostNode& host, RootPort& above, unsigned index) {
  const auto below = std::find_if(fabric_.devices.begin(), fabric_.devices.end(),
                                  [&](const FabricDevice& one) { return one.root_port == &above; });
  const RootPort* const port = &above;
  Endpoint* const endpoint = below->endpoint.get();
  Link* const link = fabric_.links[below->link].link.get();
  CxlMemHost* const mem_host = below->mem_host.get();
  CxlMemDevice* const mem_device = below->mem_device.get();
  CxlCacheDevice* const cache = below->cache.get();
  CxlHdmHost* const hdm_host = below->hdm_host.get();
  CxlHdmDevice* const hdm_device = below->hdm_device.get();
  CxlHome* const home = below->home;
  const std::uint8_t home_port = below->home_port;
  host.bridge.on_hot_reset(
      index, {[endpoint] { endpoint->hot_reset(); },
              [endpoint, link] { return !endpoint->is_in_reset() && !link->carries_tlps(); }});
  HostBridge::LinkControl control;
  control.take_down = [=] {
    endpoint->link_going_down();
    if (mem_host != nullptr) {
      mem_host->link_lost();
      mem_device->link_lost();
    }
    if (hdm_host != nullptr) {
      hdm_host->link_lost();
      hdm_device->link_lost();
    }
    if (cache != nullptr) {
      cache->link_lost(home->lines_received(home_port));
      home->link_lost(home_port);
    }
    link->take_down();
    endpoint->link_lost();
  };
  control.may_come_up = [endpoint, port] {
    return port->is_quiet() && !endpoint->is_in_reset() && endpoint->target().is_quiet();
  };
  control.bring_up = [=] {
    link->bring_up();
    if (mem_host != nullptr) {
      mem_host->link_up();
    }
    if (hdm_host != nullptr) {
      hdm_host->link_up();
    }
    if (cache != nullptr) {
      home->link_up(home_port);
      cache->link_up();
    }
  };
  control.is_up = [link] { return link->is_up(); };
  host.bridge.on_link_disable(index, std::move(control));
}

bool Machine::is_booted() const {
  return is_set_up_ ||
         (std::all_of(hosts_.begin(), hosts_.end(),
                      [](const auto& host) { return host->boot && host->boot->is_done(); }) &&
          is_still());
}

// Where no part speaks PCIe there is no configuration space: both ends come up as they should be.
void Machine::set_up_at_once() {
  fabric_.set_up_untimed();
  is_set_up_ = true;
  serve();
}

// Every device of a host stands where software wants it; drivers let each VF send, and give their
// first contexts handles.
void Machine::software_ready(HostNode& host) {
  const std::vector<BootedDevice>& found = host.boot->devices();
  const DeviceRange devices = fabric_.devices_of(host.number);
  if (found.size() != devices.size()) {
    boot_failure_ = host.prefix + "host software found " + std::to_string(found.size()) + " of " +
                    std::to_string(devices.size()) + " devices";
    for (const std::string& problem : host.boot->problems()) {
      boot_failure_ += "\n" + problem;
    }
    return;
  }
  const auto first = static_cast<std::size_t>(devices.first - fabric_.devices.data());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Software& software = software_[first + i];
    software.device = found[i];
    fabric_.devices[first + i].buses = found[i].buses;
    fabric_.devices[first + i].handles->grant(software.device.pf, software.device.functions);
  }
  fabric_.tell_root_ports();
  for (std::size_t i = first; i < first + devices.size(); ++i) {
    fabric_.devices[i].endpoint->enable_vfs();
    if (!software_[i].device.handles.is_active()) {
      continue;
    }
    fabric_.tell_switches(fabric_.devices[i]);
    if (fabric_.devices[i].config.device.dhi.management == HandleManagement::kSoftware) {
      make_driver(i);
    }
  }
}

// Software that ends contexts needs BARs, and whoever manages handles and resets functions.
void Machine::serve_teardowns(HostNode& host) {
  if (!host.boot || is_set_up_) {
    return;
  }
  const auto first =
      static_cast<std::size_t>(fabric_.devices_of(host.number).first - fabric_.devices.data());
  TeardownServices services;
  services.stop_register = [this, first](const DriverDomain& domain) {
    return software_[first + domain.device].device.bar_of(0) + ContextStop::kOffset;
  };
  const bool has_drivers = std::any_of(software_.begin(), software_.end(),
                                       [](const Software& one) { return one.driver != nullptr; });
  if (has_drivers) {
    services.free_handle = [this, first](const DriverDomain& domain, std::function<void()> done) {
      HandleDriver* const driver = software_[first + domain.device].driver.get();
      if (driver == nullptr) {
        done();
      } else {
        driver->end_context(domain.id, std::move(done));
      }
    };
  }
  services.reset = [this, &host, first](const DriverDomain& domain, std::function<void()> done) {
    FunctionResetOptions options;
    const Bdf function = domain.identity.bdf;
    const FabricDevice& device = fabric_.devices[first + domain.device];
    const unsigned index = function.value - device.endpoint->base().value;
    options.function = function;
    options.pcie = device.endpoint->target().space(index).find(cfg::kCapPcie).value_or(0);
    options.host_block = domain.device;
    reset_function(host.bridge, options, [done = std::move(done)](HandleStatus) { done(); });
  };
  host.driver->set_services(std::move(services));
}

std::optional<unsigned> Machine::handles_of(Bdf function) const {
  for (std::size_t i = 0; i < fabric_.devices_of(0).size(); ++i) {
    const FabricDevice& device = fabric_.devices[i];
    const unsigned index = function.value - device.endpoint->base().value;
    if (index < device.config.device.functions.count && software_[i].device.handles.is_active()) {
      return static_cast<unsigned>(i);
    }
  }
  return std::nullopt;
}

// [DHI D12]
void Machine::make_driver(std::size_t index) {
  const FabricDevice& device = fabric_.devices[index];
  const BootedDevice& booted = software_[index].device;
  Endpoint* const endpoint = device.endpoint.get();
  HandleDriver::Options options;
  HostNode& host = *hosts_[device.host];
  options.host_block = static_cast<unsigned>(&device - fabric_.devices_of(device.host).first);
  options.device_block = booted.bar_of(0);
  options.range = booted.handles.range;
  options.epoch = booted.handles.epoch;
  options.is_trusted = device.config.device.dhi.trusted;
  options.capabilities = static_cast<std::uint16_t>(device.config.device.dhi.capabilities);
  options.step = host.config.host.timing.software_step;
  options.identity_of = [endpoint](DomainId domain) { return endpoint->identity_of(domain); };
  software_[index].driver = std::make_unique<HandleDriver>(host.bridge, std::move(options));
  HandleDriver* const driver = software_[index].driver.get();
  endpoint->dhi().set_software({[driver](DomainId domain) { driver->context_started(domain); },
                                [driver](DomainId domain) { driver->context_ended(domain); }});
  endpoint->start_contexts(device.config.workload.domains, false);
}

// Doorbells are writes down the link. Without a boot there are no addresses: there the doorbell
// only takes its time.
void Machine::ring(std::size_t index, const WorkItem& item, std::uint32_t token) {
  const FabricDevice& device = fabric_.devices[index];
  HostNode& host = *hosts_[device.host];
  ++software_[index].doorbells;
  if (is_set_up_) {
    host.bridge.after(host.config.host.timing.mmio,
                      [engine = device.engine.get(), token] { engine->doorbell_arrived(token); });
    return;
  }
  std::vector<std::uint8_t> bytes(item.bytes, 0);
  for (std::size_t byte = 0; byte < 4 && byte < bytes.size(); ++byte) {
    bytes[byte] = static_cast<std::uint8_t>(token >> 8 * byte);
  }
  const unsigned function = to_int(item.domain) % device.config.device.functions.count;
  host.bridge.write(software_[index].device.bar_of(function) + item.address, bytes.data(),
                    bytes.size(), measurement_.is_open(index));
}

std::uint64_t Machine::interrupts(std::size_t device) const {
  return hosts_[fabric_.devices[device].host]->bridge.interrupts(fabric_.devices[device].buses);
}

}  // namespace flitwise
