// SPDX-License-Identifier: Apache-2.0
/// PCIe flit mode: TLPs in 256-byte flits, which are numbered, acknowledged and replayed as wholes;
/// Acks, Naks and DLLPs stand in the flits themselves. TLPs are packed one behind the other by
/// whole DWs, cut where a flit ends, with a bound on how many may begin in each half. [LNK-11.1] to
/// [LNK-11.8]
#pragma once

#include "link/data_link_framer.h"

namespace flitwise {

/// TLPs that may begin in one half of a flit. [LNK-11.3]
inline constexpr unsigned kMostStartsInHalf = 8;
/// Where the second half begins, in DWs. [LNK-11.3]
inline constexpr std::uint32_t kSecondHalfDw = 128 / 4;

class FlitPacker {
 public:
  /// Takes TLPs from `queues`, which outlive it.
  explicit FlitPacker(TransactionQueues& queues) : queues_(queues) {}

  /// There is something to pack: the rest of a TLP, or one that may go.
  bool has_work(Time now) const { return !rest_.empty() || queues_.choose(now).has_value(); }
  /// The rest of a TLP waits for the next flit.
  bool has_rest() const { return !rest_.empty(); }
  /// Fills the TLP bytes of a flit, and adds their bits to `size` by cause; what no TLP takes is
  /// idle (NOP TLPs). [LNK-11.2]
  void fill(Time now, Flit& flit, WireSize& size);
  /// The link has gone down: the rest of a TLP is forgotten. [LNK-10.4]
  void reset() {
    packet_.reset();
    rest_ = CutSize();
  }

 private:
  bool begin(Time now, Flit& flit);

  TransactionQueues& queues_;
  PacketRef packet_;  // the TLP that is being packed
  CutSize rest_;      // what of it is left
};

/// An Ack goes out so many flit times after the first flit that waits for it, at the latest. On a
/// real wire every flit, NOP flits included, can carry one. model: our choice. [LNK-11.7]
inline constexpr unsigned kAckLimitFlits = 8;
/// Replay timer limit. [LNK-11.7]
inline constexpr unsigned kReplayLimitFlits = 1'500;
/// FLIT_REPLAY_NUM has three bits. A replay adds two to it below 64 GT/s, so that the fourth rolls
/// over, and one from there on: the eighth. unverified: the step of one [LNK-11.7]
inline constexpr unsigned kFlitReplayNumStates = 8, kFlitReplayStepBelow = 2;
inline constexpr unsigned kFlitReplayStepOneGeneration = 6;

/// Time of one flit on the lanes, without SKP ordered sets. [LNK-11.4]
Time flit_time(const LinkPreset& preset);

class FlitFramer : public DataLinkFramer {
 public:
  FlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool);

  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override {
    if (unit.has_payload()) {
      replay_.sent(last);
    }
  }
  void damaged(const WireUnit& unit, Time now) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  Time deadline() const override {
    const bool has_more = packer_.has_rest() && replay_.has_room(flit::kBytes);
    return has_more ? Time{} : DataLinkFramer::deadline();
  }
  void reset(Time now) override {
    packer_.reset();
    DataLinkFramer::reset(now);
  }
  bool is_quiet() const override { return !packer_.has_rest() && DataLinkFramer::is_quiet(); }
  WireSize skip_update(Time now) override;
  std::string waiting() const override {
    return packer_.has_rest() ? "the rest of a TLP waits for the next flit" : "";
  }

  /// A NOP flit that carries one DLLP. [LNK-11.5]
  static WireUnit nop_with(PacketRef dllp, PacketPool& pool);

 protected:
  /// The next flit of a replay, if one is under way and no Ack is due.
  bool next_replay(Time now, WireUnit& unit);
  /// A flit that goes for the first time.
  bool next_new(Time now, WireUnit& unit);
  /// TLPs, or a DLLP that is due.
  bool has_io(Time now) const {
    return credits_.deadline() <= now || (may_carry_tlps() && packer_.has_work(now));
  }
  void add_ack(WireUnit& unit);
  /// A flit with payload is taken: what it brings is appended to `delivered`.
  virtual void hand_on(const Flit& flit, std::vector<PacketRef>& delivered) {
    for (const PacketRef& packet : flit.ends) {
      deliver(packet, delivered);
    }
  }

 private:
  bool next_payload(Time now, WireUnit& unit);
  void add_dllp(Time now, WireUnit& unit) {
    if (credits_.deadline() <= now) {
      unit.dllp = take_flow_control(now);
    }
  }

  FlitPacker packer_;
};

}  // namespace flitwise
