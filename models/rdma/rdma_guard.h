// SPDX-License-Identifier: Apache-2.0
/// Sees each access of an RDMA adapter to host memory, at the root port, and holds it against what
/// its software has granted: rings, queues and states for what they are for, and payload within the
/// regions of the kind of request. Where somebody tries to get by the rules it is the proof that
/// nobody did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/component.h"
#include "flitwise/packet.h"
#include "rdma/verbs_config.h"

namespace flitwise {

class RdmaGuard final : public Bystander {
 public:
  RdmaGuard(std::string device, const VerbsDriverConfig& config);

  /// A request of the device comes to memory there.
  void see(const Packet& packet, std::uint64_t address);

  std::vector<CheckResult> checks() const override;

 private:
  const std::string device_;
  const VerbsDriverConfig config_;
  unsigned readable_, writable_;  // bits of RdmaPart
  std::uint64_t seen_ = 0, beyond_ = 0;
  std::string first_;  // that was beyond
};

}  // namespace flitwise
