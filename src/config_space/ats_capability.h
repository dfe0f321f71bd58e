// SPDX-License-Identifier: Apache-2.0
/// The ATS, Page Request and PASID capabilities, typed views on them, and the writes by which host
/// software sets them up (docs/config_space.md).
/// [CFG-06] to [CFG-12]
#pragma once

#include <cstdint>
#include <vector>

#include "ats/page_request_interface.h"
#include "config_space/capability.h"
#include "config_space/config_space.h"
#include "config_space/enumeration.h"

namespace flitwise {

// ---- ATS (000F): physical and virtual functions
struct AtsOptions {
  unsigned queue_depth = 32;          ///< Invalidate Requests taken without back-pressure, 1..32
  bool is_page_aligned = true;        ///< Page Aligned Request
  bool has_global_invalidate = true;  ///< Global Invalidate Supported
  bool is_virtual = false;            ///< of a VF: depth and STU read 0, those of its PF count
};
/// STU and Enable RW, all else RO; every reset clears both. A write that changes one gives
/// WriteEffect::ats_control_changed, and stu_changed_live if the STU changes while Enable stays
/// set. [CFG-06]
Capability ats_capability(const AtsOptions& options);

struct AtsControl {
  bool is_enabled = false;
  std::uint8_t stu = 0;       ///< 0..31
  unsigned queue_depth = 32;  ///< 1..32
  bool is_page_aligned = false;
};
/// `physical`: of a VF, its PF, whose STU and depth count for it. Without the capability: all off.
/// [CFG-07] [CFG-12]
AtsControl ats_control(const ConfigSpace& space, const ConfigSpace* physical = nullptr);

// ---- Page Request (0013): physical functions only; their VFs share it
/// `interface` keeps the registers and must outlive the configuration space. A write gives
/// WriteEffect::pri_control_changed where Enable, Reset or the allocation is written, and
/// pri_misused where its outcome is left open. [CFG-09] [PRI-22]
Capability pri_capability(PageRequestInterface& interface);

// ---- PASID (001B): physical functions only; their VFs share it
struct PasidOptions {
  unsigned width = kPasidBits;  ///< Max PASID Width, 1..20
  bool has_execute = true;      ///< Execute Permission Supported
  bool has_privileged = true;   ///< Privileged Mode Supported
};
/// The three enables are RW where supported; every reset clears them. A change gives
/// WriteEffect::pasid_control_changed.
Capability pasid_capability(const PasidOptions& options);

struct PasidControl {
  bool is_enabled = false;
  bool has_execute = false;     ///< Execute Permission Enable
  bool has_privileged = false;  ///< Privileged Mode Enable
  unsigned width = 0;           ///< Max PASID Width; 0 without the capability
};
PasidControl pasid_control(const ConfigSpace& space);

// ---- set-up by software; start: of the capability
/// STU and Enable in one write of the control half.
std::vector<CfgAccess> ats_accesses(Bdf function, std::uint16_t start, unsigned stu, bool enable);
/// Allocation first, then Enable; to disable, Enable alone. [PRI-25]
std::vector<CfgAccess> pri_accesses(Bdf function, std::uint16_t start, std::uint32_t allocation,
                                    bool enable);
std::vector<CfgAccess> pasid_accesses(Bdf function, std::uint16_t start,
                                      const PasidControl& control);

}  // namespace flitwise
