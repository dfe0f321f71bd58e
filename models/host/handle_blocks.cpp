// SPDX-License-Identifier: Apache-2.0
// Handles of devices at the host's end.
#include "host/handle_blocks.h"

#include <algorithm>
#include <variant>

namespace flitwise {
namespace {

// Software has given the port buses, and the table knows none of them.
bool has_no_devices(const HostHandleTable& table, BusRange buses) {
  bool is_known = buses.secondary == 0;
  for (unsigned bus = buses.secondary; bus <= buses.subordinate; ++bus) {
    is_known |= table.partition_of(Bdf::of(static_cast<std::uint8_t>(bus), 0, 0)).has_value();
  }
  return !is_known;
}

// The host knows its own end alone: what software enabled there is what it goes by. [DHI D5, D6]
Negotiated outcome_of(const DhiDvsec& control) {
  const HandleEnd end = control.end();
  return flitwise::negotiate(end, {true, true, end.bits, end.epoch}, control.range(), true);
}

}  // namespace

void HandleBlocks::grant(unsigned index, BusRange buses, HandleRange range) {
  Block& block = all_[index];
  block.buses = buses;
  block.granted = range;
  HostHandleTable& table = block.handles.table();
  if (!table.partition_of(Bdf::of(buses.secondary, 0, 0))) {
    table.add_partition({buses, HandleRange::none(), 0});
  }
  set(block);
}

// One device below the port has the range of the registers; several have their shares of it.
// False: the range is another device's in part. [DHI D2] [DHI D4]
bool HandleBlocks::set(Block& block) {
  HostHandleTable& table = block.handles.table();
  const BusRange buses = block.buses.value_or(block.port.buses());
  const bool is_active = outcome_of(block.control).is_active();
  const bool is_alone = std::count_if(all_.begin(), all_.end(), [&](const Block& other) {
                          return &other.control == &block.control;
                        }) == 1;
  block.is_reset_under_way = false;
  std::optional<PartitionId> partition = table.partition_of(Bdf::of(buses.secondary, 0, 0));
  if (!partition && is_active && is_alone && has_no_devices(table, buses)) {
    partition = table.add_partition({buses, HandleRange::none(), 0});
  }
  if (!partition) {
    return true;
  }
  const HandleRange written = block.control.range();
  const HandleRange range = is_alone ? written : written.common(block.granted);
  return table.reset(*partition, is_active ? range : HandleRange::none(),
                     block.control.end().epoch);
}

void HandleBlocks::negotiate(DhiDvsec& control) {
  Negotiated outcome = outcome_of(control);
  for (Block& block : all_) {
    if (&block.control == &control && !set(block)) {
      outcome.outcome = NegotiationOutcome::kBadRange;
    }
  }
  control.set_outcome(outcome);
}

void HandleBlocks::begin_reset(const DhiDvsec& control) {
  for (Block& block : all_) {
    block.is_reset_under_way |= &block.control == &control;
  }
}

// Unless software has set the end up anew in the meantime. [DHI D4]
void HandleBlocks::end_reset(const DhiDvsec& control) {
  for (Block& block : all_) {
    if (&block.control == &control && block.is_reset_under_way) {
      set(block);
    }
  }
}

// Orders act as if the message had come from the link; software's DEALLOC reaches further.
// [DHI D12, D15]
void HandleBlocks::write(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  Block& block = all_[index_of(address)];
  HostHandleTable& table = block.handles.table();
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const std::uint32_t value = boost::endian::load_little_u32(bytes.data() + at);
    const auto order =
        block.registers.write(static_cast<std::uint32_t>(address % 4096 + at), value);
    if (!order) {
      continue;
    }
    if (const auto* alloc = std::get_if<AllocMessage>(&*order)) {
      block.registers.finish(table.allocate(block.port.buses(), alloc->identity.bdf, *alloc));
    } else {
      block.registers.finish(table.deallocate_by_software(std::get<DeallocMessage>(*order)));
    }
  }
}

// Those of the device of the function.
HostHandles* HandleBlocks::handles_of(Bdf function) const {
  for (const Block& block : all_) {
    const HostHandleTable& table = block.handles.table();
    const std::optional<PartitionId> partition = table.partition_of(function);
    if (partition && block.port.buses().contains(function) &&
        !(table.range(*partition) == HandleRange::none())) {
      return &block.handles;
    }
  }
  return nullptr;
}

std::optional<HandleTables::Device> HandleBlocks::device_of(Bdf function) const {
  const HostHandles* const handles = handles_of(function);
  if (handles == nullptr) {
    return std::nullopt;
  }
  const HostHandleTable& table = handles->table();
  const PartitionId partition = *table.partition_of(function);
  return Device{table.first_function(partition), table.epoch(partition)};
}

// Handles that were switched off meanwhile are gone.
HandleStatus HandleBlocks::answered(Bdf function, const DeallocMessage& message,
                                    HandleStatus answer) {
  HostHandles* const handles = handles_of(function);
  if (handles == nullptr) {
    return HandleStatus::kOk;
  }
  HostHandleTable& table = handles->table();
  return table.answered(*table.partition_of(function), message, answer);
}

void HandleBlocks::name_in_full(Bdf function, std::uint8_t itag) {
  if (HostHandles* const handles = handles_of(function)) {
    handles->name_in_full(function, itag);
  }
}

}  // namespace flitwise
