// SPDX-License-Identifier: Apache-2.0
// Behaviour of the registers, bit by bit, and of the three interrupts.
#include "iommu/registers.h"

#include <iterator>

namespace flitwise {

namespace {

using namespace iommu_register;

/// A queue has 2^QS times as many bytes, whatever the width of its entries. [IOM-1.7]
constexpr std::uint32_t kUnverifiedQueueUnit = 4096;
constexpr std::uint32_t kMasked = 1U << 31, kInterruptPending = 1U << 30;
constexpr std::uint64_t kRecordTaken = std::uint64_t{1} << 63;
constexpr std::uint64_t kStartCommand = std::uint64_t{1} << 63;
constexpr std::uint64_t kQueueOffset = 0x7fff0;        // 18:4
constexpr std::uint64_t kPageRequestOffset = 0x7ffe0;  // 18:5
constexpr std::uint64_t kWideDescriptors = 1U << 11;
constexpr std::uint32_t kVersion = 0x10;

/// Of an interrupt: the registers of its control, data and address.
struct EventBlock {
  std::uint32_t control, data, address;
};
constexpr EventBlock kEventBlocks[] = {  // by IommuEvent
    {kFectl, kFedata, kFeaddr},
    {kIectl, kIedata, kIeaddr},
    {kPectl, kPedata, kPeaddr}};
constexpr const EventBlock& block_of(IommuEvent event) {
  return kEventBlocks[static_cast<unsigned>(event)];
}

constexpr bool touches(std::uint32_t offset, unsigned bytes, std::uint32_t reg, unsigned size) {
  return offset < reg + size && reg < offset + bytes;
}

bool is_access(std::uint32_t offset, unsigned bytes) {
  return (bytes == 4 || bytes == 8) && offset % bytes == 0 && offset + bytes <= kPageBytes;
}

}  // namespace

IommuRegisters::IommuRegisters(const IommuCapabilities& offers)
    : fault_record_count_(offers.fault_records) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  define(kVer, 4, kVersion, 0);
  define(kCap, 8, cap_register(offers), 0);
  define(kEcap, 8, ecap_register(offers), 0);
  define(kRtaddr, 8, 0, ~std::uint64_t{0x3ff});
  define(kCcmd, 8, 0, ~(std::uint64_t{3} << 59));
  define(kFsts, 4, 0, 0, fault_status::kClearable);
  for (const EventBlock& block : kEventBlocks) {
    define(block.control, 4, kMasked, kMasked);
    define(block.data, 4, 0, 0xffff'ffff);
    define(block.address, 4, 0, 0xffff'fffc);
    define(block.address + 4, 4, 0, 0xffff'ffff);
  }
  define(kIqh, 8, 0, 0);
  define(kIqt, 8, 0, kQueueOffset);
  define(kIqa, 8, 0, kPageAddress | kWideDescriptors | 7U);
  define(kIcs, 4, 0, 0, 1);
  define(kIqer, 8, 0, 0);
  define(kIrta, 8, 0, kPageAddress | 0x80fU);
  define(kPqh, 8, 0, kPageRequestOffset);
  define(kPqt, 8, 0, kPageRequestOffset);
  define(kPqa, 8, 0, kPageAddress | 7U);
  define(kPrs, 4, 0, 0, page_request_status::kPending | page_request_status::kOverflow);
  define(kIva, 8, 0, kAll);
  define(kIotlb, 8, 0, ~(std::uint64_t{3} << 57));
  for (unsigned i = 0; i < fault_record_count_; ++i) {
    define(record_offset(i), 8, 0, 0);
    define(record_offset(i) + 8U, 8, 0, 0, kRecordTaken);
  }
}

unsigned IommuRegisters::width(std::uint32_t offset) const {
  return offset % 8 == 0 && offset < kPageBytes && is_wide_[offset / 8] ? 8 : 4;
}

void IommuRegisters::define(std::uint32_t offset, unsigned bytes, std::uint64_t reset,
                            std::uint64_t rw, std::uint64_t rw1c) {
  const unsigned shift = offset % 8 * 8;
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : std::uint64_t{0xffff'ffff} << shift;
  const unsigned cell = offset / 8;
  value_[cell] = (value_[cell] & ~mask) | reset << shift;
  rw_[cell] = (rw_[cell] & ~mask) | rw << shift;
  rw1c_[cell] = (rw1c_[cell] & ~mask) | rw1c << shift;
  is_wide_[cell] = bytes == 8;
}

std::uint32_t IommuRegisters::get32(std::uint32_t offset) const {
  return static_cast<std::uint32_t>(value_[offset / 8] >> offset % 8 * 8);
}

void IommuRegisters::put32(std::uint32_t offset, std::uint32_t value) {
  const unsigned shift = offset % 8 * 8;
  value_[offset / 8] =
      (value_[offset / 8] & ~(std::uint64_t{0xffff'ffff} << shift)) | std::uint64_t{value} << shift;
}

std::uint64_t IommuRegisters::read(std::uint32_t offset, unsigned bytes) const {
  if (!is_access(offset, bytes)) {
    return 0;
  }
  return bytes == 8 ? get64(offset) : get32(offset);
}

RegisterEffects IommuRegisters::write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  RegisterEffects effects;
  if (!is_access(offset, bytes)) {
    return effects;
  }
  const unsigned shift = offset % 8 * 8;
  const std::uint64_t lanes = bytes == 8 ? ~std::uint64_t{0} : std::uint64_t{0xffff'ffff} << shift;
  const std::uint64_t written = bytes == 8 ? value : value << shift;
  const unsigned cell = offset / 8;
  value_[cell] = (value_[cell] & ~(rw_[cell] & lanes)) | (written & rw_[cell] & lanes);
  value_[cell] &= ~(written & rw1c_[cell] & lanes);
  update_pending_faults();
  if (touches(offset, bytes, kGcmd, 4)) {
    apply_command(static_cast<std::uint32_t>(value), effects);
  }
  note_effects(offset, bytes, effects);
  return effects;
}

/// GCMD reads as 0: lasting commands are compared with GSTS, the others are one-shot. [IOM-1.4]
void IommuRegisters::apply_command(std::uint32_t command, RegisterEffects& effects) {
  const std::uint32_t changed = command ^ global_status();
  effects.changes_translation = (changed & global_bit::kTranslation) != 0;
  effects.enables_translation = (command & global_bit::kTranslation) != 0;
  effects.changes_queue = (changed & global_bit::kQueue) != 0;
  effects.enables_queue = (command & global_bit::kQueue) != 0;
  effects.sets_root_table = (command & global_bit::kRootTable) != 0;
  if (effects.sets_root_table) {
    set_global_status(global_bit::kRootTable, false);
  }
  if ((command & global_bit::kInterruptTable) != 0) {
    set_global_status(global_bit::kInterruptTable, true);
  }
  const std::uint32_t plain = global_bit::kInterruptRemap | global_bit::kCompatible;
  set_global_status(plain & ~command, false);
  set_global_status(plain & command, true);
}

void IommuRegisters::note_effects(std::uint32_t offset, unsigned bytes, RegisterEffects& effects) {
  effects.moves_queue_tail = touches(offset, bytes, kIqt, 4);
  effects.invalidates_contexts =
      touches(offset, bytes, kCcmd + 4, 4) && (context_command() & kStartCommand) != 0;
  effects.invalidates_iotlb =
      touches(offset, bytes, kIotlb + 4, 4) && (iotlb_command() & kStartCommand) != 0;
  const bool is_served[] = {(fault_status() & fault_status::kAny) == 0, get32(kIcs) == 0,
                            get32(kPrs) == 0};
  for (const IommuEvent event :
       {IommuEvent::kFault, IommuEvent::kInvalidation, IommuEvent::kPageRequest}) {
    const std::uint32_t control = block_of(event).control;
    if (is_served[static_cast<unsigned>(event)]) {  // what has been told is not pending: unverified
      put32(control, get32(control) & ~kInterruptPending);
    }
    if (touches(offset, bytes, control, 4) && get32(control) == kInterruptPending) {
      put32(control, 0);
      effects.interrupt = message_of(event);
    }
  }
}

IommuInterrupt IommuRegisters::message_of(IommuEvent event) const {
  const EventBlock& block = block_of(event);
  return {event, get32(block.address) | std::uint64_t{get32(block.address + 4)} << 32,
          get32(block.data)};
}

std::optional<IommuInterrupt> IommuRegisters::raise(IommuEvent event, std::uint32_t status,
                                                    std::uint32_t bits) {
  const std::uint32_t errors = event == IommuEvent::kFault ? fault_status::kAny : ~0U;
  const bool is_first = (get32(status) & errors) == 0;
  put32(status, get32(status) | bits);
  const std::uint32_t control = block_of(event).control;
  if (is_first && (get32(control) & kMasked) != 0) {
    put32(control, get32(control) | kInterruptPending);
  } else if (is_first) {
    return message_of(event);
  }
  return std::nullopt;
}

QueueView IommuRegisters::invalidation_queue() const {
  QueueView queue = queue_at(kIqa, (get64(kIqa) & kWideDescriptors) != 0 ? 32 : 16);
  queue.tail &= ~(queue.entry_bytes - 1U);
  return queue;
}

bool IommuRegisters::queue_tail_is_valid() const {
  const QueueView queue = invalidation_queue();
  const bool is_aligned = get64(kIqt) == queue.tail;
  return is_aligned && queue.tail < queue.bytes;
}

// Head and tail stand before the address.
QueueView IommuRegisters::queue_at(std::uint32_t address, std::uint32_t entry_bytes) const {
  const std::uint64_t word = get64(address);
  return {word & kPageAddress, kUnverifiedQueueUnit << (word & 7U), entry_bytes,
          get32(address - 16), get32(address - 8)};
}

void IommuRegisters::latch_root_table() {
  const std::uint64_t address = get64(kRtaddr);
  root_table_ = {address & kPageAddress, static_cast<TableMode>(address >> 10 & 3U)};
}

void IommuRegisters::set_global_status(std::uint32_t bits, bool is_set) {
  put32(kGsts, is_set ? global_status() | bits : global_status() & ~bits);
}

void IommuRegisters::put_field(std::uint32_t offset, unsigned low, unsigned bits,
                               std::uint64_t value) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  put64(offset, (get64(offset) & ~(mask << low)) | (value & mask) << low);
}

bool IommuRegisters::fault_record_is_taken(unsigned index) const {
  return (get64(record_offset(index) + 8U) & kRecordTaken) != 0;
}

std::optional<IommuInterrupt> IommuRegisters::set_fault_record(unsigned index, std::uint64_t low,
                                                               std::uint64_t high) {
  put64(record_offset(index), low);
  put64(record_offset(index) + 8U, high | kRecordTaken);
  const bool is_oldest = (fault_status() & fault_status::kPending) == 0;
  return raise_fault(is_oldest ? fault_status::kPending | index << 8 : 0);
}

/// PPF is the OR of all F; FRI stays at the oldest until that one is cleared. [IOM-9.1]
void IommuRegisters::update_pending_faults() {
  if ((fault_status() & fault_status::kPending) == 0) {
    return;
  }
  const unsigned first = fault_status() >> 8 & 0xffU;
  for (unsigned i = 0; i < fault_record_count_; ++i) {
    const unsigned index = (first + i) % fault_record_count_;
    if (fault_record_is_taken(index)) {
      put32(kFsts, (fault_status() & 0xffU) | index << 8);
      return;
    }
  }
  put32(kFsts, fault_status() & ~(fault_status::kPending | 0xff00U));
}

}  // namespace flitwise
