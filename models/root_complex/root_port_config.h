// SPDX-License-Identifier: Apache-2.0
/// What a root port takes from a configuration.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "tlp/identity.h"

namespace flitwise {

struct RootPortConfig {
  HostConfig host;
  LinkConfig link;
  MessageConfig message;
  unsigned handle_bits = 0;      ///< of the device below
  bool wants_alloc_ack = false;  ///< it does [DHI D8]
  unsigned stu = 0;              ///< of its functions [CFG-05]
  unsigned reply_split = 0;      ///< IommuConfig::reply_split
  bool real_payload = true;
  std::uint64_t drop_completions = 0;  ///< so many are not sent
  bool breaks_completion = false;      ///< the next one, on purpose

  static RootPortConfig of(const Config& config) {
    return {config.host,
            config.link,
            config.message,
            config.device.dhi.bits,
            config.device.dhi.alloc_order == AllocOrder::kAck,
            config.device.atc.stu,
            config.iommu.reply_split,
            config.workload.real_payload,
            config.faults.drop_completions,
            config.faults.breaks(BrokenRule::kCompletion)};
  }
  IdentityForm form() const { return {link.identity, link.dhi_form, handle_bits}; }
};

}  // namespace flitwise
