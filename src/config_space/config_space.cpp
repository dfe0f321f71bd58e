// SPDX-License-Identifier: Apache-2.0
// Type 0 and type 1 headers, the chains of capabilities, and what writes to them mean.
#include "config_space/config_space.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "common/ranges.h"
#include "config_space/capabilities.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
constexpr std::uint32_t kCommandWritable = cfg::kCommandMemorySpace | cfg::kCommandBusMaster |
                                           cfg::kCommandParityResponse | cfg::kCommandSerr |
                                           cfg::kCommandInterruptDisable;
constexpr std::uint32_t kStatusErrors = 0xf900U << 16;  ///< master and target aborts, parity, SERR
constexpr std::uint32_t kMinBarBytes = 4096;
constexpr std::uint32_t kNetworkController = 0x020000, kPciBridge = 0x060400;  // class codes
constexpr std::uint32_t kRevision = 1, kSubsystem = 1;
}  // namespace

std::vector<Register> bar_registers(std::uint16_t offset, const BarSizes& sizes) {
  std::vector<Register> registers;
  for (const std::uint64_t size : sizes) {
    if (size != 0) {
      FLITWISE_CHECK(size >= kMinBarBytes && (size & (size - 1)) == 0,
                     "size of a BAR: " + std::to_string(size));
      const std::uint64_t writable = ~(size - 1);
      registers.push_back({offset, cfg::kBarPrefetchable64, static_cast<std::uint32_t>(writable)});
      registers.push_back({register_at(offset, 4), 0, static_cast<std::uint32_t>(writable >> 32)});
    }
    offset = register_at(offset, 8);
  }
  return registers;
}

void ConfigSpace::define_common(const FunctionIds& ids, std::uint32_t class_code,
                                std::uint32_t header_type) {
  registers_.define(0, {cfg::kVendorId, ids.vendor | std::uint32_t{ids.device} << 16});
  registers_.define(0, {cfg::kCommand, 0, kCommandWritable, kStatusErrors});
  registers_.define(0, {cfg::kRevisionClass, kRevision | class_code << 8});
  registers_.define(0, {0x0c, header_type << 16, 0xff});  // Cache Line Size is writable.
  registers_.define(0, {cfg::kCapabilityPointer, 0});
  registers_.define(0, {cfg::kInterruptLine, 0, 0xff});
  // An empty extended chain reads as a null header.
  registers_.define(0, {cfg::kExtendedStart, 0});
}

ConfigSpace ConfigSpace::type0(const FunctionIds& ids, const BarSizes& bars) {
  ConfigSpace space;
  space.define_common(ids, kNetworkController, 0);
  space.registers_.define(0, {cfg::kSubsystemId, kModelVendor | kSubsystem << 16});
  for (const Register& definition : bar_registers(cfg::kBar0, bars)) {
    space.registers_.define(0, definition);
  }
  return space;
}

ConfigSpace ConfigSpace::type1(const FunctionIds& ids, bool is_multi_function) {
  ConfigSpace space;
  space.is_bridge_ = true;
  space.define_common(ids, kPciBridge, 1U | (is_multi_function ? cfg::kHeaderMultiFunction : 0U));
  space.registers_.define(0, {cfg::kBusNumbers, 0, 0x00ffffff});
  space.registers_.define(0, {cfg::kMemoryWindow, 0, 0xfff0fff0});
  // The low nibbles say that the prefetchable window is a 64-bit one.
  space.registers_.define(0, {cfg::kPrefetchWindow, 0x00010001, 0xfff0fff0});
  space.registers_.define(0, {cfg::kPrefetchBaseUpper, 0, 0xffffffff});
  space.registers_.define(0, {cfg::kPrefetchLimitUpper, 0, 0xffffffff});
  space.registers_.define(0, {cfg::kBridgeControlDw, 0, 0x00030000 | cfg::kSecondaryBusReset});
  return space;
}

std::uint16_t ConfigSpace::add(Capability capability) {
  const bool extended = capability.is_extended;
  std::uint16_t& next = extended ? next_extended_ : next_standard_;
  std::uint16_t& last = extended ? last_extended_ : last_standard_;
  const std::uint16_t start = next;
  const unsigned end = extended ? cfg::kSpaceBytes : cfg::kExtendedStart;
  FLITWISE_CHECK(start + capability.size <= end,
                 "no room for capability " + std::to_string(capability.id));
  for (const Register& definition : capability.registers) {
    registers_.define(start, definition);
  }
  if (extended) {
    registers_.define(start, {0, capability.id | std::uint32_t{capability.version} << 16});
    if (last != 0) {
      registers_.define(last, {0, std::uint32_t{start} << 20});
    }
  } else {
    registers_.define(start, {0, capability.id});
    registers_.define(last != 0 ? last : cfg::kCapabilityPointer,
                      {0, last != 0 ? std::uint32_t{start} << 8 : start});
    registers_.define(0, {cfg::kCommand, cfg::kStatusCapabilityList});
  }
  last = start;
  next = static_cast<std::uint16_t>((start + capability.size + 3U) & ~3U);
  placed_.push_back({start, std::move(capability)});
  return start;
}

