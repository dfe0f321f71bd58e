// SPDX-License-Identifier: Apache-2.0
/// PCIe flit mode: TLPs in 256-byte flits, which are numbered, acknowledged and replayed as wholes;
/// Acks, Naks and DLLPs stand in the flits themselves. [LNK-11.1] to [LNK-11.8]
#pragma once

#include "link/ack_nak_receiver.h"
#include "link/credit_exchange.h"
#include "link/flit_packer.h"
#include "link/framer.h"
#include "link/replay_buffer.h"

namespace flitwise {

/// An Ack goes out so many flit times after the first flit that waits for it, at the latest. On a
/// real wire every flit, NOP flits included, can carry one. model: our choice. [LNK-11.7]
inline constexpr unsigned kAckLimitFlits = 8;
/// Replay timer limit. From UCIe; PCIe's own value is unverified, hence named. [LNK-11.7]
inline constexpr unsigned kReplayLimitFlits = 375;

/// Time of one flit on the lanes, without SKP ordered sets. [LNK-11.4]
Time flit_time(const LinkPreset& preset);

class FlitFramer final : public Framer {
 public:
  FlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool);

  void start(Time now) override { credits_.start(now); }
  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override;
  void damaged(const WireUnit& unit, Time now) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  void freed(const Packet& packet, Time now) override { credits_.free(packet.tlp, now); }
  Time deadline() const override;
  bool take_recovery_request() override;
  void recovered(Time now) override;
  void reset(Time now) override;
  void break_rules(const FaultsConfig& faults) override {
    credits_.break_credits(faults.breaks(BrokenRule::kCredits));
    breaks_sequence_ = faults.breaks(BrokenRule::kSequence);
  }
  bool is_quiet() const override;
  std::string waiting() const override {
    return packer_.has_rest() ? "the rest of a TLP waits for the next flit" : "";
  }
  bool is_active() const override { return credits_.is_active(); }
  bool is_conserved() const override { return credits_.is_conserved(); }

  /// A NOP flit that carries one DLLP. [LNK-11.5]
  static WireUnit nop_with(PacketRef dllp, PacketPool& pool);

 private:
  bool next_replay(WireUnit& unit);
  bool next_payload(Time now, WireUnit& unit);
  void add_ack(WireUnit& unit);
  void add_dllp(Time now, WireUnit& unit);
  PacketRef make_dllp(const Dllp& dllp) const;
  void receive_ack(const Dllp& dllp, Time now);
  void receive_dllp(const Dllp& dllp, Time now);

  TransactionQueues& queues_;
  PacketPool& pool_;
  FlitPacker packer_;
  AckNakReceiver receiver_;
  ReplayBuffer replay_;
  CreditExchange credits_;
  bool recovery_requested_ = false;
  bool breaks_sequence_ = false;  // with the next Ack
};

}  // namespace flitwise
