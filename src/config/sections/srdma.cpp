// SPDX-License-Identifier: Apache-2.0
// Tables of session groups, and of the flows between hosts of a network of packets.
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

/// Of sessions, and another name of round_robin, for all that looks at no weights.
std::vector<std::string> policies() {
  auto words = words_of<ChoicePolicy>();
  words.emplace_back("oblivious");
  return words;
}

}  // namespace

Keys srdma_keys() {
  constexpr Time kSecond = Time::from_us(1'000'000), kLongest = Time::from_us(1'000'000'000);
  const Limits interval = between(Time::from_ns(100), kSecond);
  return {
      flag("device.srdma.enabled", AT(device.srdma.is_on),
           "Queue pairs spread their packets over sessions; else each is plain RoCEv2 to UDP port "
           "4791, with a source port of its own."),
      count(KEY(device.srdma.mtu), only({256, 512, 1024, 2048, 4096}),
            "Path MTU, in bytes; of an adapter device.rdma.mtu is."),
      count(KEY(device.srdma.groups), between(1, 256),
            "Session groups between two adapters: their queue pairs are shared out between these, "
            "256 to a group at most."),
      count(KEY(device.srdma.sessions), between(1, 64), "Of a session group, at its start."),
      count(KEY(device.srdma.min_sessions), between(1, 64), "Control closes none below this."),
      count(KEY(device.srdma.max_sessions), between(1, 64), "Control adds none beyond this."),
      count(KEY(device.srdma.first_port), between(1, 65'535),
            "UDP ports of sessions, source and destination: the first one."),
      count(KEY(device.srdma.last_port), between(1, 65'535), "And the last one."),
      flag("device.srdma.secured", AT(device.srdma.is_secured),
           "Packets of sessions are encrypted: 24 bytes more each."),
      choice(KEY(device.srdma.connect),
             "Of mode packet: groups stand when the run begins; two hosts connect, and flows "
             "between them begin then; or the first flow asks for the group, and waits for it."),
      count(KEY(device.srdma.cm_port), between(1, 65'535),
            "UDP port of control messages, source and destination: no session has it."),
      flag(KEY(device.srdma.cm_plain), "Control messages are not encrypted: 24 bytes less each."),
      count(KEY(device.srdma.cm_retries), between(0, 63),
            "So often a control message is sent again; then what it asks for has failed."),
      choice(KEY(device.srdma.on_down),
             "Queue pairs of a group without a session wait, or fail at once."),
      time(KEY(device.srdma.keys.lifetime), between(Time::from_us(1), kLongest),
           "Of the key of a session."),
      time(KEY(device.srdma.keys.refresh_margin), between(Time{}, kLongest),
           "A new key is asked for so long before the end of one."),
      time(KEY(device.srdma.keys.grace), between(Time{}, kLongest),
           "Packets of a key are still taken so long behind its end."),
      choice("device.srdma.keys.rekey_engine", AT(device.srdma.keys.engine),
             "Who changes keys: the adapter, without a gap, or software, while the session sends "
             "nothing."),
      time("device.srdma.keys.rekey_delay", AT(device.srdma.keys.software_delay),
           between(Time{}, kSecond), "Of software, before it uses a new key."),
      flag("device.srdma.keys.replace_on_expiry", AT(device.srdma.keys.replaces),
           "A session whose key has ended is replaced even where others are left."),
      choice(KEY(device.srdma.algorithm), "How a session group weighs its sessions."),
      counts(KEY(device.srdma.weights), between(0, 100),
             "Weights of sessions in percent, in their order, by algorithm static; 0 for those "
             "beyond the list."),
      real("device.srdma.gain", AT(device.srdma.gain), 0.001, 1,
           "Gain of the moving average of levels and weights; 1: the last figure alone."),
      choice(KEY(device.srdma.weight_engine),
             "Who puts new weights into force: the adapter, at once, or software, later."),
      word("device.srdma.policy",
           {[](const Config& c) { return spelling(c.device.srdma.policy); },
            [](Config& c, const std::string& name) {
              c.device.srdma.policy = named<ChoicePolicy>(name).value_or(ChoicePolicy::kRoundRobin);
            }},
           policies(),
           "Which session a packet takes: the one with the lowest weight; by a hash with weights, "
           "exact or as a table; each in turn, whatever the weights (round_robin, or oblivious); "
           "by chance; always the first."),
      choice(KEY(device.srdma.granularity),
             "What keeps a session: a packet, a message, a flowlet."),
      choice(KEY(device.srdma.tie), "Which of several sessions with the lowest weight."),
      count(
          KEY(device.srdma.beta), or_zero_as("off", between(1, 65'536)),
          "Packets in flight on a session that add 1 to its weight in that choice; off: none do."),
      flag(KEY(device.srdma.adaptive_routing),
           "Data packets have the ToS that switches route adaptively."),
      flag("device.srdma.control.enabled", AT(device.srdma.control.is_on),
           "Sessions are added to groups that are congested, and closed where they cost much."),
      choice(KEY(device.srdma.control.mode),
             "How many sessions above the threshold make a group congested."),
      count(KEY(device.srdma.control.quorum), between(1, 64), "That many, in mode quorum."),
      real(KEY(device.srdma.control.threshold), 0, 1, "Level above which a session is congested."),
      real(KEY(device.srdma.control.relaxed), 0, 1, "Level below which it is relaxed."),
      real(KEY(device.srdma.control.cost), 0, 1e6,
           "A relaxed group with more sessions than this closes one."),
      choice(KEY(device.srdma.receive),
             "What becomes of packets ahead of a gap: dropped, held, or placed at once."),
      count(KEY(device.srdma.ooo_window), power_of_two(1, 65'536),
            "Packets of a queue pair ahead of a gap that are held."),
      choice(KEY(device.srdma.recovery), "What is sent again after a loss."),
      flag(KEY(device.srdma.sack), "ACKs have a bitmap of what is held behind a gap."),
      count(
          KEY(device.srdma.window), or_zero_as("auto", between(1, (1U << 23) - 1)),
          "PSNs of a queue pair without acknowledgement; auto: twice what is on the way, or 256."),
      count(KEY(device.srdma.timeout), between(0, 31),
            "t of the retry timer of 4.096 us x 2^t; 0: there is none."),
      count(KEY(device.srdma.retry_cnt), between(0, 7),
            "Time-outs without progress that are retried."),
      count(KEY(device.srdma.ack_every), between(1, 1U << 16),
            "Packets that ask for no ACK before one is sent all the same."),
      count(KEY(device.srdma.ack_every_session), between(1, 1U << 16),
            "Packets of one session before one is sent, where there are several."),
      choice("device.srdma.congestion.kind", AT(device.srdma.congestion.kind),
             "What slows a sender down: rates by DCQCN of a queue pair or of each session, or by "
             "marks and delay a window of each session, or one of the whole group."),
      real(KEY(device.srdma.congestion.scale), 0.01, 100,
           "Of the additive step of DCQCN, published for 40 Gb/s."),
      time(KEY(device.srdma.timing.weights), interval, "Between two updates of weights."),
      time(KEY(device.srdma.timing.apply_delay), interval,
           "Of weights that software puts into force; it takes no other ones meanwhile."),
      time(KEY(device.srdma.timing.control), interval,
           "Between two decisions on sessions, and between two messages to the peer that say how "
           "old its gaps may be."),
      time(
          KEY(device.srdma.timing.gap), interval,
          "How old a gap is before a NAK asks for it; with a handshake until the peer tells of 1.5 "
          "times its largest round trip."),
      time(KEY(device.srdma.timing.ack_delay), any_latency(), "A receiver holds an ACK so long."),
      time(KEY(device.srdma.timing.stale), interval, "Without an echo a session is probed."),
      time(KEY(device.srdma.timing.base_window), interval,
           "Over which the least round trip counts as that of an empty network."),
      time(KEY(device.srdma.timing.cnp), interval, "Between two CNPs of a receiver."),
      time(KEY(device.srdma.timing.handshake), interval,
           "Without an answer a control message is sent again."),
      time(KEY(device.srdma.timing.drain), interval,
           "A session that closes waits so long for packets on their way."),
      time(KEY(device.srdma.timing.down), interval,
           "Without any session queue pairs wait so long before they fail."),
  };
}

Keys flow_keys() {
  return {
      choice("workload.flows.pattern", AT(workload.flows.pattern),
             "Which hosts send to which: each to another one; all to one; each to all; to the next "
             "one, step by step; to any, with sizes of workload.sizes; or as a trace says."),
      size(KEY(workload.flows.bytes), between(1, Bytes{1} << 31), "Of a flow."),
      real(KEY(workload.flows.load), 0.001, 1, "Share of each host's link, pattern sizes."),
      count(KEY(workload.flows.queue_pairs), between(1, 256),
            "Between two hosts: they share one session group, and flows take them in turn."),
      count(KEY(workload.flows.parts), between(1, 256),
            "Of a flow, as long as each other: each takes a queue pair, and the flow is over when "
            "all are."),
      count(KEY(workload.flows.count), between(1, 100'000'000), "Flows, pattern sizes."),
  };
}

}  // namespace flitwise::config
