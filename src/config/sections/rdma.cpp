// SPDX-License-Identifier: Apache-2.0
// Tables of what sends by RDMA: software that posts work requests, and the adapter of a device.
#include "config/sections/sections.h"
#include "rdma/command_buffer.h"
#include "rdma/ring_entries.h"

namespace flitwise::config {

Keys verbs_keys() {
  return {
      size(
          "host.verbs.inline", AT(host.verbs.most_inline),
          or_zero_as("none", between(1, kMostInlineBytes)),
          "Work requests with payload up to this go to the adapter in a command, payload included, "
          "by stores of 64 bytes, instead of a doorbell; so do READs and atomics. none: all are "
          "read from their ring."),
      word("host.verbs.completions",
           {[](const Config& c) {
              return spelling(c.host.verbs.waits_for_interrupt ? DriverWait::kInterrupt
                                                               : DriverWait::kPoll);
            },
            [](Config& c, const std::string& name) {
              c.host.verbs.waits_for_interrupt = *named<DriverWait>(name) == DriverWait::kInterrupt;
            }},
           words_of<DriverWait>(),
           "Software looks at completion queues again and again, or arms them, so that the adapter "
           "interrupts it."),
      count(KEY(host.verbs.hostile), between(0, 255),
            "Functions of each device, the last that carry the workload, whose software writes "
            "anything into its own rings and BAR 0 instead of work requests."),
      time(KEY(host.verbs.timing.post), any_latency(),
           "Software makes a work request, writes it into its ring and rings the doorbell."),
      time(KEY(host.verbs.timing.store), any_latency(), "64 bytes of a command, beside that."),
      time(KEY(host.verbs.timing.poll), between(Time::from_ns(1), Time::from_us(1'000)),
           "Between two looks of software at a completion queue."),
      time(KEY(host.verbs.timing.completion), any_latency(),
           "Software takes an entry of a completion queue."),
      time(
          KEY(host.verbs.timing.trap), any_latency(),
          "The hypervisor carries out a command of a virtual function's driver: ten for each queue "
          "pair, and two more, before a virtual function posts its first work request."),
      time(KEY(host.verbs.timing.interrupt), any_latency(),
           "From an interrupt of the adapter at the root port to the handler's look."),
  };
}

namespace {

template <class At>
Access<std::vector<std::uint64_t>> list(At at) {
  return {[at](const Config& c) {
            const std::vector<unsigned>& kept = *at(c);
            return std::vector<std::uint64_t>(kept.begin(), kept.end());
          },
          [at](Config& c, const std::vector<std::uint64_t>& all) {
            at(c)->assign(all.begin(), all.end());
          }};
}

}  // namespace

Keys rdma_keys() {
  constexpr Bytes kLeastMemory = Bytes{8} << 10, kMostMemory = Bytes{1} << 30;
  return {
      peer_key(KEY(device.rdma.peer),
               "Device at the other end of the cable, or on the switch, whose memory work requests "
               "are about; none: the device posts nothing, and serves those that name it."),
      count(KEY(device.rdma.mtu), only({256, 512, 1024, 2048, 4096}), "Path MTU, in bytes."),
      count(KEY(device.rdma.queue), power_of_two(1, 4096),
            "Entries of the send queue and of the receive queue of a queue pair; each domain of "
            "the workload has one queue pair."),
      count(KEY(device.rdma.cq), power_of_two(2, 65536),
            "Entries of each of the two completion queues of a function that carries the workload, "
            "one for sends and one for receives."),
      count(KEY(device.rdma.cqe), only({32, 64}), "Bytes of such an entry."),
      count(KEY(device.rdma.window), between(1, (1U << 23) - 1),
            "PSNs of a queue pair without acknowledgement."),
      count(KEY(device.rdma.max_rd_atomic), between(1, 128),
            "READs and atomics of a queue pair that are outstanding, and that its peer "
            "remembers."),
      count(KEY(device.rdma.timeout), between(0, 31),
            "t of the retry timer of 4.096 us x 2^t; 0: there is none."),
      count(KEY(device.rdma.retry_cnt), between(0, 7),
            "Time-outs without progress that are retried."),
      count(KEY(device.rdma.ack_every), between(1, 1U << 16),
            "Packets that ask for no ACK before one is sent all the same; each 64th asks for one."),
      count(KEY(device.rdma.qpsc_entries), between(1, 1U << 20),
            "Queue pairs whose state the adapter holds; the state of others is read from host "
            "memory, and written back."),
      count(KEY(device.rdma.wqe_batch), between(1, 64),
            "Entries of a ring that one read asks for."),
      count(KEY(device.rdma.fifo), between(1, 4096), "Entries of the queue before a stage."),
      size(KEY(device.rdma.dma_memory), between(kLeastMemory, kMostMemory),
           "Memory of the adapter for payload that is to be sent."),
      size(KEY(device.rdma.payload_ram), between(kLeastMemory, kMostMemory),
           "Memory of the adapter for frames that have come; one without room is dropped."),
      rate("device.rdma.port.rate", AT(device.rdma.port.rate_gbps), "Gb/s", bit_rate_dimension(),
           1'000'000'000, between(1'000'000, 10'000'000'000'000), "Rate of the network port."),
      time(KEY(device.rdma.port.propagation), any_latency(),
           "On the cable to the peer, or to the switch."),
      real(KEY(device.rdma.cable.loss), 0, 1,
           "Share of the frames that the device sends which the cable loses."),
      real(KEY(device.rdma.cable.duplication), 0, 1,
           "Share of them that come twice, the second time late."),
      real(KEY(device.rdma.cable.corruption), 0, 1, "Share of them that come with one other bit."),
      real(KEY(device.rdma.cable.reordering), 0, 1,
           "Share of them that come late, so that others pass them."),
      time(KEY(device.rdma.cable.delay), between(Time::from_ns(1), Time::from_us(1'000)),
           "How late frames come that come late."),
      flag("device.rdma.pretranslation.enabled", AT(device.rdma.pretranslation.is_on),
           "Firmware translates the addresses of states, rings and completion queues ahead of use, "
           "by Translation Requests of its own."),
      size(KEY(device.rdma.pretranslation.page_size),
           only({Bytes{4} << 10, Bytes{2} << 20, Bytes{1} << 30}),
           "A structure has to lie in one page of this size."),
      word("device.rdma.pretranslation.on_invalidation",
           {[](const Config& c) {
              return std::string(c.device.rdma.pretranslation.clears ? "clear" : "restore");
            },
            [](Config& c, const std::string& name) {
              c.device.rdma.pretranslation.clears = name == "clear";
            }},
           {"restore", "clear"},
           "What an invalidation makes of the address of a structure: that of the guest again, or "
           "none, so that accesses wait for the next look."),
      flag("device.rdma.pretranslation.retranslate", AT(device.rdma.pretranslation.retranslates),
           "Translate again what an invalidation took."),
      count(KEY(device.rdma.pretranslation.requests), between(1, 1024),
            "Translation Requests of the firmware that are out."),
      time(KEY(device.rdma.pretranslation.timing.period),
           between(Time::from_us(1), Time::from_us(1'000'000)),
           "Between two looks of the firmware at all structures, while some are left to be "
           "translated."),
      time(KEY(device.rdma.pretranslation.timing.retry),
           between(Time::from_us(1), Time::from_us(1'000'000)),
           "From a failure to the next attempt; twice as long with each."),
      time(KEY(device.rdma.pretranslation.timing.longest_retry),
           between(Time::from_us(1), Time::from_us(1'000'000)), "The longest such time."),
      counts("device.rdma.shares.kicks", list(AT(device.rdma.shares.kicks)),
             between(1, ShareCommand::kMostWeight),
             "Weights of the functions that carry the workload, in their order: how often each has "
             "its turn at the virtual kick and at the packet builder; []: all queue pairs alike."),
      counts("device.rdma.shares.states", list(AT(device.rdma.shares.states)), between(1, 1U << 20),
             "Entries of the cache of states that each of them has for itself; those beyond the "
             "list share the rest. []: all share it."),
      counts("device.rdma.shares.later", list(AT(device.rdma.shares.later)),
             between(1, ShareCommand::kMostWeight),
             "Other weights, which a control VM commands later; []: none."),
      time("device.rdma.shares.change_at", AT(device.rdma.shares.change_at),
           between(Time{}, Time::from_us(1'000'000)), "When it does, since the workload began."),
      count(KEY(device.rdma.hostile_frames), between(0, 100'000),
            "Forged frames behind each thousand that the device sends, as chance has it: any field "
            "may be wrong, checksums are right. Queue pairs that they hit end in error."),
      time(KEY(device.rdma.timing.clock), any_clock(),
           "Clock period of the adapter: 64 bytes pass a stage in each."),
      time(KEY(device.rdma.timing.collect), any_latency(),
           "Collect buffer controller: a doorbell, beside a clock for each 64 bytes."),
      time(KEY(device.rdma.timing.kick), any_latency(), "Virtual kick: whose turn it is."),
      time(KEY(device.rdma.timing.fetch), any_latency(),
           "Queue pair fetch, where the state is held."),
      time(KEY(device.rdma.timing.build), any_latency(),
           "Packet builder, beside a clock for each 64 bytes."),
      time(KEY(device.rdma.timing.complete), any_latency(), "Completion: an entry is made."),
      time(KEY(device.rdma.timing.check), any_latency(), "Packet receiver: checks of a frame."),
      time(KEY(device.rdma.timing.receive), any_latency(), "Receive: checks of a packet in order."),
      time(KEY(device.rdma.timing.entry), any_latency(),
           "Receive queue entry handler, where the entry is held."),
      time(KEY(device.rdma.timing.validate), any_latency(),
           "DMA validation: keys, before payload goes to host memory."),
  };
}

}  // namespace flitwise::config
