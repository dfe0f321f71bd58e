// SPDX-License-Identifier: Apache-2.0
// Host software of a machine: what it does before the engines begin, and for them.
#include "software/host_software.h"
#include "common/quantity.h"

#include <utility>

#include "common/byte_vector.h"
#include "common/quantity.h"
#include "common/ranges.h"
#include "config_space/registers.h"
#include "flitwise/error.h"
#include "software/workload_tables.h"

namespace flitwise {
namespace {

bool wants_handles(const FabricDevice& device) {
  return device.config.uses_handles() && device.config.device.dhi.enabled &&
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

HostSoftware::HostSoftware(Fabric& fabric, Hosts& hosts, TableWritten written)
    : fabric_(fabric),
      hosts_(hosts),
      written_(std::move(written)),
      devices_(fabric.devices.size()) {}

void HostSoftware::add_progress(Progress& sum) const {
  for (const Device& one : devices_) {
    sum.completed += one.driver == nullptr
                         ? 0
                         : one.driver->allocated() + one.driver->freed() + one.driver->refused();
  }
}

std::uint64_t HostSoftware::steps() const {
  return sum_of<std::uint64_t>(hosts_, [](const auto& host) { return host->bridge.steps(); });
}

bool HostSoftware::boot(std::uint8_t epoch) {
  const bool has_configuration_space = std::all_of(
      fabric_.devices.begin(), fabric_.devices.end(),
      [](const FabricDevice& device) { return device.config.link.carrier == Carrier::kPcie; });
  for (const auto& host : hosts_) {
    if (has_configuration_space) {
      boot_host(*host, epoch);
    }
  }
  return has_configuration_space;
}

void HostSoftware::boot_host(HostNode& host, std::uint8_t epoch) {
  auto policies = mapped<BootPolicy>(
      fabric_.devices_of(host.number),
      [&](const FabricDevice& device) { return policy_for(fabric_, device, epoch); });
  host.boot = std::make_unique<Boot>(host.bridge, host.config.host.timing.software_step,
                                     std::move(policies), fabric_.acs_of(host.number));
  host.boot->start([this, &host] { software_ready(host); });
}

void HostSoftware::set_up_at_once() {
  fabric_.set_up_untimed();
  is_set_up_ = true;
}

// Every device of a host stands where software wants it; drivers let each VF send, and give their
// first contexts handles.
void HostSoftware::software_ready(HostNode& host) {
  const std::vector<BootedDevice>& found = host.boot->devices();
  const DeviceRange devices = fabric_.devices_of(host.number);
  if (found.size() != devices.size()) {
    failure_ = host.prefix + "host software found " + std::to_string(found.size()) + " of " +
               std::to_string(devices.size()) + " devices";
    const Component::Counts errors = host.bridge.errors();
    if (const auto late = errors.find("completion_timeout"); late != errors.end()) {
      failure_ += "; " + std::to_string(late->second) +
                  " of its requests had no answer within host.timing.completion_timeout, " +
                  config::write_quantity(host.config.host.timing.completion_timeout.fs,
                                         config::time_dimension());
    }
    failure_ +=
        sum_of(host.boot->problems(), [](const std::string& problem) { return "\n" + problem; });
    return;
  }
  const std::size_t first = first_of(host);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const BootedDevice& booted = devices_[first + i].booted = found[i];
    fabric_.devices[first + i].buses = found[i].buses;
    fabric_.devices[first + i].handles->grant(booted.pf, booted.functions);
  }
  fabric_.tell_root_ports();
  for (std::size_t i = first; i < first + devices.size(); ++i) {
    fabric_.devices[i].endpoint->enable_vfs();
    if (!devices_[i].booted.handles.is_active()) {
      continue;
    }
    fabric_.tell_switches(fabric_.devices[i]);
    if (fabric_.devices[i].config.device.dhi.management == HandleManagement::kSoftware) {
      make_driver(i);
    }
  }
}

// Software that ends contexts needs BARs, and whoever manages handles and resets functions.
TeardownServices HostSoftware::teardown_services(HostNode& host) {
  const std::size_t first = first_of(host);
  TeardownServices services;
  services.stop_register = [this, first](const DriverDomain& domain) {
    return devices_[first + domain.device].booted.bar_of(0) + ContextStop::kOffset;
  };
  const bool has_drivers = std::any_of(devices_.begin(), devices_.end(),
                                       [](const Device& one) { return one.driver != nullptr; });
  if (has_drivers) {
    services.free_handle = [this, first](const DriverDomain& domain, std::function<void()> done) {
      HandleDriver* const driver = devices_[first + domain.device].driver.get();
      if (driver == nullptr) {
        done();
      } else {
        driver->end_context(domain.id, std::move(done));
      }
    };
  }
  services.reset = [this, &host, first](const DriverDomain& domain, std::function<void()> done) {
    const Bdf function = domain.identity.bdf;
    Endpoint& endpoint = *fabric_.devices[first + domain.device].endpoint;
    const unsigned index = function.value - endpoint.base().value;
    const std::uint16_t pcie = endpoint.target().space(index).find(cfg::kCapPcie).value_or(0);
    reset_function(host.bridge, {function, pcie, domain.device},
                   [done = std::move(done)](HandleStatus) { done(); });
  };
  return services;
}

std::optional<unsigned> HostSoftware::handles_of(Bdf function) const {
  for (std::size_t i = 0; i < fabric_.devices_of(0).size(); ++i) {
    const FabricDevice& device = fabric_.devices[i];
    if (owns_function(device, function) && devices_[i].booted.handles.is_active()) {
      return static_cast<unsigned>(i);
    }
  }
  return std::nullopt;
}

// [DHI D12]
void HostSoftware::make_driver(std::size_t index) {
  const FabricDevice& device = fabric_.devices[index];
  const BootedDevice& booted = devices_[index].booted;
  Endpoint* const endpoint = device.endpoint;
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
  options.context_of = [endpoint](DomainId domain) { return endpoint->context_of(domain); };
  devices_[index].driver = std::make_unique<HandleDriver>(host.bridge, std::move(options));
  HandleDriver* const driver = devices_[index].driver.get();
  endpoint->dhi().set_software({[driver](DomainId domain) { driver->context_started(domain); },
                                [driver](DomainId domain) { driver->context_ended(domain); }});
  endpoint->dhi().start_contexts(device.config.workload.domains, false, now());
}

// Doorbells are writes down the link. Without a boot there are no addresses: there the doorbell
// only takes its time.
void HostSoftware::ring(std::size_t index, const WorkItem& item, std::uint32_t token, bool counts) {
  const FabricDevice& device = fabric_.devices[index];
  HostNode& host = *hosts_[device.host];
  if (is_set_up_) {
    host.bridge.after(host.config.host.timing.mmio,
                      [engine = device.engine.get(), token] { engine->doorbell_arrived(token); });
    return;
  }
  ByteVector bytes = little_endian_bytes(token, 4);
  bytes.resize(item.bytes);
  const unsigned function =
      device.endpoint->identity_of(item.domain).bdf.value - device.endpoint->base().value;
  host.bridge.write(devices_[index].booted.bar_of(function) + item.address, bytes.data(),
                    bytes.size(), counts);
}

void HostSoftware::set_up_translation_tables() {
  for (const auto& one : hosts_) {
    HostNode& host = *one;
    const DeviceRange devices = fabric_.devices_of(host.number);
    if (!host.driver) {
      set_up_translation(host.config, devices, host.memory, host.agent);
      continue;
    }
    const auto written = [this, &host](std::uint64_t address) { written_(host, address); };
    host.driver->take_over(set_up_driver(host.config, devices, host.memory, host.agent, written));
    for (const auto& port : fabric_.root_ports_of(host.number)) {
      port->watch_memory([driver = host.driver.get()](const Packet& packet, std::uint64_t address) {
        driver->accessed(packet, address);
      });
    }
    for (const FabricDevice& device : devices) {
      device.endpoint->watch_translations(
          [&host](const DeviceIdentity& who, std::uint64_t physical, std::uint64_t untranslated) {
            host.driver->translation_used(who, physical, untranslated);
          });
    }
  }
}

void HostSoftware::start_driver(HostNode& host) {
  if (host.boot && !is_set_up_) {
    host.driver->set_services(teardown_services(host));
  }
  host.driver->start();
}

}  // namespace flitwise
