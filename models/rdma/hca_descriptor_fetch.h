// SPDX-License-Identifier: Apache-2.0
/// Descriptor fetch of an RDMA adapter: entries of send and receive queues.
/// In: kicks whose queue pair has its state; receive, where a message has no buffer. Out: work
/// requests and receive buffers to the rules, queue pairs that may send to the packet builder.
/// Queue: none; one read of each ring at a time, of up to `wqe_batch` entries. Latency: that read,
/// or none of commands, which are in the adapter. Nobody blocks it.
#pragma once

#include "rdma/hca_module.h"
#include "rdma/hca_seams.h"
#include "stats/waits_of_each.h"

namespace flitwise {

class HcaDescriptorFetch final : public HcaModule, public HcaRings {
 public:
  explicit HcaDescriptorFetch(const HcaParts& parts)
      : HcaModule("descriptor_fetch"), s_(parts), batches_(2U * parts.config.pairs) {}

  void kicked(std::uint32_t pair, Time now) override;
  void read(std::uint32_t pair, bool is_receive, Time now) override;
  void lose(std::uint32_t pair, bool is_receive) override;
  void done(HcaJob& job, Time now) override;
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override {
    errors["bad_ring_entry"] += bad_entries_;
  }
  std::string waiting() const override;
  void start_window(Time now) override;
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;

 private:
  void take_commands(HcaPair& pair);
  void post(HcaPair& pair, bool is_receive, const std::uint8_t* entry);
  void note_batch(std::uint32_t pair, bool is_receive, Time now);

  const HcaParts& s_;
  std::uint64_t bad_entries_ = 0;
  WaitsOfEach batches_;  // of send and receive rings, by queue pair
};

}  // namespace flitwise
