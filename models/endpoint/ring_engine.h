// SPDX-License-Identifier: Apache-2.0
/// The descriptor ring of a device in time (rules: src/endpoint/descriptor_ring.h), its memory, and
/// the MSI-X interrupts that tell of what it has copied. It works as the PF, without a PASID of its
/// own. docs/descriptor_ring.md
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "config_space/capabilities.h"
#include "endpoint/descriptor_ring.h"
#include "endpoint/engine.h"
#include "endpoint/msix_table.h"
#include "endpoint/ring_result.h"
#include "flitwise/config.h"

namespace flitwise {

class RingEngine final : public Engine, public Bystander, private RegionOwner {
 public:
  struct Hooks {
    std::function<void()> work_appeared;        ///< next() is worth asking again
    std::function<MsixControl()> msix_control;  ///< of the PF, as software has written it
  };
  RingEngine(const std::string& name, const DeviceConfig& device, Hooks hooks);

  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override { return Time::never(); }
  void finished(const TransferEnd& end) override;
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override;
  void claim(BarMap& map) override;
  bool is_done() const override { return under_way_ == 0 && ring_.is_idle(); }
  bool is_exhausted() const override { return is_done(); }
  std::string waits_for() const override;
  /// The device begins a reset of the PF, or has ended it.
  void reset();

  void add_progress(Progress& sum) const override { sum.completed += so_far_.descriptors; }
  void start_window() override { before_ = so_far_; }
  void report(RunResult& result) const override;
  Counts errors() const override;

 private:
  enum Region : unsigned { kRegisters, kTable, kPending };
  /// Beside the slots of the ring, in tokens of transfers.
  enum What : std::uint32_t { kFetch = DescriptorRing::kSlots, kWriteBack, kInterrupt };

  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;
  bool next_interrupt(Transfer& transfer);
  bool next_write_back(Transfer& transfer);
  bool next_fetch(Transfer& transfer);
  bool next_copy(Transfer& transfer);
  std::uint32_t token(std::uint32_t what) const { return ring_.life() << 8 | what; }
  bool is_current(std::uint32_t token) const { return token >> 8 == (ring_.life() & 0xff'ffffU); }

  const Hooks hooks_;
  const std::uint64_t memory_bytes_;
  const BarRegion table_area_, pending_area_;
  DescriptorRing ring_;
  MsixTable interrupts_;
  std::vector<std::uint8_t> memory_;  // made when the ring is first used
  std::array<std::uint8_t, DescriptorRing::kSlots * RingDescriptor::kBytes> fetched_{};
  std::array<std::uint8_t, 4> message_{};  // of the interrupt that goes
  unsigned under_way_ = 0;                 // transfers
  RingResult so_far_, before_;
};

}  // namespace flitwise
