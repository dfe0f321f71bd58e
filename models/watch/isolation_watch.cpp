// SPDX-License-Identifier: Apache-2.0
// What an attack has reached.
#include "watch/isolation_watch.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "common/ranges.h"
#include "config/load.h"
#include "host/host_access.h"
#include "iommu/table_builder.h"
#include "software/workload_tables.h"
#include "tlp/atomic_op.h"
#include "tlp/identity.h"
#include "tlp/splitter.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
/// Accessed and dirty bits of both stages: the agent sets them in tables.
constexpr std::uint64_t kSetByAgent = FirstStageEntry::kAccessed | FirstStageEntry::kDirty |
                                      SecondStageEntry::kAccessed | SecondStageEntry::kDirty;

bool is_zero(const std::uint8_t* bytes, std::size_t count) {
  return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

std::uint64_t bytes_of(const Tlp& tlp) {
  return std::max<std::uint64_t>(bytes_named(tlp), 4);
}

// What a root port counts beside refusals: answers and messages of its own that it does not send,
// and a second word on a refused handle.
bool is_no_refusal(const std::string& kind) {
  return kind == "completion_dropped_by_fault" || kind == "unknown_domain" ||
         kind == "handle_while_disabled";
}

}  // namespace

IsolationWatch::IsolationWatch(const Config& config, const Fabric& fabric, HostNode& host)
    : Bystander(host.prefix + "isolation"),
      fabric_(fabric),
      host_(host),
      memory_(host.memory),
      agent_(host.agent),
      has_tables_(config.iommu.translation != Translation::kOff),
      has_driver_(config.host.iommu_driver.enabled) {
  for (const FabricDevice& device : devices()) {
    if (device.config.workload.kind == WorkloadKind::kHostile) {
      attackers_.push_back(attacker_of(config, device));
    }
  }
  for (const auto& port : fabric.root_ports_of(host.number)) {
    if (is_needed()) {
      port->watch_memory([this, &own = *port](const Packet& packet, std::uint64_t address) {
        accessed(own, packet, address);
      });
    }
  }
}

IsolationWatch::Attacker IsolationWatch::attacker_of(const Config& config,
                                                     const FabricDevice& device) const {
  Attacker attacker;
  attacker.device = &device;
  attacker.host = for_instance(config, device.root_port->name()).host;
  attacker.is_known_by_id = attacker.host.requester_check && fabric_.validates_source(device);
  attacker.is_confined = attacker.host.dma_window.size != 0 ||
                         (has_tables_ && config.iommu.translation != Translation::kPassThrough &&
                          attacker.is_known_by_id);
  attacker.share = DeviceShare::of(config, device);
  attacker.memory = memory_of(config, attacker);
  return attacker;
}

// The window of its root port, and of that what tables map for it.
WatchedSpan IsolationWatch::memory_of(const Config& config, const Attacker& attacker) const {
  WatchedSpan window;
  if (attacker.host.dma_window.size != 0) {
    window = {attacker.host.dma_window.base,
              attacker.host.dma_window.base + attacker.host.dma_window.size - 1};
  }
  if (has_tables_ && config.iommu.translation != Translation::kPassThrough) {
    const Config& device = attacker.device->config;
    const WorkloadConfig& workload = device.workload;
    const std::uint64_t page = config.iommu.page;
    // A table that all processes of a function share cannot tell them apart. [DHI D18]
    const bool shares_table = shares_permissions(device);
    const std::uint32_t first = shares_table ? 0 : attacker.share.first_domain;
    const std::uint32_t end = shares_table ? domain_ids(workload) : attacker.share.end_domain;
    const std::uint64_t from = workload.buffer_base + first * workload.buffer_size;
    const std::uint64_t to = workload.buffer_base + end * workload.buffer_size;
    window.first = std::max(window.first, from / page * page);
    window.last = std::min(window.last, (to + page - 1) / page * page - 1);
  }
  return window;
}

void IsolationWatch::begin() {
  if (has_begun_ || !is_needed()) {
    return;
  }
  has_begun_ = true;
  compares_memory_ = all_of(attackers_, [](const Attacker& one) { return one.is_confined; });
  if (compares_memory_) {
    remember(0, kComparedBytes);
  }
}

// Only what is not zero takes a page.
void IsolationWatch::remember(std::uint64_t address, std::uint64_t bytes) {
  std::vector<std::uint8_t> seen(kChunk);
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end; at += kChunk) {
    const std::uint64_t count = std::min(kChunk, end - at);
    if (!memory_.peek(at, seen.data(), count)) {
      return;
    }
    for (std::uint64_t page = 0; page < count; page += kPageBytes) {
      if (!is_zero(&seen[page], kPageBytes)) {
        std::memcpy(pages_[(at + page) / kPageBytes].data(), &seen[page], kPageBytes);
      }
    }
  }
}

