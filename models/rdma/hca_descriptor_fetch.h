// SPDX-License-Identifier: Apache-2.0
/// Descriptor fetch of an RDMA adapter: entries of send and receive queues.
/// In: kicks whose queue pair has its state; receive, where a message has no buffer. Out: work
/// requests and receive buffers to the rules, queue pairs that may send to the packet builder.
/// Queue: none; one read of each ring at a time, of up to `wqe_batch` entries. Latency: that read,
/// or none of commands, which are in the adapter. Nobody blocks it.
#pragma once

#include "rdma/hca_module.h"
#include "rdma/hca_seams.h"

namespace flitwise {

class HcaDescriptorFetch final : public HcaModule, public HcaRings {
 public:
  explicit HcaDescriptorFetch(const HcaParts& parts) : HcaModule("descriptor_fetch"), s_(parts) {}

  void kicked(std::uint32_t pair, Time now) override;
  void read(std::uint32_t pair, bool is_receive, Time now) override;
  void done(HcaJob& job, Time now) override;
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override {
    errors["bad_ring_entry"] += bad_entries_;
  }

 private:
  void take_commands(HcaPair& pair);
  void post(HcaPair& pair, bool is_receive, const std::uint8_t* entry);

  const HcaParts& s_;
  std::uint64_t bad_entries_ = 0;
};

}  // namespace flitwise
