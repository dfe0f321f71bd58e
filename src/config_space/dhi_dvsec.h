// SPDX-License-Identifier: Apache-2.0
/// The DHI capability in config space of a device or a root port, and the writes by which host
/// software sets it up; layout in docs/formats/dhi_dvsec.md. [DHI D5, D6]
#pragma once

#include <cstdint>
#include <vector>

#include "config_space/capability.h"
#include "config_space/enumeration.h"
#include "dhi/negotiation.h"
#include "flitwise/config.h"

namespace flitwise {

/// What the capability announces; read-only on the bus.
struct DhiCapability {
  bool is_supported = true;
  unsigned bits = 12;  ///< 2..12

  static DhiCapability of(const DeviceConfig& device);
};

namespace dvsec {  // Byte offsets from the start of the capability.
inline constexpr std::uint16_t kDvsecId = 0x0001, kHeader1 = 0x04, kHeader2 = 0x08,
                               kCapability = 0x0c, kControl = 0x10, kRange = 0x14, kStatus = 0x18,
                               kLength = 0x1c;
// Bits of control, and where the two bounds and the epoch stand.
inline constexpr std::uint32_t kEnable = 1U << 0, kSoftwareManaged = 1U << 1;
inline constexpr unsigned kEpochShift = 16, kUpperShift = 16, kOutcomeShift = 4;
}  // namespace dvsec

/// Registers only; config space routes accesses here.
class DhiDvsec {
 public:
  explicit DhiDvsec(const DhiCapability& capability);

  /// One DW behind the header of the capability. 0 outside.
  std::uint32_t read(std::uint16_t offset) const { return registers_.read(offset); }
  /// Bytes of `value` whose bit in `byte_enables` is set. Read-only bits and other offsets are
  /// left alone. Returns whether control or range changed: negotiate again.
  bool write(std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables);
  /// Hot reset, FLR of function 0: software's settings go.
  void reset() { registers_.reset(ResetKind::kConventional); }

  HandleEnd end() const;
  HandleRange range() const;
  bool is_software_managed() const {
    return (read(dvsec::kControl) & dvsec::kSoftwareManaged) != 0;
  }
  /// Shown in the status register.
  void set_outcome(const Negotiated& negotiated);

 private:
  RegisterFile registers_;
};

/// `registers` keeps what software writes and must outlive the configuration space. A write that
/// changes control or range gives WriteEffect::dhi_control_changed; every reset clears it.
Capability dhi_capability(DhiDvsec& registers);

/// What software sets at one end.
struct DhiSetUp {
  HandleRange range;
  bool is_enabled = true;
  bool is_software_managed = false;
  std::uint8_t epoch = 0;
};
/// Range first, then control, so that the enable finds the range in place. start: of the DVSEC.
std::vector<CfgAccess> dhi_accesses(Bdf function, std::uint16_t start, const DhiSetUp& set_up);

}  // namespace flitwise
