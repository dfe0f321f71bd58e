// SPDX-License-Identifier: Apache-2.0
#include "network/network_host_rules.h"

#include <algorithm>

#include "network/network_setup.h"
#include "rdma/rdma_frame.h"

namespace flitwise {
namespace {

constexpr std::uint8_t kEct = 3;

/// 4.096 us x 2^t. [LR-3]
Time retry_time(unsigned timeout) {
  return timeout == 0 ? Time::never() : Time::from_ns(std::int64_t{4'096} << timeout);
}

}  // namespace

FlowFraming flow_framing(std::uint32_t mtu, bool is_secured, bool is_direct) {
  RdmaPacket packet;
  packet.payload_bytes = mtu;
  packet.names_place = is_direct;
  const auto overhead = [&](RdmaOpcode opcode) {
    packet.opcode = opcode;
    return wire_bytes_of(packet) - mtu + (is_secured ? kSecuredBytes : 0);
  };
  FlowFraming framing;
  framing.mtu = mtu;
  framing.overhead = overhead(RdmaOpcode::kWriteMiddle);
  framing.first = overhead(RdmaOpcode::kWriteFirst) - framing.overhead;
  return framing;
}

FlowFraming ack_framing(const SrdmaConfig& srdma) {
  RdmaPacket packet;
  packet.opcode = RdmaOpcode::kAck;
  packet.has_echo = srdma.is_on;
  packet.has_sack = srdma.is_on && srdma.sack;
  FlowFraming framing;
  framing.overhead = wire_bytes_of(packet) + (srdma.is_on && srdma.is_secured ? kSecuredBytes : 0);
  return framing;
}

NetworkHostRules host_rules(const NetworkConfig& network, const SrdmaConfig& srdma, Time base) {
  NetworkHostRules rules;
  rules.srdma = srdma;
  rules.hash = network.ecmp.hash;
  rules.is_symmetric = network.ecmp.is_symmetric;
  rules.retry = retry_time(srdma.timeout);
  rules.extra_bytes = srdma.is_on && srdma.is_secured ? kSecuredBytes : 0;
  rules.data_tos = data_tos(network, srdma);
  rules.answer_tos =
      rules.data_tos & kEct;  // model: queues mark answers as well, and drop none early

  QueuePairSetup& pair = rules.pair;
  const double rate = network.rate_gbps * 1e9;
  pair.rights = kAllRdmaRights;
  pair.mtu = srdma.mtu;
  pair.window = srdma.window > 0 ? srdma.window : window_for(rate, base, srdma.mtu);
  pair.send_depth = 32;
  pair.retries = srdma.retry_cnt;
  pair.ack_every = srdma.ack_every;
  pair.mode = srdma.receive;
  pair.recovery = srdma.receive == ReceiveMode::kInOrder ? Recovery::kGoBackN : srdma.recovery;
  pair.reorder_window = srdma.ooo_window;
  pair.nak_distance = srdma.ooo_window;
  pair.gap_time = srdma.timing.gap;
  pair.has_echo = srdma.is_on;
  pair.has_sack = srdma.sack;
  pair.ack_every_session = srdma.ack_every_session;
  pair.ack_delay = srdma.timing.ack_delay;
  pair.keeps_sent = true;
  const RateControl control = srdma.congestion.kind;
  pair.cnp = control == RateControl::kDcqcnQp        ? CnpMode::kQueuePair
             : control == RateControl::kDcqcnSession ? CnpMode::kSession
                                                     : CnpMode::kNone;
  pair.cnp_interval = srdma.timing.cnp;

  CarrierRules& carrier = rules.carrier;
  carrier.control = control;
  // Windows are shares of what a path holds by the sessions that there may be. [SG-3]
  carrier.sessions = srdma.sessions;
  if (srdma.is_on) {
    carrier.sessions =
        static_cast<unsigned>(std::min<std::uint64_t>(srdma.sessions, pairs_of_ports(srdma)));
  }
  carrier.rated = rate;
  carrier.is_secured = srdma.is_secured;
  carrier.packet_bytes = pair.mtu + flow_framing(pair.mtu, rules.extra_bytes > 0, false).overhead;
  carrier.dcqcn.line_rate = rate;
  carrier.dcqcn.scale = srdma.congestion.scale;
  const double path = rate * static_cast<double>(base.fs) / 8e15;  // bytes on an empty path
  carrier.window.additive = carrier.window.least = carrier.packet_bytes;
  carrier.window.initial = path + carrier.window.least;
  carrier.window.most = 1.5 * carrier.window.initial;

  BalancerSetup& balancer = carrier.balancer;
  balancer.monitor.has_echo = srdma.is_on;
  balancer.monitor.base_window = srdma.timing.base_window;
  balancer.monitor.rto = rules.retry == Time::never() ? retry_time(7) : rules.retry;
  if (srdma.is_on) {
    balancer.weights.algorithm = srdma.algorithm;
  }
  for (const std::uint64_t percent : srdma.weights) {
    balancer.weights.fixed.push_back(static_cast<double>(percent) / 100);
  }
  balancer.weights.gain = srdma.gain;
  if (srdma.weight_engine == WeightEngine::kSoftware) {
    balancer.apply_delay = srdma.timing.apply_delay;
  }
  balancer.weights.stale_time = srdma.timing.stale;
  balancer.choice.policy = srdma.is_on ? srdma.policy : ChoicePolicy::kSingle;
  balancer.choice.granularity = srdma.granularity;
  balancer.choice.tie = srdma.tie;
  balancer.choice.corrects_in_flight = srdma.beta > 0;
  balancer.choice.beta = std::max(1U, srdma.beta);
  balancer.control.is_on = srdma.is_on && srdma.control.is_on;
  balancer.control.interval = srdma.timing.control;
  balancer.control.mode = srdma.control.mode;
  balancer.control.quorum = srdma.control.quorum;
  balancer.control.threshold = srdma.control.threshold;
  balancer.control.relaxed = srdma.control.relaxed;
  balancer.control.most_cost = srdma.control.cost;
  balancer.control.least_sessions = srdma.min_sessions;
  balancer.control.most_sessions = srdma.max_sessions;
  // model: where nobody looks at weights, silent sessions alone are looked for, and no probe asks
  // for the sake of a weight: with many sessions probes would be more packets than data. [MO-3]
  const bool looks_at_weights =
      balancer.control.is_on || balancer.choice.policy < ChoicePolicy::kRoundRobin;
  balancer.weight_interval = looks_at_weights ? srdma.timing.weights : srdma.timing.stale;
  balancer.monitor.stale_time = looks_at_weights ? srdma.timing.stale : Time::never();
  balancer.agree();
  return rules;
}

}  // namespace flitwise
