// SPDX-License-Identifier: Apache-2.0
// Tables of what sends by PIO: the cores of a host, and the send memory of a device.
#include <fmt/format.h>

#include <optional>

#include "config/sections/sections.h"
#include "pio/launch.h"
#include "pio/sdma_ring.h"
#include "pio/vl_arbiter.h"

namespace flitwise::config {
namespace {

// A list of pairs [vl, weight]; empty: none.
Key vl_weights(const std::string& path, const Access<VlWeights>& member,
               const std::string& sentence) {
  const std::string range =
      fmt::format("a list of up to {} pairs [vl, weight], VL 0 to {}, weight 0 to {}",
                  kVlTableEntries, kDataVls - 1, kMostVlWeight);
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    const auto number = [](const Value& item, std::uint64_t most) {
      const auto seen = read_whole(item.text);
      return item.kind == Value::Kind::kScalar && seen.value && *seen.value <= most
                 ? std::optional(static_cast<unsigned>(*seen.value))
                 : std::nullopt;
    };
    const auto refuse = [&](const Value& wrong, const std::string& seen) {
      context.report(wrong.place,
                     fmt::format("{}; expected {}, such as [[0, 3], [1, 1]]", seen, range));
    };
    if (value.kind != Value::Kind::kSequence) {
      return refuse(value, value.seen());
    }
    if (value.items.size() > kVlTableEntries) {
      return refuse(value, fmt::format("{} pairs", value.items.size()));
    }
    VlWeights table;
    for (const Value& pair : value.items) {
      if (pair.kind != Value::Kind::kSequence || pair.items.size() != 2) {
        return refuse(pair, pair.seen());
      }
      const auto vl = number(pair.items[0], kDataVls - 1);
      const auto weight = number(pair.items[1], kMostVlWeight);
      if (!vl || !weight) {
        const Value& wrong = pair.items[vl ? 1 : 0];
        return refuse(wrong, wrong.seen());
      }
      table.emplace_back(*vl, *weight);
    }
    member.set(config, table);
  };
  const auto number = [](unsigned most) -> nlohmann::ordered_json {
    return {{"type", "integer"}, {"minimum", 0}, {"maximum", most}};
  };
  const nlohmann::ordered_json schema = {
      {"type", "array"},
      {"maxItems", kVlTableEntries},
      {"items",
       {{"type", "array"},
        {"minItems", 2},
        {"maxItems", 2},
        {"items", {number(kDataVls - 1), number(kMostVlWeight)}}}}};
  return {
      path,  "",
      range, sentence,
      {},    schema,
      read,  [=](const Config& config) -> nlohmann::ordered_json {
            return member.get(config); }};
}

// A number from 0 on, or none.
Key steering_tag_key() {
  const Key number =
      count(KEY(device.pio.steering_tag), between(0, kNoSteeringTag - 1),
            "Steering tag of credit returns, which carry TH then; their length is the same.");
  Key key = number;
  key.range += " or none";
  key.schema = {{"anyOf", {number.schema, {{"enum", {"none"}}}}}};
  key.read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (value.kind == Value::Kind::kScalar && value.text == "none") {
      config.device.pio.steering_tag = kNoSteeringTag;
    } else {
      number.read(config, value, context);
    }
  };
  key.write = [=](const Config& config) -> nlohmann::ordered_json {
    return config.device.pio.steering_tag == kNoSteeringTag ? "none" : number.write(config);
  };
  return key;
}

}  // namespace

// Which names there are is a matter of the topology: broken_wires().
Key peer_key(const std::string& path, const Access<std::string>& member,
             const std::string& sentence, const std::string& whose) {
  constexpr const char* kNone = "none";
  Key key;
  key.path = path;
  key.range = "the name of " + whose + ", or none";
  key.sentence = sentence;
  key.schema = {{"type", {"string", "integer"}}};
  key.read = [=, range = key.range](Config& config, const Value& value,
                                    const ReadContext& context) {
    if (value.kind != Value::Kind::kScalar) {
      context.report(value.place, value.seen() + "; expected " + range);
    } else {
      member.set(config, value.text == kNone ? "" : value.text);
    }
  };
  key.write = [=](const Config& config) -> nlohmann::ordered_json {
    const std::string peer = member.get(config);
    return peer.empty() ? kNone : peer;
  };
  return key;
}

