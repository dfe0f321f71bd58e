// SPDX-License-Identifier: Apache-2.0
/// Components that compare others: the two ends of handles, and what goes in with what comes out.
#pragma once

#include <cstdint>
#include <vector>

#include "common/component.h"
#include "fabric/fabric.h"

namespace flitwise {

/// The handles of one device, at both of their ends.
class HandlePair final : public Bystander {
 public:
  explicit HandlePair(const FabricDevice& device) : Bystander(device.name), device_(device) {}

  void start_window() override;
  void report(RunResult& result) const override;
  /// Both ends of a conforming device agree. [DHI S2]
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  std::optional<PartitionId> partition() const;

  const FabricDevice& device_;
};

/// Handle messages of devices that have no share of a table.
class HandleStrangers final : public Bystander {
 public:
  explicit HandleStrangers(const HostHandles& handles)
      : Bystander("host handles"), handles_(handles) {}

  Counts errors() const override {
    return {{"handle_without_partition", handles_.table().statistics_of_others().rejected()}};
  }

 private:
  const HostHandles& handles_;
};

/// Payload of MWr: what devices sent is in memory, was an interrupt, was refused and counted, or
/// was lost with a link that went down. A switch on the way may refuse some, or send it to another
/// device, and is looked at on either side.
class PostedBytes final : public Bystander {
 public:
  explicit PostedBytes(const Fabric& fabric) : Bystander("posted bytes"), fabric_(fabric) {}

  std::vector<CheckResult> checks() const override;

 private:
  std::vector<CheckResult> checks_of_switches(std::uint64_t sent, std::uint64_t settled) const;

  const Fabric& fabric_;
};

/// Packets that somebody has and nobody should.
class PacketBalance final : public Bystander {
 public:
  explicit PacketBalance(const Fabric& fabric) : Bystander("packets"), fabric_(fabric) {}

  std::vector<CheckResult> checks() const override;

 private:
  const Fabric& fabric_;
};

}  // namespace flitwise
