// SPDX-License-Identifier: Apache-2.0
/// The host's end of the handle table: one per device, or one that several devices share in
/// contiguous ranges. Rules in docs/rules/dhi.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "dhi/grant_table.h"
#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

class DeviceHandleTable;

/// Index of one device's share of a table.
enum class PartitionId : std::uint16_t {};

/// One device of a table: its buses and its handles. [DHI D2, D6]
struct PartitionConfig {
  BusRange buses;  ///< all Requester IDs of the device
  HandleRange range;
  std::uint8_t epoch = 0;
};

/// What a handle stands for at the host. Trust and capabilities are already cut to the grant;
/// whoever has a T bit in the packet ANDs it as well. [DHI D16, D19, D20]
struct Resolution {
  DeviceIdentity identity;
  bool is_trusted = false;
  std::uint16_t capabilities = 0;
  ContextId context{};  ///< of the process, where the entry names one [DHI D22]
};

/// What was done with the handles of one device. Unit: events.
struct HostHandleStatistics {
  std::uint64_t allocs = 0;
  std::uint64_t deallocs = 0;                               ///< entries
  std::array<std::uint64_t, kHandleStatuses> rejections{};  ///< by HandleStatus; [0] stays 0
  std::uint64_t wrong_domain = 0;  ///< handles that gave another domain than the sender meant
  std::uint64_t rejected() const;
  HostHandleStatistics& operator+=(const HostHandleStatistics& other);
};

/// Host end of the table [DHI D1, D2]. resolve() is an array look-up. `grants` must outlive it.
class HostHandleTable {
 public:
  HostHandleTable(DeallocMode dealloc, const GrantTable& grants);

  /// REQUIRES: range not empty, inside 0..4095 and apart from all others; buses apart too.
  /// HandleRange::none(): without handles until reset() gives it some.
  PartitionId add_partition(const PartitionConfig& config);
  std::optional<PartitionId> partition_of(Bdf function) const;
  /// Who hears that a valid entry goes, or gets another domain: not of a reset, which takes the
  /// device's own as well.
  void on_gone(std::function<void(Dhi)> gone) { gone_ = std::move(gone); }

  // ---- messages from the link, and software's registers acting like them [DHI D12, D14, D15]
  /// D14's checks in order. Repeating an applied ALLOC is kOk. A refusal changes nothing of others:
  /// a wrong epoch clears the sender's own entries, and a refusal of what it wanted for a handle of
  /// its own leaves that handle invalid, since the device no longer means the old domain by it
  /// [DHI S2].
  HandleStatus allocate(BusRange port, Bdf requester_id, const AllocMessage& message);
  HandleStatus deallocate(BusRange port, Bdf requester_id, const DeallocMessage& message);
  /// Software's deallocation: no sender, no epoch; kOne and kRange reach the whole table, kAll the
  /// device that has message.function. [DHI D15]
  HandleStatus deallocate_by_software(const DeallocMessage& message);

  // ---- orders: the device gives handles up first, then the host [DHI D15]
  /// Whether a message may come from there: a function of a device of the table, below the port,
  /// which names itself.
  HandleStatus check_sender(BusRange port, Bdf requester_id, Bdf named) const;
  /// The device has answered an order. Frees what it covers of the device's own if the device has
  /// given it up, and all that the device has if its epoch is another [DHI D4]; else the refusal
  /// is counted. Nothing is left to do where the device got another epoch since. Returns what came
  /// of it.
  HandleStatus answered(PartitionId partition, const DeallocMessage& message, HandleStatus answer);

  // ---- whom an event is booked to: the device that sent the packet, or none of the table's
  /// The device with the Requester ID; the one below the port where that ID is from elsewhere.
  std::optional<PartitionId> sender(BusRange port, Bdf requester_id) const;
  /// The device that owns the handle, under the same condition.
  std::optional<PartitionId> sender(BusRange port, Dhi dhi) const;
  /// The first function of the device below the port whose range holds the handle. [DHI D2]
  std::optional<Bdf> owner(BusRange port, Dhi dhi) const;
  /// A message that could not be read, or that failed elsewhere, counted with the others.
  void record_rejection(HandleStatus status, std::optional<PartitionId> sender = std::nullopt) {
    ++books_of(sender).rejections[static_cast<std::size_t>(status)];
  }
  void record_wrong_domain(std::optional<PartitionId> sender) { ++books_of(sender).wrong_domain; }

