// SPDX-License-Identifier: Apache-2.0
/// 32-bit registers with a behaviour for every bit: read-only, read-write, write-one-to-clear,
/// reserved. Standard register layout (docs/config_space.md). One capability is a table of them,
/// plus what a write to it means: a new one is one new file with one function that returns it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace flitwise {

/// Offset of a register of a structure that begins at `start`.
constexpr std::uint16_t register_at(std::uint16_t start, unsigned offset) {
  return static_cast<std::uint16_t>(start + offset);
}

/// Bits of the bytes that byte_enables [3:0] select.
constexpr std::uint32_t byte_mask(std::uint8_t byte_enables) {
  std::uint32_t mask = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    mask |= (byte_enables >> byte & 1U) != 0 ? 0xffU << 8 * byte : 0U;
  }
  return mask;
}

/// One DW of configuration space. Bits in no mask are read-only (a zero there: reserved).
struct Register {
  std::uint16_t offset = 0;  ///< from the start of its structure, DW aligned
  std::uint32_t reset = 0;
  std::uint32_t rw = 0;
  std::uint32_t rw1c = 0;         ///< writing a 1 clears the bit
  std::uint32_t sticky = 0;       ///< survives every reset
  std::uint32_t kept_by_flr = 0;  ///< survives a function level reset only
};

enum class ResetKind : std::uint8_t { kFunctionLevel, kConventional };

class RegisterFile {
 public:
  /// Adds a register at base + definition.offset; a second definition of the same DW is merged in.
  void define(std::uint16_t base, const Register& definition) {
    const std::size_t index = (base + definition.offset) / 4U;
    if (cells_.size() <= index) {
      cells_.resize(index + 1);
    }
    Cell& cell = cells_[index];
    cell.reset |= definition.reset;
    cell.rw |= definition.rw;
    cell.rw1c |= definition.rw1c;
    cell.sticky |= definition.sticky;
    cell.kept_by_flr |= definition.kept_by_flr;
    cell.value |= definition.reset;
  }

  /// REQUIRES: offset < 4096 (its low two bits are ignored). Unknown registers read 0.
  std::uint32_t read(std::uint16_t offset) const { return at(offset).value; }
  /// Bits that software can change by writing them.
  std::uint32_t writable(std::uint16_t offset) const { return at(offset).rw; }
  /// What software writes: bytes selected by byte_enables [3:0].
  void write(std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables) {
    const std::uint32_t enabled = byte_mask(byte_enables);
    const Cell& cell = at(offset);
    set(offset, cell.rw & enabled, value);
    set(offset, value & cell.rw1c & enabled, 0);
  }
  /// What the hardware sets, whatever the masks say: the bits of `mask` become those of `value`.
  void set(std::uint16_t offset, std::uint32_t mask, std::uint32_t value) {
    if (offset / 4U < cells_.size()) {
      std::uint32_t& present = cells_[offset / 4U].value;
      present = (present & ~mask) | (value & mask);
    }
  }
  void reset(ResetKind kind) {
    for (Cell& cell : cells_) {
      const std::uint32_t kept =
          kind == ResetKind::kFunctionLevel ? cell.sticky | cell.kept_by_flr : cell.sticky;
      cell.value = (cell.value & kept) | (cell.reset & ~kept);
    }
  }

 private:
  struct Cell {
    std::uint32_t value = 0, reset = 0, rw = 0, rw1c = 0, sticky = 0, kept_by_flr = 0;
  };
  const Cell& at(std::uint16_t offset) const {
    static constexpr Cell kNone;
    return offset / 4U < cells_.size() ? cells_[offset / 4U] : kNone;
  }

  std::vector<Cell> cells_;  ///< by offset / 4, as far as registers reach
};

/// What a configuration write changed in meaning; the timed model reacts to it.
struct WriteEffect {
  bool command_changed = false;         ///< Bus Master or Memory Space Enable, ...
  bool bus_numbers_changed = false;     ///< type 1: primary, secondary, subordinate
  bool secondary_bus_reset = false;     ///< type 1: the bit went from 0 to 1
  bool link_disable_changed = false;    ///< of a root port
  bool device_control_changed = false;  ///< MPS, MRRS, tags, RO, IDO, timeout
  bool flr_started = false;
  bool routing_changed = false;       ///< BARs, windows, VFs, ACS: what requests go by
  bool error_status_cleared = false;  ///< AER status
  bool ecrc_control_changed = false;  ///< AER: ECRC Generation or Check Enable
  bool dhi_control_changed = false;
  bool ats_control_changed = false;    ///< STU or Enable
  bool stu_changed_live = false;       ///< the STU while Enable stays set: undefined [CFG-06]
  bool pri_control_changed = false;    ///< Enable, Reset or allocation was written
  bool pri_misused = false;            ///< a write whose outcome is left open [PRI-24]
  bool pasid_control_changed = false;  ///< one of the three enables
  bool msix_control_changed = false;   ///< MSI-X Enable or Function Mask

  bool any() const {
    return command_changed || bus_numbers_changed || routing_changed || secondary_bus_reset ||
           link_disable_changed || device_control_changed || flr_started || error_status_cleared ||
           ecrc_control_changed || dhi_control_changed || ats_control_changed || stu_changed_live ||
           pri_control_changed || pri_misused || pasid_control_changed || msix_control_changed;
  }
};

/// A write to one register of a capability, told after the masks were applied.
struct RegisterWrite {
  std::uint16_t offset = 0;  ///< of the DW, from the start of the capability
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  std::uint32_t written = 0;  ///< the value as software wrote it, disabled bytes 0
};

/// Whoever keeps the registers of a capability itself; offsets count from the start of the
/// capability. It must outlive the configuration space.
struct RegisterOwner {
  std::function<std::uint32_t(std::uint16_t offset)> read;
  std::function<void(std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables,
                     WriteEffect& effect)>
      write;
  std::function<void(ResetKind kind)> reset;  ///< may be empty
};

struct Capability {
  std::uint16_t id = 0;
  std::uint8_t version = 1;  ///< extended capabilities only
  bool is_extended = false;
  std::uint16_t size = 0;           ///< bytes; the next capability starts behind it
  std::vector<Register> registers;  ///< the DW at 0 without id, version and next pointer
  std::function<void(const RegisterWrite&, WriteEffect&)> on_write;  ///< may be empty
  std::optional<RegisterOwner> owner;  ///< set: every DW behind the first is its own

  static Capability standard(std::uint16_t id, std::uint16_t size,
                             std::vector<Register> registers) {
    return {id, 1, false, size, std::move(registers), {}, {}};
  }
  static Capability extended(std::uint16_t id, std::uint16_t size,
                             std::vector<Register> registers) {
    return {id, 1, true, size, std::move(registers), {}, {}};
  }
};

/// For Capability::on_write: any change of its registers is this effect.
inline auto told_as(bool WriteEffect::*effect) {
  return [effect](const RegisterWrite& write, WriteEffect& effects) {
    effects.*effect |= write.before != write.after;
  };
}

}  // namespace flitwise