void IsolationWatch::notice(const Observation& seen) {
  if (!has_begun_ || std::string_view(seen.what) != "committed") {
    return;
  }
  // A write of another device: whatever it has left there is right.
  const auto write = writes_to_.find(seen.packet);
  if (write != writes_to_.end()) {
    take_as_left(write->second, bytes_of(seen.packet->tlp));
    writes_to_.erase(write);
  }
}

void IsolationWatch::software_wrote(std::uint64_t address, std::uint64_t bytes) {
  if (has_begun_ && compares_memory_) {
    take_as_left(address, bytes);
  }
}

// Inside one page. [LNK-9.14]
void IsolationWatch::take_as_left(std::uint64_t address, std::uint64_t bytes) {
  if (address + bytes <= kComparedBytes) {
    Page& page = pages_.try_emplace(address / kPageBytes).first->second;
    memory_.peek(address, &page[address % kPageBytes], bytes);
  }
}

bool IsolationWatch::may_name(const Attacker& attacker, const DeviceIdentity& identity) {
  if (!attacker.is_known_by_id) {
    return true;
  }
  const FabricDevice& device = *attacker.device;
  if (attacker.host.dhi.grant != GrantPolicy::kConfigured) {
    return device.buses.contains(identity.bdf);
  }
  return owns_function(device, identity.bdf) && attacker.share.has(identity.pasid);
}

void IsolationWatch::accessed(const RootPort& port, const Packet& packet, std::uint64_t address) {
  if (!has_begun_) {
    return;
  }
  if (is_hostile(packet)) {
    judge_access(port, packet, address);
  } else if (compares_memory_ && has_data(packet.tlp.type)) {
    writes_to_[&packet] = address;
  }
}

// A read of no bytes touches nothing, in whoever's name it comes.
void IsolationWatch::judge_access(const RootPort& port, const Packet& packet,
                                  std::uint64_t address) {
  const Tlp& tlp = packet.tlp;
  if (is_zero_length_read(tlp)) {
    return;
  }
  const DeviceIdentity identity = packet.resolved ? *packet.resolved : full_identity(tlp);
  bool is_own = false, is_inside = false;
  for (const Attacker& attacker : attackers_) {
    if (attacker.device->root_port == &port) {
      is_own = is_own || may_name(attacker, identity);
      is_inside = is_inside || attacker.memory.contains(address, bytes_of(tlp));
    }
  }
  const bool is_write = has_data(tlp.type);
  Reached& reached = is_write ? writes_ : reads_;
  ++reached.count;
  reached.foreign += is_own ? 0 : 1;
  reached.elsewhere += is_inside ? 0 : 1;
  poisoned_ += is_write && tlp.is_poisoned ? 1 : 0;
}

CheckResult IsolationWatch::accesses_check() const {
  const auto is_right = [](const Reached& one) { return one.foreign == 0 && one.elsewhere == 0; };
  return {host_.prefix + "hostile accesses stay in their own name and memory",
          is_right(writes_) && is_right(reads_) && poisoned_ == 0,
          fmt::format("{} writes, {} in another name, {} elsewhere, {} poisoned; {} reads, {} in "
                      "another name, {} elsewhere",
                      writes_.count, writes_.foreign, writes_.elsewhere, poisoned_, reads_.count,
                      reads_.foreign, reads_.elsewhere)};
}

bool IsolationWatch::is_attackers(std::uint64_t page) const {
  const std::uint64_t address = page * kPageBytes;
  return any_of(attackers_, [&](const Attacker& attacker) {
    return attacker.memory.first < address + kPageBytes && address <= attacker.memory.last;
  });
}

// The agent writes what devices ask for into the queue that software gave it; a driver writes
// commands, and the agent that they are over.
bool IsolationWatch::holds_queues(std::uint64_t page) const {
  const QueueView queue = agent_.page_request_queue();
  const bool holds_requests = queue.base != 0 && page >= queue.base / kPageBytes &&
                              page * kPageBytes < queue.base + queue.bytes;
  return holds_requests || (has_driver_ && page >= kInvalidationQueue / kPageBytes &&
                            page <= kTeardownStatus / kPageBytes);
}

bool IsolationWatch::is_as_left(std::uint64_t page, const std::uint8_t* bytes) const {
  const auto left = pages_.find(page);
  if (left == pages_.end()) {
    return is_zero(bytes, kPageBytes);
  }
  const bool is_table = has_tables_ && page * kPageBytes >= TableBuilder::kDefaultArea;
  for (std::uint64_t at = 0; at < kPageBytes; at += 8) {
    const std::uint64_t changed = load_u64(bytes + at) ^ load_u64(&left->second[at]);
    if ((is_table ? changed & ~kSetByAgent : changed) != 0) {
      return false;
    }
  }
  return true;
}

