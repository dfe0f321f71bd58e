// SPDX-License-Identifier: Apache-2.0
/// What a device takes from a configuration.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "tlp/identity.h"

namespace flitwise {

struct EndpointConfig {
  DeviceConfig device;
  LinkConfig link;
  MessageConfig message;
  FaultsConfig faults;
  std::uint32_t domains = 1;  ///< of the workload
  At at = At::kUntranslated;
  bool real_payload = true;
  std::uint64_t buffer_base = 0;
  bool has_switch = false;      ///< between device and root port
  bool stops_contexts = false;  ///< software stops contexts while others go on
  std::uint64_t seed = 1;

  static EndpointConfig of(const Config& config);
  IdentityForm form() const { return {link.identity, link.dhi_form, device.dhi.bits}; }
};

}  // namespace flitwise
