// SPDX-License-Identifier: Apache-2.0
/// CXL links: between flits of CXL.io those of CXL.cache and CXL.mem, of 68 or of 256 bytes.
#pragma once

#include <algorithm>
#include <utility>

#include "link/cxl_cachemem.h"
#include "link/data_link_framer.h"
#include "link/flit_framer.h"

namespace flitwise {

/// What both have beside CXL.io.
template <class IoFramer, class CacheMem>
class CxlFramer : public IoFramer {
 public:
  void start(Time now) override {
    IoFramer::start(now);
    cachemem_.start(now);
  }
  void freed(const Packet& packet, Time now) override {
    packet.kind == PacketKind::kCxl ? cachemem_.freed(packet, now) : IoFramer::freed(packet, now);
  }
  bool is_quiet() const override { return cachemem_.is_quiet() && IoFramer::is_quiet(); }
  bool is_conserved() const override {
    return IoFramer::is_conserved() && cachemem_.is_conserved();
  }

 protected:
  template <class... OfCacheMem>
  CxlFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool,
            OfCacheMem&&... of_cachemem)
      : IoFramer(link, queues, pool),
        cachemem_(std::forward<OfCacheMem>(of_cachemem)...),
        arbiter_(link.cxl.io_weight, link.cxl.cachemem_weight) {}

  CacheMem cachemem_;
  CxlArbiter arbiter_;
};

/// CXL.io: the byte stream of non-flit mode, with its framing, numbers and CRCs, cut into flits of
/// 64 bytes behind a protocol ID. [CXL-5.1] [CXL-5.5]
class Cxl68Framer final : public CxlFramer<NonFlitFramer, Cxl68CacheMem> {
 public:
  /// Queues and pool outlive it.
  Cxl68Framer(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
              PacketPool& pool);

  bool next(Time now, WireUnit& unit) override;
  void sent(const WireUnit& unit, Time last) override;
  void damaged(const WireUnit& unit, Time now) override;
  void receive(const WireUnit& unit, bool is_damaged, Time now,
               std::vector<PacketRef>& delivered) override;
  bool stage(PacketRef dllp) override {
    staged_.push_back(std::move(dllp));
    return true;
  }
  WireSize skip_update(Time now) override;
  bool take_recovery_request() override;
  bool was_replay_num() const override { return was_replay_num_; }
  Time deadline() const override;
  void reset(Time now) override;
  bool is_quiet() const override {
    return rest_.empty() && staged_.empty() && CxlFramer::is_quiet();
  }
  std::string waiting() const override {
    return rest_.empty() ? cachemem_.waiting()
                         : "the rest of a TLP or DLLP waits for the next flit";
  }

 private:
  bool begin(Time now);
  void fill(Time now, WireUnit& unit);

  FlitPart cut_;                   // what is being cut
  CutSize rest_;                   // what of it is left
  std::vector<PacketRef> staged_;  // DLLPs that no rule asked for
  bool was_replay_num_ = false;    // that asked for Recovery the last time
};

/// CXL.io in the flits of PCIe's flit mode. All share numbers, Ack/Nak and the replay buffer.
/// [CXL-5.2] [CXL-6.1] [CXL-6.2]
class Cxl256Framer final : public CxlFramer<FlitFramer, Cxl256CacheMem> {
 public:
  /// Queues and pool outlive it.
  Cxl256Framer(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
               PacketPool& pool)
      : CxlFramer(link, queues, pool, link.cxl, messages) {}

  bool next(Time now, WireUnit& unit) override;
  void receive_half(const WireUnit& unit, std::vector<PacketRef>& delivered) override;
  Time deadline() const override {
    const Time of_io = FlitFramer::deadline();
    return replay_.has_room(flit::kBytes) ? std::min(of_io, cachemem_.deadline()) : of_io;
  }
  void reset(Time now) override {
    cachemem_.reset();
    FlitFramer::reset(now);
  }
  std::string waiting() const override;

 private:
  void hand_on(const Flit& flit, std::vector<PacketRef>& delivered) override;
  bool cachemem_goes(Time now);
};

}  // namespace flitwise
