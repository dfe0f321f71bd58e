// SPDX-License-Identifier: Apache-2.0
/// The register page of the translation agent: what software reads and writes, and what a write
/// sets off. [IOM-1.1]
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

#include "common/page.h"
#include "iommu/capabilities.h"
#include "iommu/walk.h"

namespace flitwise {

/// Offsets in bytes. [IOM-1.1]
namespace iommu_register {
inline constexpr std::uint32_t kVer = 0x00, kCap = 0x08, kEcap = 0x10, kGcmd = 0x18, kGsts = 0x1c,
                               kRtaddr = 0x20, kCcmd = 0x28, kFsts = 0x34, kFectl = 0x38,
                               kFedata = 0x3c, kFeaddr = 0x40, kFeuaddr = 0x44, kIqh = 0x80,
                               kIqt = 0x88, kIqa = 0x90, kIcs = 0x9c, kIectl = 0xa0, kIedata = 0xa4,
                               kIeaddr = 0xa8, kIeuaddr = 0xac, kIqer = 0xb0, kIrta = 0xb8,
                               kPqh = 0xc0, kPqt = 0xc8, kPqa = 0xd0, kPrs = 0xdc, kPectl = 0xe0,
                               kPedata = 0xe4, kPeaddr = 0xe8, kPeuaddr = 0xec,
                               kIva = kIotlbRegisters, kIotlb = kIotlbRegisters + 8;
}  // namespace iommu_register

/// Bits of GCMD and GSTS. [IOM-1.4]
namespace global_bit {
inline constexpr std::uint32_t kTranslation = 1U << 31, kRootTable = 1U << 30, kQueue = 1U << 26,
                               kInterruptRemap = 1U << 25, kInterruptTable = 1U << 24,
                               kCompatible = 1U << 23;
}  // namespace global_bit

/// Bits of FSTS. [IOM-1.5]
namespace fault_status {
inline constexpr std::uint32_t kOverflow = 1U << 0, kPending = 1U << 1, kQueueError = 1U << 4,
                               kCompletionError = 1U << 5, kTimeout = 1U << 6,
                               kPageRequestOverflow = 1U << 7;
/// Written 1, they become 0.
inline constexpr std::uint32_t kClearable =
    kOverflow | kQueueError | kCompletionError | kTimeout | kPageRequestOverflow;
inline constexpr std::uint32_t kAny = kClearable | kPending;
}  // namespace fault_status

/// Bits of PRS. [PRI-13]
namespace page_request_status {
inline constexpr std::uint32_t kPending = 1U << 0, kOverflow = 1U << 1;
}

/// The three interrupts of the agent.
enum class IommuEvent : std::uint8_t { kFault, kInvalidation, kPageRequest };

/// A message-signalled interrupt: 4 bytes of data to an address.
struct IommuInterrupt {
  IommuEvent event = IommuEvent::kFault;
  std::uint64_t address = 0;
  std::uint32_t data = 0;
};

/// What a write sets off, for the clocks to carry out. Status bits follow by set_global_status().
struct RegisterEffects {
  bool sets_root_table = false;      ///< SRTP
  bool changes_translation = false;  ///< TE differs from TES; to what: enables_translation
  bool enables_translation = false;
  bool changes_queue = false;  ///< QIE differs from QIES
  bool enables_queue = false;
  bool moves_queue_tail = false;            ///< IQT was written
  bool invalidates_contexts = false;        ///< CCMD with ICC
  bool invalidates_iotlb = false;           ///< IOTLB with IVT
  std::optional<IommuInterrupt> interrupt;  ///< one was pending and is unmasked now [PRI-17]
};

/// A queue in memory as its registers describe it.
struct QueueView {
  std::uint64_t base = 0;
  std::uint32_t bytes = 0;           ///< of the whole queue
  std::uint32_t entry_bytes = 0;     ///< 16 or 32
  std::uint32_t head = 0, tail = 0;  ///< offsets in bytes
  /// Offset after this one, with wrap. [IQU-09]
  std::uint32_t after(std::uint32_t offset) const {
    return offset + entry_bytes >= bytes ? 0 : offset + entry_bytes;
  }
};

class IommuRegisters {
 public:
  /// Everything disabled.
  explicit IommuRegisters(const IommuCapabilities& offers);

  /// Software reads 4 or 8 bytes, naturally aligned; anything else reads 0.
  std::uint64_t read(std::uint32_t offset, unsigned bytes) const;
  /// Bytes of the register at this offset: 8 or 4. [IOM-1.1]
  unsigned width(std::uint32_t offset) const;
  /// Software writes likewise; anything else has no effect.
  RegisterEffects write(std::uint32_t offset, unsigned bytes, std::uint64_t value);

