// SPDX-License-Identifier: Apache-2.0
/// The way of a packet out of a device that sends by PIO and SDMA: the launch arbiter, the launch
/// FIFOs, the VL arbiter, the read out of send memory, and the network port (docs/pio.md). A part
/// of PioEngine, which wakes it.
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "pio/egress_counts.h"
#include "pio/egress_port.h"
#include "pio/frame_sender.h"
#include "pio/packet_check.h"
#include "pio/pio_config.h"
#include "pio/send_engine.h"
#include "stats/open_wait.h"
#include "stats/wait_book.h"

namespace flitwise {

class Egress {
 public:
  Egress(const PioConfig& config, SendEngine& rules, const PacketTraits& traits);

  /// The workload begins: the stall of the configuration counts from here on.
  void start(Time now);
  /// Packets go to the peer of that port from now on. Before the simulation starts.
  void connect(NicPort& port, FramePool& frames, FrameSender::Peer peer);
  /// The peer has so many bytes of room more for that queue, from `when` on.
  void add_room(unsigned queue, std::uint32_t bytes, Time when) {
    port_.add_room(queue, bytes, when);
  }

  /// Does what can be done now: the end of a read, a grant, the choice of a lane, the port.
  void work(Time now);
  /// When work() has something to do that nobody else brings; never: nothing.
  Time next_work(Time now) const;
  /// Nothing is on its way from send memory to the end of the wire.
  bool is_quiet() const { return !is_reading() && port_.is_empty() && !has_launched(); }
  /// The port sends what it has until then, as far as it does so by itself.
  Time drained(Time now) const {
    const Time end = port_drained(now);
    return end == Time::never() ? Time{} : end;
  }
  /// When work() knows of all that the port sends; never: nothing waits.
  Time port_drained(Time now) const;
  /// What has been read out before now is told of. To be called before others look at the rules.
  void catch_up(Time now) { read_out({now.fs - 1}); }
  void forget(Time now);  ///< the device was reset: what has not been read out is lost
  void forget_sdma();  ///< rings begin anew: packets that were described and not read out are lost
  std::uint64_t forgotten_sdma() const { return forgotten_sdma_; }  ///< of these
  /// SDMA engines whose packets were read out or dropped since it was asked last, a bit each.
  std::uint32_t take_cleared_engines() {
    return std::exchange(cleared_engines_, 0) | rules_.take_dropping_engines();
  }
  std::vector<std::string> waits_for() const;  ///< for reports

  const EgressCounts& counts() const { return counts_; }
  Time last_end() const { return last_end_; }  ///< of a packet on the wire
  /// Blocks of contexts that were read out, without those of the packet that is being read.
  std::uint64_t cleared_blocks() const { return cleared_blocks_; }
  /// Those of a context whose packet is being read out.
  unsigned reading_blocks() const;
  const PacketCheck& check() const { return check_; }  ///< of those read out, where stamped

  /// Software begins to write the packet whose first block is this one of send memory, or it has
  /// arrived then; never: how long it takes is not asked.
  void begins(std::size_t block, Time when) { begun_[block] = when; }
  /// The next packet of the ring of an SDMA engine, of so many blocks, has come then, likewise.
  void sdma_begins(unsigned engine, unsigned blocks, Time when);
  /// Of the window. Latencies are from there to the last byte on the wire.
  const EgressLane& lane(unsigned queue) const { return lanes_[queue]; }
  LatencyHistogram latency() const;  ///< of all lanes
  /// How long the foremost packet of the lane that the configuration stalls had no credits.
  Time stalled() const { return stalled_.total(); }
  /// Packets whose context was initialised before they had been read out. [PIO-12.36]
  std::uint64_t overtaken() const { return overtaken_; }

  void start_window(Time now);
  /// place: of the device's engine. window: how long it was.
  std::vector<WaitResult> waits(const std::string& place, Time window) const;

 private:
  /// The packet that is being read out of send memory.
  struct Reading {
    unsigned queue = kVlQueues;  // none
    Time end{};                  // of all of it; of its next block, where these are cleared by one
    Time begun = Time::never();  // by software
    Pbc pbc;
    PacketCheck::Passed passed;  // so far
    bool is_known = true;  // its bytes: they have a stamp, and its context is in the same life
  };
  struct RingPacket {
    std::uint64_t place = 0;  // of its first block
    Time begun{};             // never: it is out, or not asked for
  };
  struct RingPackets {
    boost::circular_buffer<RingPacket> waiting = boost::circular_buffer<RingPacket>(64);
    std::uint64_t end = 0;  // blocks
  };
  void send(Time now);
  void note_start(const EgressPort::Start& packet);
  void read_out(Time now);
  bool is_read_unseen() const;
  void launch(Time now);
  void note_hold(Time now);
  void arbitrate(Time now);
  Time begin_of(const LaunchedPacket& packet);
  void check_block(const LaunchedPacket& packet, unsigned index);
  Time sdma_begin_of(const LaunchedPacket& packet);
  bool has_launched() const { return rules_.launch_fifos().filled() != 0; }
  bool is_reading() const { return reading_.queue != kVlQueues; }

  const PioConfig& config_;
  SendEngine& rules_;
  const PacketTraits traits_;
  Random random_;  // which packets fail integrity
  EgressPort port_;
  Reading reading_;
  Time next_launch_{}, reads_until_{};
  std::vector<Time> begun_;  // packets of contexts, by their first block
  std::array<RingPackets, kSdmaEngines> sdma_begun_;
  std::optional<FrameSender> wire_;  // to a peer
  PacketCheck check_;
  EgressCounts counts_;
  std::uint32_t cleared_engines_ = 0;
  std::uint64_t cleared_blocks_ = 0, overtaken_ = 0, described_ = 0, forgotten_sdma_ = 0;
  std::array<EgressLane, kVlQueues> lanes_;
  Time stall_from_ = Time::never();  // never: none
  Time last_end_{};
  OpenWait lane_wait_;  // packets are launched, and no lane has room
  OpenWait hold_wait_;  // a source could launch but for its FIFO
  WaitBook lane_waits_, port_waits_, fifo_waits_;
  WaitBook launching_, reading_out_, sending_;  // while launch, send memory, port are busy
  WaitBook stalled_;
};

}  // namespace flitwise
