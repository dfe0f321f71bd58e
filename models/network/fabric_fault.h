// SPDX-License-Identifier: Apache-2.0
/// The link of a network that fails or is slow for a time, as network.fault says. [NW-6]
#pragma once

#include <optional>

#include "flitwise/config.h"
#include "network/packet_fabric.h"

namespace flitwise {

class FabricFault {
 public:
  /// Its events are kFault. Both have to outlive it.
  FabricFault(const NetworkConfig& network, const NetworkPlan& plan, PacketFabric& fabric,
              EventQueue& events);

  /// Its event: the link fails, its loss is noticed, or it is as it was.
  void work(Time now);

 private:
  Time end() const { return lasts_ > Time{} ? at_ + lasts_ : Time::never(); }

  const std::optional<EdgeId> edge_;
  const Time at_, lasts_;
  const double rate_gbps_, loss_;
  bool has_begun_ = false;
  PacketFabric& fabric_;
  EventQueue& events_;
};

}  // namespace flitwise
