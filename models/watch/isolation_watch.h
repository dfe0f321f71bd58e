// SPDX-License-Identifier: Apache-2.0
/// What hostile devices must not do to others, looked at from outside of all that holds them back:
/// memory, whether they write or read it, handle tables, the books of root ports, and the other
/// devices. [DHI S1] [DHI S2]
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/component.h"
#include "common/page.h"
#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "flitwise/observer.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "iommu/translation_agent.h"

namespace flitwise {

/// A packet that a hostile device has made, as against the TLPs of a script and what answers it.
inline bool is_hostile(const Packet& packet) {
  return is_sent_raw(packet) && packet.request == 0;
}

/// Addresses, both ends inside.
struct WatchedSpan {
  std::uint64_t first = 0, last = ~std::uint64_t{0};
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return address >= first && address <= last && bytes - 1 <= last - address;
  }
};

/// Judges what the configuration promises: Requester IDs where host.requester_check (and behind a
/// switch system.source_validation) is on, domains where host.dhi.grant is configured, memory where
/// each hostile device has a host.dma_window or tables of iommu.translation. Tables that a script
/// makes are not known here.
class IsolationWatch final : public Bystander {
 public:
  /// Memory that is compared, from address 0; beyond, accesses are judged by their address alone.
  static constexpr std::uint64_t kComparedBytes = std::uint64_t{256} << 20;

  IsolationWatch(const Config& config, const Fabric& fabric, HostNode& host);
  IsolationWatch(const IsolationWatch&) = delete;  // Root ports refer to it.
  IsolationWatch& operator=(const IsolationWatch&) = delete;

  /// Some device is hostile.
  bool is_needed() const { return !attackers_.empty(); }
  /// The engines are about to start: memory is to stay as it is, save what the others write.
  void begin();
  void notice(const Observation& seen);
  /// Host software has written inside one page, while devices run.
  void software_wrote(std::uint64_t address, std::uint64_t bytes);
  std::vector<CheckResult> checks() const override;
  /// Of memory, and of devices that do no harm.
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  using Page = std::array<std::uint8_t, kPageBytes>;
  struct Attacker {
    const FabricDevice* device = nullptr;
    HostConfig host;  ///< of the root port above
    DeviceShare share;
    bool is_known_by_id = false;
    bool is_confined = false;
    WatchedSpan memory;  ///< that it may touch
  };
  Attacker attacker_of(const Config& config, const FabricDevice& device) const;
  WatchedSpan memory_of(const Config& config, const Attacker& attacker) const;
  static bool may_name(const Attacker& attacker, const DeviceIdentity& identity);
  void accessed(const RootPort& port, const Packet& packet, std::uint64_t address);
  void judge_access(const RootPort& port, const Packet& packet, std::uint64_t address);
  void remember(std::uint64_t address, std::uint64_t bytes);
  void take_as_left(std::uint64_t address, std::uint64_t bytes);
  bool is_attackers(std::uint64_t page) const;
  bool holds_queues(std::uint64_t page) const;
  bool is_as_left(std::uint64_t page, const std::uint8_t* bytes) const;
  DeviceRange devices() const { return fabric_.devices_of(host_.number); }
  CheckResult memory_check() const;
  CheckResult accesses_check() const;
  static CheckResult refusals_check(const RootPort& port);
  static CheckResult handles_check(const FabricDevice& device);
  static bool may_fail(const FabricDevice& device);
  CheckResult device_check(const FabricDevice& device) const;

  const Fabric& fabric_;
  const HostNode& host_;
  MemoryPort& memory_;
  const TranslationAgent& agent_;
  const bool has_tables_;  // of iommu.translation
  const bool has_driver_;
  std::vector<Attacker> attackers_;
  bool has_begun_ = false, compares_memory_ = false;
  std::unordered_map<std::uint64_t, Page> pages_;               // by number; all others are 0
  std::unordered_map<const Packet*, std::uint64_t> writes_to_;  // others' on their way: where to
  /// Accesses of one kind that have reached memory.
  struct Reached {
    std::uint64_t count = 0, foreign = 0, elsewhere = 0;
  };
  Reached writes_, reads_;
  std::uint64_t poisoned_ = 0;
};

}  // namespace flitwise
