// SPDX-License-Identifier: Apache-2.0
/// Packet receiver of an RDMA adapter: frames that have come. [RX-1, HP-10]
/// In: frames of the port. Out: those that are for a queue pair of the adapter, to queue pair
/// fetch; others are dropped and counted, as is all that comes while the adapter is out of service
/// [HP-9] or its function is down [HP-4]. Queue: the `payload_ram`; a frame for which it has no
/// room is lost, for nothing tells the peer to wait. Latency: `check`; interval: a clock for each
/// 64 bytes. Queue pair fetch blocks it where it is full.
#pragma once

#include <functional>

#include "network/nic_port.h"
#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaPacketReceiver final : public HcaStage<HcaArrived>, public HcaFrameMemory {
 public:
  /// came: it has more to do then.
  HcaPacketReceiver(const HcaParts& parts, std::function<void(Time when)> came)
      : HcaStage("packet_receiver", "device.rdma.timing.check", parts.config.rdma.fifo,
                 parts.config.rdma.timing.check, parts.config.rdma.timing.clock),
        s_(parts),
        came_(std::move(came)) {}

  void connect(NicPort& port);
  void give_room(const Frame& frame) override { ram_used_ -= frame.bytes.size(); }
  void drop(const char* why, const Frame& frame) override;

  bool has_frame(Time now) const override { return queue_.is_due(now); }
  bool run(Time now) override;
  void settle(Time now) override;
  bool is_quiet() const override { return HcaStage::is_quiet() && arriving_.empty(); }
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override;
  std::size_t on_cable() const { return arriving_.size(); }  ///< frames
  std::uint64_t peak_ram() const { return peak_ram_; }       ///< bytes
  const std::map<std::string, std::uint64_t>& drops() const { return drops_; }

 private:
  bool check(Time now);
  const char* flaw_of(HcaArrived& arrived) const;
  void take_frame(Time now);

  const HcaParts& s_;
  const std::function<void(Time)> came_;
  DueQueue<FrameRef> arriving_;
  std::uint64_t ram_used_ = 0, peak_ram_ = 0;
  std::map<std::string, std::uint64_t> drops_;
};

}  // namespace flitwise