const ConfigSpace::Placed* ConfigSpace::placed_at(std::uint16_t offset) const {
  return find_where(placed_, [offset](const Placed& placed) {
    return offset >= placed.start && offset < placed.start + placed.capability.size;
  });
}

std::uint32_t ConfigSpace::read(std::uint16_t offset) const {
  const auto dw = static_cast<std::uint16_t>(offset & ~3U);
  if (dw >= 0x40) {
    const Placed* placed = placed_at(dw);
    if (placed != nullptr && placed->capability.owner && dw != placed->start) {
      return placed->capability.owner->read(static_cast<std::uint16_t>(dw - placed->start));
    }
  }
  return registers_.read(dw);
}

WriteEffect ConfigSpace::write(std::uint16_t offset, std::uint32_t value,
                               std::uint8_t byte_enables) {
  WriteEffect effect;
  const auto dw = static_cast<std::uint16_t>(offset & ~3U);
  const Placed* placed = dw >= 0x40 ? placed_at(dw) : nullptr;
  const auto inside = static_cast<std::uint16_t>(placed != nullptr ? dw - placed->start : 0);
  if (placed != nullptr && placed->capability.owner && inside != 0) {
    placed->capability.owner->write(inside, value, byte_enables, effect);
    return effect;
  }
  const std::uint32_t before = registers_.read(dw);
  registers_.write(dw, value, byte_enables);
  const std::uint32_t after = registers_.read(dw);
  if (placed == nullptr) {
    note_header_write(dw, before, after, effect);
  } else if (placed->capability.on_write) {
    placed->capability.on_write({inside, before, after, value & byte_mask(byte_enables)}, effect);
    if (effect.error_status_cleared) {
      forget_cleared_error(*this);
    }
  }
  return effect;
}

void ConfigSpace::note_header_write(std::uint16_t offset, std::uint32_t before, std::uint32_t after,
                                    WriteEffect& effect) const {
  const std::uint32_t changed = before ^ after;
  if (changed == 0) {
    return;
  }
  if (offset == cfg::kCommand) {
    effect.command_changed = (changed & kCommandWritable) != 0;
  } else if (!is_bridge_) {
    effect.routing_changed = offset >= cfg::kBar0 && offset < cfg::kBar0 + 24;
  } else if (offset == cfg::kBusNumbers) {
    effect.bus_numbers_changed = true;
  } else if (offset >= cfg::kMemoryWindow && offset <= cfg::kPrefetchLimitUpper) {
    effect.routing_changed = true;
  } else if (offset == cfg::kBridgeControlDw) {
    effect.secondary_bus_reset = (changed & after & cfg::kSecondaryBusReset) != 0;
  }
}

void ConfigSpace::reset(ResetKind kind) {
  registers_.reset(kind);
  for (const Placed& placed : placed_) {
    if (placed.capability.owner && placed.capability.owner->reset) {
      placed.capability.owner->reset(kind);
    }
  }
}

std::optional<std::uint16_t> ConfigSpace::find(std::uint16_t id, bool is_extended) const {
  const Placed* const found = find_where(placed_, [&](const Placed& placed) {
    return placed.capability.is_extended == is_extended && placed.capability.id == id;
  });
  return found == nullptr ? std::nullopt : std::optional(found->start);
}

AddressRange ConfigSpace::bar(unsigned index) const {
  return is_bridge_ || index > 2 ? AddressRange{} : bar_at(register_at(cfg::kBar0, 8 * index));
}

AddressRange ConfigSpace::bar_at(std::uint16_t offset) const {
  const auto upper = static_cast<std::uint16_t>(offset + 4);
  const std::uint64_t writable =
      std::uint64_t{registers_.writable(upper)} << 32 | registers_.writable(offset);
  const std::uint64_t base =
      std::uint64_t{registers_.read(upper)} << 32 | (registers_.read(offset) & ~0xfU);
  // The writable bits are the address bits above the size.
  return writable == 0 ? AddressRange{} : AddressRange{base, ~writable + 1};
}

std::string config_dump(Bdf function, const ConfigSpace& space) {
  const std::uint32_t ids = space.read(cfg::kVendorId);
  const std::uint32_t revision_class = space.read(cfg::kRevisionClass);
  constexpr unsigned kRowBytes = 16;
  std::string text = fmt::format(
      "{:02x}:{:02x}.{} {:04x}: {:04x}:{:04x} (rev {:02x})\n", function.bus(), function.device(),
      function.function(), revision_class >> 16, ids & 0xffffU, ids >> 16, revision_class & 0xffU);
  for (unsigned row = 0; row < cfg::kSpaceBytes; row += kRowBytes) {
    fmt::format_to(std::back_inserter(text), "{:02x}:", row);
    for (unsigned offset = row; offset < row + kRowBytes; offset += 4) {
      const std::uint32_t dw = space.read(static_cast<std::uint16_t>(offset));
      for (unsigned byte = 0; byte < 4; ++byte) {
        fmt::format_to(std::back_inserter(text), " {:02x}", dw >> 8 * byte & 0xffU);
      }
    }
    text += '\n';
  }
  return text + '\n';
}

}  // namespace flitwise
