// SPDX-License-Identifier: Apache-2.0
/// One capability as a table of registers, plus what a write to it means. A new capability is one
/// new file with one function that returns this.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "config_space/register_file.h"

namespace flitwise {

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

  bool any() const {
    return command_changed || bus_numbers_changed || routing_changed || secondary_bus_reset ||
           link_disable_changed || device_control_changed || flr_started || error_status_cleared ||
           ecrc_control_changed || dhi_control_changed || ats_control_changed || stu_changed_live ||
           pri_control_changed || pri_misused || pasid_control_changed;
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
