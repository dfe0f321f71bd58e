// SPDX-License-Identifier: Apache-2.0
/// CXL in 68-byte flits. CXL.io: the byte stream of non-flit mode, with its framing, numbers and
/// CRCs, cut into flits of 64 bytes behind a protocol ID. Between them flits of CXL.cache and
/// CXL.mem. [CXL-5.1] [CXL-5.5]
#pragma once

#include "link/cxl_cachemem.h"
#include "link/non_flit_framer.h"

namespace flitwise {

class Cxl68Framer final : public NonFlitFramer {
 public:
  /// Queues and pool outlive it.
  Cxl68Framer(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
              PacketPool& pool);

  void start(Time now) override;
  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override;
  void damaged(const WireUnit& unit, Time now) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  bool stage(PacketRef dllp) override;
  void freed(const Packet& packet, Time now) override;
  bool take_recovery_request() override;
  bool was_replay_num() const override { return was_replay_num_; }
  Time deadline() const override;
  void reset(Time now) override;
  bool is_quiet() const override;
  bool is_conserved() const override {
    return NonFlitFramer::is_conserved() && cachemem_.is_conserved();
  }
  std::string waiting() const override {
    return rest_.empty() ? cachemem_.waiting()
                         : "the rest of a TLP or DLLP waits for the next flit";
  }

 private:
  bool has_io(Time now) const;
  void next_io(Time now, WireUnit& unit);
  bool begin(Time now);
  void fill(Time now, WireUnit& unit);

  FlitPart cut_;                   // what is being cut
  CutSize rest_;                   // what of it is left
  std::vector<PacketRef> staged_;  // DLLPs that no rule asked for
  Cxl68CacheMem cachemem_;
  CxlArbiter arbiter_;
  bool was_replay_num_ = false;  // that asked for Recovery the last time
};

}  // namespace flitwise
