// SPDX-License-Identifier: Apache-2.0
// What the host does with ALLOC, DEALLOC and handles.
#include "dhi/host_handle_table.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "common/ranges.h"
#include "dhi/device_handle_table.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {
constexpr std::size_t kHandles = 1U << kMaxHandleBits;
constexpr std::size_t kBuckets = 2 * kHandles;

bool overlap(HandleRange a, HandleRange b) {
  return a.common(b).size() > 0;
}
}  // namespace

std::uint64_t HostHandleStatistics::rejected() const {
  return std::accumulate(rejections.begin(), rejections.end(), std::uint64_t{0});
}

HostHandleStatistics& HostHandleStatistics::operator+=(const HostHandleStatistics& other) {
  allocs += other.allocs;
  deallocs += other.deallocs;
  wrong_domain += other.wrong_domain;
  for (std::size_t i = 0; i < rejections.size(); ++i) {
    rejections[i] += other.rejections[i];
  }
  return *this;
}

HostHandleTable::HostHandleTable(DeallocMode dealloc, const GrantTable& grants)
    : dealloc_(dealloc), grants_(grants), entries_(kHandles), buckets_(kBuckets, kNone) {
  by_bus_.fill(kNone);
}

PartitionId HostHandleTable::add_partition(const PartitionConfig& config) {
  FLITWISE_CHECK(
      (config.range.size() > 0 && to_int(config.range.upper) < kHandles) ||
          config.range == HandleRange::none(),
      fmt::format("handles {}..{}", to_int(config.range.lower), to_int(config.range.upper)));
  for (const Partition& other : partitions_) {
    FLITWISE_CHECK(!overlap(config.range, other.config.range),
                   fmt::format("handles {}..{} given twice", to_int(config.range.lower),
                               to_int(config.range.upper)));
  }
  const auto id = static_cast<std::uint16_t>(partitions_.size());
  for (unsigned bus = config.buses.secondary; bus <= config.buses.subordinate; ++bus) {
    FLITWISE_CHECK(by_bus_[bus] == kNone, fmt::format("bus {:02x} given twice", bus));
    by_bus_[bus] = id;
  }
  partitions_.push_back({config, {}});
  return PartitionId{id};
}

std::optional<PartitionId> HostHandleTable::partition_of(Bdf function) const {
  const std::uint16_t id = by_bus_[function.bus()];
  return id == kNone ? std::nullopt : std::optional<PartitionId>(PartitionId{id});
}

// ---- checks

HandleStatus HostHandleTable::check_sender(BusRange port, Bdf requester_id, Bdf named) const {
  if (!port.contains(named)) {
    return HandleStatus::kBusOutsidePort;
  }
  if (named != requester_id) {
    return HandleStatus::kRequesterMismatch;
  }
  return by_bus_[requester_id.bus()] == kNone ? HandleStatus::kHandleOutOfRange : HandleStatus::kOk;
}

HandleStatus HostHandleTable::check_epoch(std::uint16_t partition, std::uint8_t epoch) {
  const PartitionConfig& config = partitions_[partition].config;
  if (config.epoch == epoch) {
    return HandleStatus::kOk;
  }
  clear_range(config.range);
  return HandleStatus::kEpochMismatch;
}

HandleStatus HostHandleTable::check_entry(const AllocMessage& message) const {
  const HandleStatus granted = grants_.check(message);
  if (granted != HandleStatus::kOk) {
    return granted;
  }
  const Entry& entry = entries_[to_int(message.dhi)];
  const bool is_same = entry.identity == message.identity && entry.context == message.context;
  const bool is_over_other = entry.is_valid && !is_same;
  return is_over_other && dealloc_ == DeallocMode::kExplicit ? HandleStatus::kHandleInUse
                                                             : HandleStatus::kOk;
}

HandleStatus HostHandleTable::check_scope(std::uint16_t partition,
                                          const DeallocMessage& message) const {
  const HandleRange own = partitions_[partition].config.range;
  switch (message.scope) {
    case DeallocScope::kOne:
      if (!own.contains(message.dhi)) {
        return HandleStatus::kHandleOutOfRange;
      }
      return entries_[to_int(message.dhi)].is_valid ? HandleStatus::kOk
                                                    : HandleStatus::kNoValidEntry;
    case DeallocScope::kRange:
      return HandleRange{message.dhi, message.upper}.size() > 0 && own.contains(message.dhi) &&
                     own.contains(message.upper)
                 ? HandleStatus::kOk
                 : HandleStatus::kHandleOutOfRange;
    case DeallocScope::kFunction:
      return by_bus_[message.function.bus()] == partition ? HandleStatus::kOk
                                                          : HandleStatus::kRequesterMismatch;
    case DeallocScope::kAll: return HandleStatus::kOk;
  }
  return HandleStatus::kMalformed;
}

