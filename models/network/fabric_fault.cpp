// SPDX-License-Identifier: Apache-2.0
#include "network/fabric_fault.h"

#include "network/network_setup.h"

namespace flitwise {

FabricFault::FabricFault(const NetworkConfig& network, const NetworkPlan& plan,
                         PacketFabric& fabric, EventQueue& events)
    : edge_(fault_edge(network, plan)),
      at_(network.fault.at),
      lasts_(network.fault.lasts),
      rate_gbps_(network.fault.rate_gbps),
      loss_(network.fault.loss),
      fabric_(fabric),
      events_(events) {
  if (edge_) {
    events_.add(at_, event_of(NetworkEvent::kFault, *edge_));
  }
}

void FabricFault::work(Time now) {
  if (!has_begun_) {
    has_begun_ = true;
    fabric_.set_loss(*edge_, loss_);
    if (rate_gbps_ > 0) {
      fabric_.set_rate(*edge_, rate_gbps_, now);
    } else if (loss_ == 0) {
      fabric_.take_down(*edge_, now);
      events_.add(fabric_.next_detection(), event_of(NetworkEvent::kFault, *edge_));
    }
    if (lasts_ > Time{}) {
      events_.add(end(), event_of(NetworkEvent::kFault, *edge_));
    }
  } else if (now == end()) {
    fabric_.set_loss(*edge_, 0);
    if (rate_gbps_ > 0) {
      fabric_.restore_rate(*edge_, now);
    } else if (loss_ == 0) {
      fabric_.bring_up(*edge_, now);
    }
  } else {
    fabric_.detect(now);
  }
}

}  // namespace flitwise
