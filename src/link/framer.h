// SPDX-License-Identifier: Apache-2.0
/// The rule of one carrier at one link end: what goes on the wire next, and what becomes of what
/// comes in. A framer has no clock: it is told the time and says when it wants to be asked again.
/// What it does not override stands for a carrier without data link layer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "link/transaction_queues.h"
#include "link/wire_unit.h"

namespace flitwise {

class CxlQueues;

/// What one link end did so far; all of it grows only.
struct FramerStats {
  std::uint64_t acks = 0, naks = 0, update_fcs = 0;  ///< sent
  std::uint64_t replays = 0, replay_events = 0, retrains = 0;
  std::uint64_t damaged_tlps = 0, damaged_dllps = 0, duplicates = 0,
                out_of_sequence = 0;  ///< received
  std::uint64_t dl_protocol_errors = 0, credit_overruns = 0;
  Time replay_buffer_stall{};
  std::uint64_t replay_buffer_waits = 0;
};

/// Where something else may have its say; empty ones change nothing.
struct DllpHooks {
  /// The number of an Ack, from the last one accepted and the one behind it.
  std::function<std::uint16_t(std::uint16_t accepted, std::uint16_t next)> ack;
  /// What is believed of a flow-control DLLP that has come in.
  std::function<Dllp(Dllp)> flow_control;
};

class Framer {
 public:
  virtual ~Framer() = default;

  /// Starts the carrier's own initialisation.
  virtual void start(Time /*now*/) {}
  /// Gives the unit to send now, or says that there is none. REQUIRES: `unit` is a new one.
  virtual bool next(Time now, WireUnit& unit) = 0;
  /// The unit just given has its place on the wire; its last symbol leaves at `last`.
  virtual void sent(const WireUnit& /*unit*/, Time /*last*/) {}
  /// The unit just sent is damaged on its way: what a silent wire would repeat by itself is owed
  /// again.
  virtual void damaged(const WireUnit& /*unit*/, Time /*now*/) {}
  /// Takes a DLLP that no rule asked for, to send it in its turn; false: it may go by itself, at
  /// once.
  virtual bool stage(PacketRef /*dllp*/) { return false; }
  /// A unit has come in; what it brings for the transaction layer is appended to `delivered`.
  virtual void receive(const WireUnit& unit, bool is_damaged, Time now,
                       std::vector<PacketRef>& delivered) = 0;
  /// What of a unit can be used before the rest has come is there, undamaged; receive() follows.
  virtual void receive_half(const WireUnit& /*unit*/, std::vector<PacketRef>& /*delivered*/) {}
  /// The receive buffer of a delivered packet is free again.
  virtual void freed(const Packet& /*packet*/, Time /*now*/) {}
  /// When next() is to be asked again though nothing came in; never if nothing is pending.
  virtual Time deadline() const { return Time::never(); }
  /// True once after a rule asked for Recovery. [LNK-7.14]
  virtual bool take_recovery_request() { return false; }
  /// It was REPLAY_NUM that rolled over, when the rule asked last. [LNK-7.14]
  virtual bool was_replay_num() const { return true; }
  /// The link has been through Recovery until now. [LNK-10.3]
  virtual void recovered(Time /*now*/) {}
  /// The link has gone down: sequence numbers, credits and all that is owed are as they were before
  /// start(), which begins anew; statistics go on. [LNK-10.4] [LNK-10.7]
  virtual void reset(Time now) = 0;

  /// From now on these change what the data link layer says and believes.
  virtual void set_hooks(DllpHooks /*hooks*/) {}

  /// Nothing but the periodic UpdateFC is due, and what these say is known at the other end. The
  /// unit that takes those whose time has come counts as given by skip_update(), which returns its
  /// bits. REQUIRES: may_rest(), one is due.
  virtual bool may_rest() const { return false; }
  virtual Time next_update() const {
    return Time::never();
  }  ///< when one is due. REQUIRES: as above
  virtual WireSize skip_update(Time /*now*/) { return {}; }

  /// Nothing waits for the other end: replay buffer empty, no Ack owed, no credit untold.
  virtual bool is_quiet() const = 0;
  virtual std::string waiting() const { return {}; }  ///< what it holds back, for a deadlock report
  virtual bool is_active() const { return true; }     ///< TLPs may be sent
  virtual bool is_conserved() const { return true; }  ///< credits and sequence numbers agree
  const FramerStats& stats() const { return stats_; }

 protected:
  /// Buffers of what may have to go again; 68-byte flits have one for each of two.
  enum class ReplayBufferOf : std::uint8_t { kTlps, kCacheMem };

  /// The next TLP or flit finds no room in its replay buffer, or does. Where several hold something
  /// up, the time counts once.
  void note_replay_buffer(bool is_full, Time now, ReplayBufferOf buffer = ReplayBufferOf::kTlps) {
    const unsigned bit = 1U << static_cast<unsigned>(buffer);
    full_replay_buffers_ = is_full ? full_replay_buffers_ | bit : full_replay_buffers_ & ~bit;
    if ((full_replay_buffers_ != 0) == (replay_buffer_full_since_ == Time::never())) {
      turn_replay_buffer(now);
    }
  }

  FramerStats stats_;

 private:
  void turn_replay_buffer(Time now);

  unsigned full_replay_buffers_ = 0;  // a bit each
  Time replay_buffer_full_since_ = Time::never();
};

/// The framer of the configured carrier for one end. `queues`, `messages` and `pool` outlive it.
/// messages: null where there is no CXL.cache and CXL.mem.
std::unique_ptr<Framer> make_framer(const LinkConfig& link, const MessageConfig& message,
                                    TransactionQueues& queues, CxlQueues* messages,
                                    PacketPool& pool);

}  // namespace flitwise
