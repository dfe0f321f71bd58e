// SPDX-License-Identifier: Apache-2.0
/// What the data link layers of non-flit and flit mode have in common: Ack/Nak, replay, credits and
/// Recovery, whatever it is that bears the numbers; and that of non-flit mode. [LNK-7.1] [LNK-11.6]
#pragma once

#include "link/ack_nak.h"
#include "link/credit_exchange.h"
#include "link/framer.h"

namespace flitwise {

class DataLinkFramer : public Framer {
 public:
  void start(Time now) override { credits_.start(now); }
  void freed(const Packet& packet, Time now) override { credits_.free(packet, now); }
  bool take_recovery_request() override;
  void recovered(Time /*now*/) override {
    replay_.recovered();
    note_replay_events();
  }
  void reset(Time now) override;
  void set_hooks(DllpHooks hooks) override { hooks_ = std::move(hooks); }
  Time deadline() const override;
  bool is_quiet() const override;
  bool is_active() const override { return credits_.is_active(); }
  bool is_conserved() const override { return credits_.is_conserved(); }
  bool may_rest() const override {
    return is_quiet() && credits_.is_settled() && !hooks_.flow_control &&
           deadline() == credits_.deadline();
  }
  Time next_update() const override { return credits_.deadline(); }

 protected:
  /// ack_limit: also the guideline for UpdateFC. [LNK-7.15] [LNK-8.15]
  DataLinkFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool,
                 Time ack_limit, Time replay_limit, SequenceSpace numbers, ReplayCount count);

  void check_replay_timer(Time now) {
    if (replay_.deadline() <= now) {
      start_replay();
    }
  }
  bool may_send_payload() const { return !recovery_requested_; }
  bool may_carry_tlps() const { return credits_.is_active() && may_send_payload(); }
  /// The next of the replay that is under way, but for its size.
  void take_replay(WireUnit& unit);
  /// The Ack or Nak that is owed. REQUIRES: one is.
  PacketRef take_ack();
  /// The flow-control DLLP that is due. REQUIRES: one is.
  PacketRef take_flow_control(Time now) {
    const Dllp dllp = credits_.take(now);
    stats_.update_fcs += is_update_fc(dllp.type) ? 1 : 0;
    return make_dllp(dllp);
  }
  /// The same where nobody needs the DLLP.
  void skip_flow_control(Time now) {
    stats_.update_fcs += is_update_fc(credits_.take(now).type) ? 1 : 0;
  }
  void receive_dllp(const Dllp& dllp, Time now);
  /// What bears a number has come in; is it taken?
  bool accepts(std::uint16_t sequence, bool is_damaged, Time now);
  void deliver(const PacketRef& packet, std::vector<PacketRef>& delivered) {
    stats_.credit_overruns += credits_.accept(*packet) ? 0 : 1;
    delivered.push_back(packet);
  }

  TransactionQueues& queues_;
  PacketPool& pool_;
  AckNakReceiver receiver_;
  ReplayBuffer replay_;
  CreditExchange credits_;
  DllpHooks hooks_;

 private:
  void start_replay() {
    recovery_requested_ = replay_.start_replay() || recovery_requested_;
    note_replay_events();
  }
  PacketRef make_dllp(const Dllp& dllp) const {
    PacketRef packet = pool_.make(PacketKind::kDllp);
    packet->dllp = dllp;
    return packet;
  }
  void note_replay_events() {
    stats_.replay_events += replay_.replay_events() - replay_events_noted_;
    replay_events_noted_ = replay_.replay_events();
  }

  const SequenceSpace numbers_;
  std::uint64_t replay_events_noted_ = 0;
  bool recovery_requested_ = false;
};

/// PCIe generations 1 to 5: each TLP and each DLLP is framed on its own; Ack/Nak, replay and
/// credits by DLLPs.
class NonFlitFramer : public DataLinkFramer {
 public:
  NonFlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool);

  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override {
    if (unit.packet->kind == PacketKind::kTlp) {
      replay_.sent(last);
    }
  }
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  WireSize skip_update(Time now) override;

 protected:
  /// next() would give something.
  bool has_work(Time now) const;

 private:
  bool next_dllp(Time now, WireUnit& unit);
  bool next_tlp(Time now, WireUnit& unit);
};

}  // namespace flitwise