Keys core_keys() {
  return joined({
      count(KEY(host.cores.count), between(1, 64), "Cores that write packets to each device."),
      count(KEY(host.cores.threads), only({1, 2}),
            "Threads of a core; they share its store buffer. The contexts of a device are shared "
            "out to all threads in turn."),
      count(KEY(host.cores.store_buffers), between(1, 64),
            "Write-combining blocks of 64 bytes of a core."),
      count(KEY(host.cores.window), between(0, 256),
            "Stores and fences of a thread that a core runs ahead of one that waits."),
      count(KEY(host.cores.store_bytes), only({8, 16, 32, 64}), "Bytes of a store."),
      choice(KEY(host.cores.fence),
             "A fence behind each packet, behind each block of 64 bytes of a "
             "packet as well, or none."),
      count(KEY(host.cores.vls), between(1, kVlQueues),
            "Virtual lanes that packets use, VL 0 on; 9: VL15 as well."),
      choice(KEY(host.cores.vl_choice),
             "Whether each packet of a context takes the next VL, or context c has VL c modulo "
             "host.cores.vls for all its packets."),
      count(KEY(host.cores.write_queue), between(1, 1024),
            "Posted writes to a device that the IIO holds for the link."),
      real(KEY(host.cores.credit_requests), 0, 1,
           "Share of packets that ask for their credits (PbcCreditReturn)."),
      choice(KEY(host.cores.credit_wait),
             "A thread without credits looks at them again and again, or lets the device interrupt "
             "it when they return."),
      size(KEY(host.cores.sdma_from),
           or_zero_as("none", between(1, kMostPacketBlocks * kSendBlockBytes)),
           "Packets of so many bytes behind the PBC, and longer ones, go by SDMA."),
      count(KEY(host.cores.hostile), between(0, kSendContexts),
            "Domains, the last ones, whose processes write anything into their own pages of the "
            "PIO window."),
      time(KEY(host.cores.timing.clock), any_clock(), "Clock period of a core."),
      time(KEY(host.cores.timing.store), any_latency(),
           "A store, where it takes more than a clock."),
      time(KEY(host.cores.timing.source), any_latency(),
           "A thread reads 64 bytes of what it sends: about 1 ns from L1, 4 ns from L2."),
      time(KEY(host.cores.timing.drain), any_latency(),
           "A block leaves the store buffer, and its place is free again; all blocks at once, so "
           "that store_buffers x 64 B over this is the most of a core."),
      time(KEY(host.cores.timing.fence), any_latency(), "From a core to the IIO and back."),
      time(KEY(host.cores.timing.credit_poll), between(Time::from_ns(1), Time::from_us(1'000)),
           "Between two looks of a waiting thread at its credits in memory; later a sixteenth of "
           "its wait, where that is more."),
      time(KEY(host.cores.timing.interrupt), any_latency(),
           "From a credit interrupt at the root port to the look of the thread that waits for it."),
      time(KEY(host.cores.timing.descriptor), any_latency(),
           "A thread makes a descriptor of SDMA and writes it; a packet longer than 64 bytes has "
           "two."),
  });
}

Keys pio_keys() {
  return joined({
      count(KEY(device.pio.depth), between(1, kMostContextBlocks),
            "Blocks of 64 bytes of a send context; each domain of the workload has one."),
      count(KEY(device.pio.deep_contexts), between(0, kSendContexts),
            "Contexts, from 0 on, that have deep_depth instead."),
      count(KEY(device.pio.deep_depth), between(1, kMostContextBlocks),
            "Blocks of each of the deep contexts."),
      count(KEY(device.pio.threshold), between(0, kCreditRing - 1),
            "Blocks that are free and not returned before credits are returned; 0: never by "
            "that."),
      flag(KEY(device.pio.early_return),
           "The blocks of a packet are free when it is committed to egress, not when it has left."),
      choice(KEY(device.pio.clear),
             "When blocks are free, and credits return: all of a packet once it has been read out "
             "of send memory, or each block once it has."),
      count(KEY(device.pio.group), only({1, 2, 4, 8}),
            "Neighbouring contexts whose credits return in one write."),
      steering_tag_key(),
      count(KEY(device.pio.sdma.engines), between(1, kSdmaEngines),
            "SDMA engines; the packets of domain d go by engine d modulo engines."),
      count(KEY(device.pio.sdma.ring), power_of_two(8, SdmaRing::kMostEntries),
            "Descriptors of the ring of an SDMA engine."),
      count(KEY(device.pio.sdma.buffer), between(1, SdmaRing::kMostBufferBlocks),
            "Blocks of 64 bytes of SDMA memory that each engine has."),
      count(KEY(device.pio.sdma.reads), between(1, SdmaRing::kMostReads),
            "Reads of host memory of an SDMA engine that may be outstanding."),
      rate("device.pio.egress.rate", AT(device.pio.egress.rate_gbps), "Gb/s", bit_rate_dimension(),
           1'000'000'000, between(1'000'000, 1'000'000'000'000'000), "Rate of the network port."),
      count(KEY(device.pio.egress.launch_fifo), between(1, kSendMemoryBlocks),
            "Packets that the launch FIFO of a VL holds."),
      size(KEY(device.pio.egress.buffer),
           between(kMostPacketBlocks * kSendBlockBytes, Bytes{1} << 30),
           "Transmit buffer of the port for each VL."),
      vl_weights(KEY(device.pio.egress.high),
                 "Weights of data VLs in blocks of 64 bytes that go before those of egress.low; a "
                 "VL with a weight in neither list never sends. Without both lists VLs take "
                 "turns."),
      vl_weights(KEY(device.pio.egress.low),
                 "Weights of data VLs that go where no VL of egress.high can, or has used up "
                 "egress.high_limit."),
      count(KEY(device.pio.egress.high_limit), between(0, kMostHighLimit),
            "Blocks of egress.high that go before egress.low has its turn; 0: one packet."),
      count(KEY(device.pio.egress.stalled_vl), between(0, 15),
            "The VL that egress.stall is about: 0 to 7, or 15."),
      time(KEY(device.pio.egress.stall_from), any_latency(),
           "When its stall begins, from the start of the workload."),
      time(KEY(device.pio.egress.stall), or_zero_as("none", any_latency()),
           "How long the peer has no credits for that VL."),
      peer_key(KEY(device.pio.egress.peer),
               "Device whose receive engine is at the other end of the wire; none: packets leave "
               "the system."),
      time(KEY(device.pio.egress.propagation), any_latency(),
           "On the wire to the peer: of a packet, and of the credits that come back for it."),
      size(KEY(device.pio.receive.buffer),
           between(kMostPacketBlocks * kSendBlockBytes, Bytes{1} << 30),
           "Receive buffer for each VL, where the device is the peer of one."),
      time(KEY(device.pio.receive.timing.parse), any_latency(),
           "From the last byte of a packet to the DMA engine of the receiver; one packet a clock."),
      time(KEY(device.pio.timing.clock), any_clock(),
           "Clock period of send memory, launch and egress: one grant of the launch arbiter and "
           "one block read in each."),
      time(KEY(device.pio.timing.crossing), any_latency(),
           "Between the clocks of the PCIe interface and of send memory, each way."),
      time(KEY(device.pio.timing.egress), any_latency(), "From send memory to the port."),
  });
}

}  // namespace flitwise::config