// ---- messages

HandleStatus HostHandleTable::allocate(BusRange port, Bdf requester_id,
                                       const AllocMessage& message) {
  const auto refuse = [&](HandleStatus status) {
    record_rejection(status, sender(port, requester_id));
    return status;
  };
  HandleStatus status = check_sender(port, requester_id, message.identity.bdf);
  if (status != HandleStatus::kOk) {
    return refuse(status);
  }
  const std::uint16_t partition = by_bus_[requester_id.bus()];
  status = check_epoch(partition, message.epoch);
  if (status != HandleStatus::kOk) {
    return refuse(status);
  }
  if (!partitions_[partition].config.range.contains(message.dhi)) {
    return refuse(HandleStatus::kHandleOutOfRange);
  }
  status = check_entry(message);
  if (status != HandleStatus::kOk) {
    // The device has already moved the handle on: what it names here is stale. [DHI S2]
    clear(message.dhi);
    return refuse(status);
  }
  store(partition, message);
  return HandleStatus::kOk;
}

void HostHandleTable::store(std::uint16_t partition, const AllocMessage& message) {
  Entry& entry = entries_[to_int(message.dhi)];
  clear(message.dhi);
  static_cast<Resolution&>(entry) = {message.identity, message.is_trusted, message.capabilities,
                                     message.context};
  entry.is_valid = true;
  entry.chain = std::exchange(buckets_[bucket_of(message.identity)], to_int(message.dhi));
  ++partitions_[partition].statistics.allocs;
}

HandleStatus HostHandleTable::deallocate(BusRange port, Bdf requester_id,
                                         const DeallocMessage& message) {
  HandleStatus status = check_sender(port, requester_id, requester_id);
  const std::uint16_t partition = by_bus_[requester_id.bus()];
  if (status == HandleStatus::kOk) {
    status = check_epoch(partition, message.epoch);
  }
  if (status == HandleStatus::kOk) {
    status = check_scope(partition, message);
  }
  if (status != HandleStatus::kOk) {
    record_rejection(status, sender(port, requester_id));
    return status;
  }
  apply(partitions_[partition].config.range, message);
  return status;
}

HandleStatus HostHandleTable::deallocate_by_software(const DeallocMessage& message) {
  constexpr HandleRange kWhole{Dhi{0}, Dhi{kHandleMask}};
  const bool is_about_device =
      message.scope == DeallocScope::kFunction || message.scope == DeallocScope::kAll;
  const HandleRange wanted = message.handles(kWhole);
  const std::uint16_t partition = by_bus_[message.function.bus()];
  if (is_about_device ? partition == kNone : wanted.size() == 0 || !kWhole.contains(wanted.upper)) {
    const HandleStatus status =
        is_about_device ? HandleStatus::kRequesterMismatch : HandleStatus::kHandleOutOfRange;
    record_rejection(status);
    return status;
  }
  apply(is_about_device ? partitions_[partition].config.range : kWhole, message);
  return HandleStatus::kOk;
}

// An entry that the device gave up by itself meanwhile is gone already, which is no error.
HandleStatus HostHandleTable::answered(PartitionId partition, const DeallocMessage& message,
                                       HandleStatus answer) {
  const auto index = static_cast<std::uint16_t>(partition);
  const PartitionConfig& config = partitions_[index].config;
  if (config.epoch != message.epoch) {
    return HandleStatus::kOk;
  }
  HandleStatus status = answer;
  if (status == HandleStatus::kOk) {
    const HandleStatus found = check_scope(index, message);
    status = found == HandleStatus::kNoValidEntry ? HandleStatus::kOk : found;
  }
  if (status == HandleStatus::kOk) {
    apply(config.range, message);
    return status;
  }
  if (status == HandleStatus::kEpochMismatch) {
    clear_range(config.range);
  }
  record_rejection(status, partition);
  return status;
}

// Clears what each device has of the handles, and counts it for that device.
void HostHandleTable::apply(HandleRange own, const DeallocMessage& message) {
  const std::optional<Bdf> function = message.scope == DeallocScope::kFunction
                                          ? std::optional<Bdf>(message.function)
                                          : std::nullopt;
  for (Partition& one : partitions_) {
    one.statistics.deallocs += clear_range(message.handles(own).common(one.config.range), function);
  }
}

// ---- whom an event is booked to

std::optional<PartitionId> HostHandleTable::sender(BusRange port, Bdf requester_id) const {
  if (port.contains(requester_id)) {
    return partition_of(requester_id);
  }
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (port.contains(first_of(partitions_[i]))) {
      return PartitionId{static_cast<std::uint16_t>(i)};
    }
  }
  return std::nullopt;
}