  // ---- traffic
  /// Direct attach and rid_* forms: the handle alone decides. Empty: no valid entry; the caller
  /// answers as D16 says and calls record_rejection(kNoValidEntry).
  std::optional<Resolution> resolve(Dhi dhi) const;
  /// Forms that keep the Requester ID: the entry must be of that very function. [DHI S1]
  std::optional<Resolution> resolve(Bdf requester_id, Dhi dhi) const;
  /// Handle for a message that goes down: of the process itself or of any context of it, the latest
  /// one of several. [DHI D21]
  std::optional<Dhi> find(const DeviceIdentity& identity) const;
  /// Number of handles that are valid at both ends for different domains. Entries that only one end
  /// has are no mismatch: their messages may be under way. [DHI S2]
  unsigned mismatches(const DeviceHandleTable& device) const;

  // ---- reset [DHI D4]
  /// All entries of the device go; from now on it has these handles, or HandleRange::none(). False:
  /// they are not all in the table or not all free; then it has none. [DHI D5, D6]
  bool reset(PartitionId partition, HandleRange range, std::uint8_t epoch);

  // ---- queries
  HandleRange range(PartitionId partition) const { return of(partition).config.range; }
  /// The first function of the device.
  Bdf first_function(PartitionId partition) const { return first_of(of(partition)); }
  std::uint8_t epoch(PartitionId partition) const { return of(partition).config.epoch; }
  /// Of one device since the start or reset_statistics().
  const HostHandleStatistics& statistics(PartitionId partition) const {
    return of(partition).statistics;
  }
  /// Of packets from devices that have no share of the table.
  const HostHandleStatistics& statistics_of_others() const { return others_; }
  HostHandleStatistics statistics() const;  ///< of all together
  void reset_statistics(PartitionId partition) { of(partition).statistics = {}; }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  struct Entry : Resolution {     // trust and capabilities: as the device asked for
    std::uint16_t chain = kNone;  // next handle of the same hash
    bool is_valid = false;
  };
  struct Partition {
    PartitionConfig config;
    HostHandleStatistics statistics;
  };

  const Partition& of(PartitionId id) const { return partitions_.at(static_cast<std::size_t>(id)); }
  Partition& of(PartitionId id) { return partitions_.at(static_cast<std::size_t>(id)); }
  static Bdf first_of(const Partition& one) { return Bdf::of(one.config.buses.secondary, 0, 0); }
  HandleStatus check_epoch(std::uint16_t partition, std::uint8_t epoch);
  HandleStatus check_entry(const AllocMessage& message) const;
  HandleStatus check_scope(std::uint16_t partition, const DeallocMessage& message) const;
  HostHandleStatistics& books_of(std::optional<PartitionId> sender) {
    return sender ? of(*sender).statistics : others_;
  }
  void apply(HandleRange own, const DeallocMessage& message);
  void store(std::uint16_t partition, const AllocMessage& message);
  void clear(Dhi dhi);
  void erase(Dhi dhi);
  unsigned clear_range(HandleRange range, std::optional<Bdf> function = std::nullopt);
  static std::size_t bucket_of(const DeviceIdentity& identity);

  DeallocMode dealloc_;
  const GrantTable& grants_;
  std::function<void(Dhi)> gone_;  // may be empty
  std::vector<Partition> partitions_;
  std::vector<Entry> entries_;             // by handle
  std::vector<std::uint16_t> buckets_;     // first handle of each hash
  std::array<std::uint16_t, 256> by_bus_;  // bus -> partition
  HostHandleStatistics others_;
};

}  // namespace flitwise
