// SPDX-License-Identifier: Apache-2.0
/// Which devices have the ATS capability.
#pragma once

#include "flitwise/config.h"

namespace flitwise {

/// For its ATC, or for firmware of an RDMA adapter that translates ahead of use.
constexpr bool has_ats(const DeviceConfig& device) {
  return device.atc.enabled || device.rdma.pretranslation.is_on;
}
/// The same, where the device may have no such adapter.
inline bool has_ats(const Config& config) {
  return config.workload.via == WorkloadVia::kRdma ? has_ats(config.device)
                                                   : config.device.atc.enabled;
}

}  // namespace flitwise
