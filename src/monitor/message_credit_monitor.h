// SPDX-License-Identifier: Apache-2.0
/// Credits of CXL.cache and CXL.mem, of one direction of a link: no more messages are sent than the
/// flits that have come the other way gave credits for. [CXL-3.1] [CXL-3.2]
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/cxl.h"
#include "flitwise/flit.h"
#include "flitwise/packet.h"
#include "monitor/violation_log.h"

namespace flitwise {

class MessageCreditMonitor {
 public:
  explicit MessageCreditMonitor(Reporter reporter) : reporter_(reporter) {}

  /// A flit that counts has come to the sender.
  void told(const CxlFlitHeader& header) {
    for (std::size_t i = 0; i < header.credits.size(); ++i) {
      left_[header.credits[i].is_mem ? 1 : 0][i] += header.credits[i].count;
    }
  }
  void sent(const Packet& packet, Time now) {
    const Need& need = kNeeds[static_cast<std::size_t>(packet.cxl->channel)];
    std::uint64_t& left = left_[need.is_mem ? 1 : 0][need.credit];
    if (left == 0) {
      report(packet, now);
      return;
    }
    --left;
  }
  void reset() { left_ = {}; }

 private:
  enum Class : std::uint8_t { kReq, kRsp, kData };
  struct Need {
    bool is_mem;
    Class credit;
  };
  static const std::array<Need, kCxlChannels> kNeeds;
  [[gnu::cold, gnu::noinline]] void report(const Packet& packet, Time now) const;

  Reporter reporter_;
  std::array<std::array<std::uint64_t, 3>, 2> left_{};  // CXL.cache, CXL.mem; by Class
};

}  // namespace flitwise