  // What the hardware asks.
  bool translates() const { return (global_status() & global_bit::kTranslation) != 0; }
  bool queue_is_enabled() const { return (global_status() & global_bit::kQueue) != 0; }
  std::uint32_t global_status() const { return get32(iommu_register::kGsts); }
  std::uint32_t fault_status() const { return get32(iommu_register::kFsts); }
  /// As RTADDR was at the latest latch_root_table().
  const RootTable& root_table() const { return root_table_; }
  QueueView invalidation_queue() const;
  /// False where IQT has bit 4 set with 256-bit descriptors, or lies beyond the queue. [IQU-10]
  bool queue_tail_is_valid() const;
  QueueView page_request_queue() const { return queue_at(iommu_register::kPqa, 32); }
  std::uint64_t context_command() const { return get64(iommu_register::kCcmd); }
  std::uint64_t iotlb_command() const { return get64(iommu_register::kIotlb); }
  std::uint64_t iotlb_address() const { return get64(iommu_register::kIva); }

  // What the hardware does.
  void latch_root_table();
  /// Bits of GSTS.
  void set_global_status(std::uint32_t bits, bool is_set);
  void set_queue_head(std::uint32_t offset) { put64(iommu_register::kIqh, offset); }
  void set_page_request_tail(std::uint32_t offset) { put64(iommu_register::kPqt, offset); }
  /// IQER: reason of IQE; Requester ID of a timeout or of an unexpected completion.
  void set_queue_error(unsigned reason) { put_field(iommu_register::kIqer, 0, 4, reason); }
  void set_timeout_source(Bdf source) { put_field(iommu_register::kIqer, 32, 16, source.value); }
  void set_completion_error_source(Bdf source) {
    put_field(iommu_register::kIqer, 48, 16, source.value);
  }
  /// CCMD and IOTLB: done at this granularity (1 global, 2 domain, 3 device or page).
  void finish_context_command(unsigned granularity) {
    put_field(iommu_register::kCcmd, 59, 2, granularity);
    put_field(iommu_register::kCcmd, kStartCommandBit, 1, 0);
  }
  void finish_iotlb_command(unsigned granularity) {
    put_field(iommu_register::kIotlb, 57, 2, granularity);
    put_field(iommu_register::kIotlb, kStartCommandBit, 1, 0);
  }

  /// Sets bits of FSTS (not PPF). An interrupt goes out for the first error alone. [IOM-9.3]
  std::optional<IommuInterrupt> raise_fault(std::uint32_t status_bits) {
    return raise(IommuEvent::kFault, iommu_register::kFsts, status_bits);
  }
  /// A wait descriptor with IF: sets IWC. [IQU-05]
  std::optional<IommuInterrupt> raise_invalidation() {
    return raise(IommuEvent::kInvalidation, iommu_register::kIcs, 1);
  }
  /// Sets bits of PRS. [PRI-16, PRI-17]
  std::optional<IommuInterrupt> raise_page_request(std::uint32_t status_bits) {
    return raise(IommuEvent::kPageRequest, iommu_register::kPrs, status_bits);
  }

  unsigned fault_record_count() const { return fault_record_count_; }
  bool fault_record_is_taken(unsigned index) const;
  /// Fills record `index` and sets F, PPF and FRI. REQUIRES: it is not taken.
  std::optional<IommuInterrupt> set_fault_record(unsigned index, std::uint64_t low,
                                                 std::uint64_t high);

 private:
  static constexpr unsigned kCells = kPageBytes / 8;
  static constexpr unsigned kStartCommandBit = 63;  // ICC, IVT

  std::uint32_t get32(std::uint32_t offset) const;
  std::uint64_t get64(std::uint32_t offset) const { return value_[offset / 8]; }
  void put32(std::uint32_t offset, std::uint32_t value);
  void put64(std::uint32_t offset, std::uint64_t value) { value_[offset / 8] = value; }
  void put_field(std::uint32_t offset, unsigned low, unsigned bits, std::uint64_t value);
  void define(std::uint32_t offset, unsigned bytes, std::uint64_t reset, std::uint64_t rw,
              std::uint64_t rw1c = 0);
  static std::uint32_t record_offset(unsigned index) { return kFaultRecords + 16U * index; }
  void update_pending_faults();
  void apply_command(std::uint32_t command, RegisterEffects& effects);
  void note_effects(std::uint32_t offset, unsigned bytes, RegisterEffects& effects);
  /// Sets bits of a status register. An interrupt goes out for the first of them alone.
  std::optional<IommuInterrupt> raise(IommuEvent event, std::uint32_t status, std::uint32_t bits);
  IommuInterrupt message_of(IommuEvent event) const;
  QueueView queue_at(std::uint32_t address, std::uint32_t entry_bytes) const;

  std::array<std::uint64_t, kCells> value_{}, rw_{}, rw1c_{};
  std::bitset<kCells> is_wide_;  // one register of 8 bytes
  unsigned fault_record_count_;
  RootTable root_table_{0, TableMode::kLegacy};
};

}  // namespace flitwise
