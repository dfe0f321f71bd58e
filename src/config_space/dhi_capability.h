// SPDX-License-Identifier: Apache-2.0
/// The DHI capability as part of a configuration space, and the writes by which host software sets
/// it up. [DHI D5] [DHI D6]
#pragma once

#include <cstdint>
#include <vector>

#include "config_space/capability.h"
#include "config_space/dhi_dvsec.h"
#include "config_space/enumeration.h"

namespace flitwise {

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
