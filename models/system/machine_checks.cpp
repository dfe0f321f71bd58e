// SPDX-License-Identifier: Apache-2.0
// The books that a run closes with.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dhi/coherence.h"
#include "system/machine.h"

namespace flitwise {
namespace {

void append(std::vector<CheckResult>& all, std::vector<CheckResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

CheckResult same_bytes(const std::string& name, std::uint64_t sent, std::uint64_t arrived) {
  return {name, sent == arrived, fmt::format("{} sent, {} arrived", sent, arrived)};
}

}  // namespace

std::vector<CheckResult> Machine::checks() const {
  std::vector<CheckResult> all;
  std::size_t on_wire = 0;
  for (const FabricLink& one : fabric_.links) {
    append(all, one.link->checks());
    on_wire += one.link->on_wire();
  }
  for (const auto& one : fabric_.root_ports) {
    append(all, one->checks());
  }
  for (const auto& one : fabric_.switches) {
    append(all, one->checks());
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    const FabricDevice& device = fabric_.devices[i];
    append(all, device.endpoint->checks());
    if (device.mem_host) {
      append(all, device.mem_host->checks());
    }
    if (device.cache) {
      append(all, device.cache->checks());
    }
    if (device.hdm_host) {
      append(all, device.hdm_host->checks());
      append(all, device.hdm_device->checks());
      append(all, host_copies_check(device));
    }
    if (device.engine) {
      const std::uint64_t missing = software_[i].doorbells - device.engine->doorbells();
      const std::uint64_t lost =
          fabric_.links[device.link].link->losses(LinkSide::kUpstream).writes;
      all.push_back({device.name + ": every doorbell arrived or was lost", missing <= lost,
                     fmt::format("{} missing, {} writes lost with the link", missing, lost)});
      append(all, coherence_check(device));
    }
  }
  if (fabric_.home) {
    append(all, directory_check());
    append(all, fabric_.cache_watch.checks());
  }
  for (const auto& watch : fabric_.memory_watches) {
    append(all, watch->checks());
  }
  append(all, agent_.checks());
  if (iommu_driver_) {
    append(all, iommu_driver_->checks());
  }
  append(all, monitors_.checks());
  append(all, isolation_.checks(is_quiet()));
  append(all, posted_bytes_checks());
  all.push_back({"no packet is left but on a wire", pool.in_use() == on_wire,
                 fmt::format("{} in use, {} on wires", pool.in_use(), on_wire)});
  return all;
}

// What the home believes of the caches is what they hold. [COH-3.1]
std::vector<CheckResult> Machine::directory_check() const {
  if (!is_quiet()) {
    return {};
  }
  std::size_t held = 0, apart = 0;
  for (const FabricDevice& device : fabric_.devices) {
    if (device.cache) {
      device.cache->rules().for_each_line([&](std::uint64_t line, LineState state) {
        const LineHolders holders = fabric_.home->holders(line);
        const bool is_known = is_owned(state) ? holders.is_owner(device.home_port)
                                              : (holders.sharers() >> device.home_port & 1U) != 0;
        ++held;
        apart += is_known ? 0 : 1;
      });
    }
  }
  return {{"home: its directory says what the caches hold",
           apart == 0 && held == fabric_.home->copies(),
           fmt::format("{} lines in caches, {} of them unknown; {} in the directory", held, apart,
                       fabric_.home->copies())}};
}

// What a memory believes of the host's cache is what that holds. [COH-5.3]
std::vector<CheckResult> Machine::host_copies_check(const FabricDevice& device) const {
  if (!is_quiet()) {
    return {};
  }
  const DeviceMemory& memory = device.hdm_device->rules();
  std::size_t held = 0, apart = 0;
  device.hdm_host->rules().for_each_line([&](std::uint64_t line, LineState state) {
    const cxl::MetaValue believed = memory.host_state(line);
    ++held;
    apart += believed == (is_owned(state) ? cxl::MetaValue::kAny : cxl::MetaValue::kShared) ? 0 : 1;
  });
  return {{device.hdm_device->name() + std::string(": knows what the host holds"),
           apart == 0 && held == memory.host_copies(),
           fmt::format("{} lines in the host's cache, {} of them known otherwise; {} known", held,
                       apart, memory.host_copies())}};
}

// Both ends of the handles of a conforming device agree once no message is under way. [DHI S2]
std::vector<CheckResult> Machine::coherence_check(const FabricDevice& device) const {
  const DhiAgent& agent = device.endpoint->dhi();
  if (!agent.is_active() || !is_quiet()) {
    return {};
  }
  const std::size_t apart = mismatches(*agent.table(), device.handles->table()).size();
  return {{device.name + ": both ends agree on every handle", apart == 0,
           fmt::format("{} handles mean two domains", apart)}};
}

// Payload of MWr: what devices sent is in memory, was an interrupt, was refused and counted, or
// was lost with a link that went down. A switch on the way may refuse some, or send it to another
// device, and is looked at on either side.
std::vector<CheckResult> Machine::posted_bytes_checks() const {
  std::uint64_t sent = 0;
  for (const FabricDevice& device : fabric_.devices) {
    sent += device.endpoint->counters().posted_bytes;
  }
  std::uint64_t settled = 0;
  for (const FabricLink& one : fabric_.links) {
    settled += one.link->losses(LinkSide::kDownstream).written_bytes;
  }
  for (const auto& one : fabric_.root_ports) {
    const RootPortCounters& arrived = one->counters();
    settled += arrived.written_bytes + arrived.interrupt_bytes + arrived.dropped_bytes;
  }
  if (fabric_.switches.empty()) {
    return {same_bytes("posted bytes were written or refused", sent, settled)};
  }
  std::uint64_t into_switch = 0;
  const Switch& sw = *fabric_.switches.front();
  for (unsigned port = 0; port < sw.downstream_ports(); ++port) {
    into_switch += sw.posted_bytes(static_cast<std::uint16_t>(port)).in;
  }
  return {same_bytes("posted bytes of devices came to the switch", sent, into_switch),
          same_bytes("posted bytes from the switch were written or refused",
                     sw.posted_bytes(kUpstreamPort).out, settled)};
}

}  // namespace flitwise