std::optional<PartitionId> HostHandleTable::sender(BusRange port, Dhi dhi) const {
  constexpr Bdf kRootComplex{};  // its bus is 0
  const std::optional<Bdf> first = owner(port, dhi);
  return first ? partition_of(*first) : sender(port, kRootComplex);
}

std::optional<Bdf> HostHandleTable::owner(BusRange port, Dhi dhi) const {
  for (const Partition& one : partitions_) {
    const Bdf first = first_of(one);
    if (one.config.range.contains(dhi) && port.contains(first)) {
      return first;
    }
  }
  return std::nullopt;
}

HostHandleStatistics HostHandleTable::statistics() const {
  HostHandleStatistics sum = others_;
  for (const Partition& one : partitions_) {
    sum += one.statistics;
  }
  return sum;
}

// ---- traffic

std::optional<Resolution> HostHandleTable::resolve(Dhi dhi) const {
  if (to_int(dhi) >= kHandles || !entries_[to_int(dhi)].is_valid) {
    return std::nullopt;
  }
  const Entry& entry = entries_[to_int(dhi)];
  const Bdf function = entry.identity.bdf;
  // [DHI D19, D20] The grant may have shrunk since the entry was made.
  const unsigned capabilities = entry.capabilities & grants_.capabilities(function);
  return Resolution{entry.identity, entry.is_trusted && grants_.is_trusted(function),
                    static_cast<std::uint16_t>(capabilities), entry.context};
}

std::optional<Resolution> HostHandleTable::resolve(Bdf requester_id, Dhi dhi) const {
  const std::optional<Resolution> resolution = resolve(dhi);
  return resolution && resolution->identity.bdf == requester_id ? resolution : std::nullopt;
}

std::optional<Dhi> HostHandleTable::find(const DeviceIdentity& identity) const {
  std::uint16_t handle = buckets_[bucket_of(identity)];
  while (handle != kNone && entries_[handle].identity != identity) {
    handle = entries_[handle].chain;
  }
  return handle == kNone ? std::nullopt : std::optional<Dhi>(Dhi{handle});
}

unsigned HostHandleTable::mismatches(const DeviceHandleTable& device) const {
  unsigned found = 0;
  for (unsigned i = 0; i < device.range().size(); ++i) {
    const auto at_device = device.resolve(device.range().at(i));
    const auto at_host = resolve(device.range().at(i));
    found +=
        at_device && at_host &&
                (at_device->identity != at_host->identity || at_device->context != at_host->context)
            ? 1
            : 0;
  }
  return found;
}

// ---- entries

std::size_t HostHandleTable::bucket_of(const DeviceIdentity& identity) {
  std::uint64_t key = identity.bdf.value;
  key = (key << kPasidBits) | (identity.pasid ? to_int(*identity.pasid) : 0U);
  key = (key << 3) | (identity.pasid ? 4U : 0U) | (identity.privileged_mode_requested ? 2U : 0U) |
        (identity.execute_requested ? 1U : 0U);
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15U;  // Fibonacci hashing
  return static_cast<std::size_t>((key * kGolden) >> 40) % kBuckets;
}

void HostHandleTable::clear(Dhi dhi) {
  if (entries_[to_int(dhi)].is_valid) {
    erase(dhi);
    if (gone_) {
      gone_(dhi);
    }
  }
}

void HostHandleTable::erase(Dhi dhi) {
  Entry& entry = entries_[to_int(dhi)];
  std::uint16_t* at = &buckets_[bucket_of(entry.identity)];
  while (*at != to_int(dhi)) {
    at = &entries_[*at].chain;
  }
  *at = entry.chain;
  entry.is_valid = false;
}

unsigned HostHandleTable::clear_range(HandleRange range, std::optional<Bdf> function) {
  unsigned count = 0;
  for (unsigned handle = to_int(range.lower); handle <= to_int(range.upper); ++handle) {
    const Entry& entry = entries_[handle];
    if (entry.is_valid && (!function || entry.identity.bdf == *function)) {
      clear(Dhi{static_cast<std::uint16_t>(handle)});
      ++count;
    }
  }
  return count;
}

// ---- reset

bool HostHandleTable::reset(PartitionId partition, HandleRange range, std::uint8_t epoch) {
  PartitionConfig& own = of(partition).config;
  for (unsigned i = 0; i < own.range.size(); ++i) {
    if (entries_[to_int(own.range.at(i))].is_valid) {
      erase(own.range.at(i));
    }
  }
  own = {own.buses, HandleRange::none(), epoch};
  const bool is_free =
      none_of(partitions_, [&](const auto& other) { return overlap(range, other.config.range); });
  const bool is_given = range.size() > 0 && to_int(range.upper) < kHandles && is_free;
  own.range = is_given ? range : HandleRange::none();
  return is_given || range == HandleRange::none();
}

}  // namespace flitwise
