// SPDX-License-Identifier: Apache-2.0
/// What all hosts of a network of mode packet go by.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "network/flow_hash.h"
#include "network/ideal_time.h"
#include "network/network_plan.h"
#include "rdma/queue_pair.h"
#include "srdma/session_carrier.h"

namespace flitwise {

struct NetworkHostRules {
  SrdmaConfig srdma;
  CarrierRules carrier;
  QueuePairSetup pair;  ///< but for numbers and PSNs
  FlowHash hash = FlowHash::kCrc32c;
  bool is_symmetric = false;
  std::uint8_t data_tos = 0, answer_tos = 0;  ///< with ECN
  std::uint32_t extra_bytes = 0;              ///< of a secured packet [KY-5]
  Time retry{};                               ///< never: there is no timer [LR-3]
};
/// That a secured packet has more. [KY-5]
inline constexpr std::uint32_t kSecuredBytes = 24;

/// base: round trip of an empty path.
NetworkHostRules host_rules(const NetworkConfig& network, const SrdmaConfig& srdma, Time base);

/// A flow as WRITEs. is_direct: each packet says where it goes. [ROCE-2] [RX-2]
FlowFraming flow_framing(std::uint32_t mtu, bool is_secured, bool is_direct);
/// An ACK, as a flow without bytes.
FlowFraming ack_framing(const SrdmaConfig& srdma);
/// Of a full packet there and its ACK back over an empty path. Time ideal(FlowFraming, bytes): that
/// of a flow of so many bytes one way.
template <class Ideal>
Time base_round_trip(const SrdmaConfig& srdma, Ideal ideal) {
  FlowFraming packet = flow_framing(srdma.mtu, srdma.is_on && srdma.is_secured, false);
  packet.first = 0;
  return ideal(packet, srdma.mtu) + ideal(ack_framing(srdma), 0);
}

/// Of hosts from 0 to 1,023.
constexpr std::uint32_t address_of_host(NodeId host) {
  return 0x0a000001 + host;
}
constexpr NodeId host_of_address(std::uint32_t address) {
  return address - 0x0a000001;
}

}  // namespace flitwise
