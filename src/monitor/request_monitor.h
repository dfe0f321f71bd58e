// SPDX-License-Identifier: Apache-2.0
/// Watches the shape of each TLP by itself: 4 KiB boundary, byte enables, Length against MPS and
/// MRRS, address type. [LNK-2.8] to [LNK-2.10] [LNK-4.1] [LNK-9.14] [LNK-9.15]
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "monitor/packet_ring.h"
#include "monitor/violation_log.h"

namespace flitwise {

class RequestMonitor {
 public:
  /// MRRS as software has set it meanwhile. Unit: byte.
  using EnabledMrrs = std::function<std::uint32_t()>;
  /// Units: bytes; mrrs 0: reads in this direction have no such bound. `enabled` is asked where a
  /// read exceeds mrrs; empty: it stays as it is.
  RequestMonitor(Reporter reporter, std::uint32_t mps, std::uint32_t mrrs, EnabledMrrs enabled = {})
      : reporter_(reporter),
        limits_{mps, mrrs == 0 ? kLargestRead : mrrs, mps},
        enabled_mrrs_(std::move(enabled)) {}

  /// Is a TLP what nearly every one is: within its page and its limit, all bytes of several DWs
  /// enabled, of a usual address type? Then there is no more to ask.
  bool fits(const Tlp& tlp, TlpKind kind) const {
    const std::uint32_t bytes = 4U * tlp.length_dw;
    const bool is_usual =
        bytes <= limits_[kind.fc] && (static_cast<unsigned>(tlp.at) & 1U) == 0;  // not 1 and not 3
    if (!kind.is_memory) {
      return is_usual && tlp.at == AddressType::kUntranslated && is_completion(tlp.type);
    }
    return is_usual && (tlp.first_be & tlp.last_be) == 0xf &&
           (static_cast<std::uint32_t>(tlp.address) & 0xfffU) + bytes <= 0x1000U &&
           tlp.length_dw > 1;
  }
  /// Reports what is wrong with a TLP that the model made, if anything is, when it goes on the wire
  /// for the first time.
  void report(const Packet& packet, Time now) const;
  /// Warns of a message that should be otherwise, whoever made it. [PRI-33]
  void advise(const Packet& packet, Time now) const;

 private:
  static constexpr std::uint32_t kLargestRead = 4096;
  void look_at_memory_request(const Packet& packet, Time now) const;

  Reporter reporter_;
  std::array<std::uint32_t, kFcClasses> limits_;  // bytes of data carried or asked for
  EnabledMrrs enabled_mrrs_;
};

}  // namespace flitwise