CheckResult IsolationWatch::memory_check() const {
  std::uint64_t changed = 0, first = 0;
  std::vector<std::uint8_t> seen(kChunk);
  for (std::uint64_t at = 0; at < kComparedBytes && memory_.peek(at, seen.data(), kChunk);
       at += kChunk) {
    for (std::uint64_t offset = 0; offset < kChunk; offset += kPageBytes) {
      const std::uint64_t page = (at + offset) / kPageBytes;
      if (!is_as_left(page, &seen[offset]) && !is_attackers(page) && !holds_queues(page)) {
        first = changed == 0 ? page * kPageBytes : first;
        ++changed;
      }
    }
  }
  return {"memory of others is as they left it", changed == 0,
          fmt::format("{} pages changed, the first at {:#x}", changed, first)};
}

CheckResult IsolationWatch::refusals_check(const RootPort& port) {
  std::uint64_t by_kind = 0, by_violation = 0, malformed = 0;
  for (const auto& [kind, count] : port.errors()) {
    if (is_no_refusal(kind)) {
      continue;
    }
    (kind.find('.') == std::string::npos ? by_kind : by_violation) += count;
    malformed += kind == "malformed_tlp" ? count : 0;
  }
  const std::uint64_t refused = port.counters().refused;
  return {std::string(port.name()) + ": every refusal is counted by kind",
          by_kind == refused && by_violation == malformed,
          fmt::format("{} refused, {} by kind; {} malformed, {} by rule", refused, by_kind,
                      malformed, by_violation)};
}

// [DHI S1]
CheckResult IsolationWatch::handles_check(const FabricDevice& device) {
  std::uint64_t foreign = 0;
  for (unsigned i = 0; i < device.range.size(); ++i) {
    const auto entry = device.handles->table().resolve(device.range.at(i));
    foreign += entry && !device.buses.contains(entry->identity.bdf) ? 1 : 0;
  }
  return {device.name + ": the host's entries of its handles name nobody else", foreign == 0,
          fmt::format("{} handles of others", foreign)};
}

CheckResult IsolationWatch::device_check(const FabricDevice& device) const {
  const Endpoint& endpoint = *device.endpoint;
  const EndpointCounters& counters = endpoint.counters();
  const std::uint64_t refused = device.is_below_switch ? 0 : device.root_port->counters().refused;
  // A stray completion that is refused harms nobody: what it pretends to answer goes on waiting.
  const Component::Counts errors = endpoint.errors();
  const std::size_t harms = errors.size() - errors.count("unexpected_completion");
  return {device.name + ": unharmed by its neighbours",
          refused == 0 && harms == 0 && counters.failed_bytes == 0 &&
              counters.asked_bytes == counters.delivered_bytes && endpoint.outstanding() == 0,
          fmt::format("{} refused, {} kinds of errors, {} bytes asked, {} delivered, {} failed",
                      refused, harms, counters.asked_bytes, counters.delivered_bytes,
                      counters.failed_bytes)};
}

// Without any attack: a driver ends contexts, refuses pages, and takes away what was not asked for
// again, or by an address that the device was sure of.
bool IsolationWatch::may_fail(const FabricDevice& device) {
  const Config& config = device.config;
  const IommuDriverConfig& driver = config.host.iommu_driver;
  return driver.enabled &&
         (driver.teardown_rate > 0 || driver.refuse_fraction > 0 || !config.device.pri.enabled ||
          (config.iommu.secure_ats && driver.unmap_rate > 0));
}

std::vector<CheckResult> IsolationWatch::checks() const {
  std::vector<CheckResult> all;
  if (!has_begun_) {
    return all;
  }
  if (compares_memory_) {
    all.push_back(accesses_check());
  }
  for (const auto& port : fabric_.root_ports_of(host_.number)) {
    all.push_back(refusals_check(*port));
  }
  for (const FabricDevice& device : devices()) {
    if (attackers_.front().is_known_by_id && device.handles != nullptr &&
        device.range.size() != 0) {
      all.push_back(handles_check(device));
    }
  }
  return all;
}

std::vector<CheckResult> IsolationWatch::checks_at_rest() const {
  std::vector<CheckResult> all;
  if (!has_begun_) {
    return all;
  }
  for (const FabricDevice& device : devices()) {
    const bool should_succeed = device.endpoint->resets() == 0 && !may_fail(device);
    if (attackers_.front().is_known_by_id && device.engine && should_succeed) {
      all.push_back(device_check(device));
    }
  }
  if (compares_memory_) {
    all.push_back(memory_check());
  }
  return all;
}

}  // namespace flitwise
