// SPDX-License-Identifier: Apache-2.0
/// Collect buffer controller of an RDMA adapter. [HP-1]
/// In: stores to the doorbell and to the register that arms completion queues, 8 bytes at a time,
/// and to the place of commands. Out: the new end of a ring, and a kick of its queue pair; orders
/// to completion, and to the adapter. What is for a function that is down is dropped. Queue: `fifo`
/// entries. Latency: `collect`, and a clock for each 64 bytes; interval: a clock for each 64 bytes.
/// Nobody blocks it: kicks always have room.
#pragma once

#include <functional>

#include "endpoint/bar_access.h"
#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaCollectBuffer final : public HcaStage<HcaPosted>, private RegionOwner {
 public:
  /// came: it has more to do then.
  HcaCollectBuffer(const HcaParts& parts, std::function<void(Time when)> came);

  void claim(BarMap& map);  ///< doorbells and commands in BAR 0
  bool run(Time now) override;
  void settle(Time now) override;
  bool is_quiet() const override { return HcaStage::is_quiet() && s_.commands.is_quiet(); }
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override;

 private:
  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  bool is_told_early() const override { return true; }
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;
  void take(const HcaPosted& posted, Time now);

  const HcaParts& s_;
  const std::function<void(Time)> came_;
  std::uint64_t bad_doorbells_ = 0, bad_commands_ = 0;
  std::uint64_t ignored_ = 0;  // for functions that are down
};

}  // namespace flitwise
