// SPDX-License-Identifier: Apache-2.0
// The table of what joins the network ports of RDMA adapters.
#include "config/sections/sections.h"
#include "rdma/rdma_frame.h"

namespace flitwise::config {

namespace {

Key rate_key(const std::string& path, const Access<double>& member, std::uint64_t least,
             const std::string& sentence) {
  return rate(path, member, "Gb/s", bit_rate_dimension(), 1'000'000'000,
              between(least, 1'000'000'000'000'000), sentence);
}

}  // namespace

Keys network_keys() {
  constexpr Time kSecond = Time::from_us(1'000'000);
  return {
      choice(KEY(network.mode),
             "Adapters of devices with all that is behind them; or hosts that are a network port "
             "and the rules of SRDMA alone, for hundreds of them."),
      choice("network.topology", AT(network.topology),
             "What joins RDMA adapters: a cable between each two that name each other as peers, or "
             "one switch for all of them, by which several may have the same peer. Between hosts "
             "of mode packet: a cable between two, one switch, two switches with hosts at each "
             "(dumbbell), leaves and spines, or a fat tree of three stages."),
      count(KEY(network.hosts), between(2, 1024), "Hosts, named h0, h1 and so on."),
      count(KEY(network.leaf_spine.leaves), between(1, 256),
            "Leaf switches, leaf0 and so on, each with as many hosts as the others."),
      count(KEY(network.leaf_spine.spines), between(1, 256),
            "Spine switches, spine0 and so on, each with a link to every leaf."),
      count(KEY(network.dumbbell_links), between(1, 256), "Links between the two switches."),
      rate_key("network.rate", AT(network.rate_gbps), 1'000'000'000, "Of each link."),
      choice(KEY(network.switching),
             "A switch sends a packet on once all of it is there, or once its headers are."),
      choice(KEY(network.ecmp.hash), "Of the 5-tuple, by which a switch picks one of its ways."),
      flag("network.ecmp.symmetric", AT(network.ecmp.is_symmetric),
           "Both directions of a 5-tuple have one hash."),
      flag("network.ecmp.polarised", AT(network.ecmp.is_polarised),
           "All switches have one seed for their hash, so that those behind a switch see only "
           "some of its values."),
      count(KEY(network.routing.value), between(0, 255),
            "Packets whose ToS, masked, is this are routed adaptively."),
      count(KEY(network.routing.mask), between(0, 255), "Bits of ToS that count."),
      choice(KEY(network.routing.metric),
             "Adaptive routing takes the way with the shortest queue, or with the least use."),
      choice(KEY(network.routing.tie), "Which of several ways that are as good."),
      size(KEY(network.routing.level), between(1, Bytes{1} << 30),
           "Queues within a level of this size are as good."),
      time(KEY(network.routing.flowlet), between(Time{}, kSecond),
           "A 5-tuple keeps its way until it has paused for longer than this; 0: each packet has "
           "a way of its own."),
      time(KEY(network.routing.util_window), between(Time::from_ns(100), kSecond),
           "Over which use is measured."),
      flag("network.ecn.enabled", AT(network.ecn.is_on),
           "Switches mark packets in long queues, and drop early what cannot be marked."),
      size(KEY(network.ecn.kmin), between(0, Bytes{1} << 40), "No packet is marked up to this."),
      size(KEY(network.ecn.kmax), between(1, Bytes{1} << 40), "All are beyond this."),
      real(KEY(network.ecn.pmax), 0, 1, "Share of packets that is marked just below kmax."),
      flag("network.pfc.enabled", AT(network.pfc.is_on),
           "A switch whose queue for one neighbour is long keeps it from sending."),
      size(KEY(network.pfc.headroom), between(0, Bytes{1} << 40),
           "Room of a port for what is on the way when it stops its neighbour."),
      choice("network.background.kind", AT(network.background.kind),
             "Plain UDP packets that each host sends to others at random, beside its flows."),
      real(KEY(network.background.load), 0, 1, "Share of each host's link for them."),
      size(KEY(network.background.bytes), between(1, 4096), "Payload of such a packet."),
      time(KEY(network.background.on), between(Time::from_ns(100), kSecond), "Mean of a burst."),
      time(KEY(network.background.off), between(Time{}, kSecond), "Mean of the pause behind it."),
      peer_key(KEY(network.fault.link),
               "A link that fails, such as leaf0-spine1, both ways; none: none does.", "a link"),
      time(KEY(network.fault.at), between(Time{}, kSecond), "When, since the start."),
      time(KEY(network.fault.lasts), between(Time{}, kSecond), "For how long; 0: to the end."),
      rate_key("network.fault.rate", AT(network.fault.rate_gbps), 0,
               "What is left of its rate; 0: it is down."),
      flag(KEY(network.allow_cycles), "Routes may lead in circles, where nothing stops senders."),
      size("network.switch.queue", AT(network.switches.queue),
           between(wire_bytes_of(kLeastFrameBytes), Bytes{1} << 40),
           "Room at each output port of a switch, in bytes on the wire: for frames that have "
           "come, until their last bit has left; those without room are dropped."),
      time("network.switch.timing.latency", AT(network.switches.timing.latency), any_latency(),
           "Of a switch: from the last bit of a frame in to its first bit out, where the port is "
           "free."),
      time(KEY(network.timing.hop), any_latency(),
           "Of mode packet: from the last bit out of a node to where the next one has decided."),
      time(KEY(network.timing.detect), between(Time{}, kSecond),
           "From a link that goes down to switches that go around it."),
  };
}

}  // namespace flitwise::config
