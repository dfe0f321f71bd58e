// SPDX-License-Identifier: Apache-2.0
/// CXL in 256-byte flits: those of CXL.io are PCIe's, between them flits of CXL.cache and CXL.mem.
/// All share numbers, Ack/Nak and the replay buffer. [CXL-5.2] [CXL-6.1] [CXL-6.2]
#pragma once

#include "link/cxl_cachemem.h"
#include "link/flit_framer.h"

namespace flitwise {

class Cxl256Framer final : public FlitFramer {
 public:
  /// Queues and pool outlive it.
  Cxl256Framer(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
               PacketPool& pool);

  void start(Time now) override;
  bool next(Time now, WireUnit& unit) override;
  void receive_half(const WireUnit& unit, std::vector<PacketRef>& delivered) override;
  void freed(const Packet& packet, Time now) override;
  Time deadline() const override;
  void reset(Time now) override;
  bool is_quiet() const override { return cachemem_.is_quiet() && FlitFramer::is_quiet(); }
  bool is_conserved() const override {
    return FlitFramer::is_conserved() && cachemem_.is_conserved();
  }
  std::string waiting() const override;

 protected:
  void hand_on(const Flit& flit, std::vector<PacketRef>& delivered) override;

 private:
  bool cachemem_goes(Time now);
  void next_cachemem(Time now, WireUnit& unit);

  Cxl256CacheMem cachemem_;
  CxlArbiter arbiter_;
};

}  // namespace flitwise
