// SPDX-License-Identifier: Apache-2.0
/// PCIe generations 1 to 5: each TLP and each DLLP is framed on its own; Ack/Nak, replay and
/// credits by DLLPs.
#pragma once

#include "link/ack_nak_receiver.h"
#include "link/credit_exchange.h"
#include "link/framer.h"
#include "link/replay_buffer.h"

namespace flitwise {

class NonFlitFramer final : public Framer {
 public:
  NonFlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool);

  void start(Time now) override;
  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  void freed(const Packet& packet, Time now) override;
  Time deadline() const override;
  bool take_recovery_request() override;
  void recovered(Time now) override;
  void reset(Time now) override;
  void break_rules(const FaultsConfig& faults) override {
    credits_.break_credits(faults.breaks(BrokenRule::kCredits));
    breaks_sequence_ = faults.breaks(BrokenRule::kSequence);
  }
  bool is_quiet() const override;
  bool is_active() const override { return credits_.is_active(); }
  bool is_conserved() const override { return credits_.is_conserved(); }

 private:
  bool next_dllp(Time now, WireUnit& unit);
  bool next_tlp(Time now, WireUnit& unit);
  void put(const Dllp& dllp, WireUnit& unit);
  void receive_dllp(const Dllp& dllp, Time now);
  void receive_ack(const Dllp& dllp, Time now);

  TransactionQueues& queues_;
  PacketPool& pool_;
  AckNakReceiver receiver_;
  ReplayBuffer replay_;
  CreditExchange credits_;
  bool recovery_requested_ = false;
  bool breaks_sequence_ = false;  // with the next Ack
};

}  // namespace flitwise
