// SPDX-License-Identifier: Apache-2.0
// A message without a credit.
#include "monitor/message_monitor.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

constexpr MonitoredRule kNoCredit{"CXL-3.1", "a message was sent without a credit of its class"};

}  // namespace

// By CxlChannel. [CXL-1.6]
const std::array<MessageCreditMonitor::Need, kCxlChannels> MessageCreditMonitor::kNeeds = {{
    {false, kReq},
    {false, kRsp},
    {false, kData},
    {false, kReq},
    {false, kRsp},
    {false, kData},
    {true, kReq},
    {true, kData},
    {true, kRsp},
    {true, kRsp},
    {true, kData},
    {true, kReq},
}};

void MessageCreditMonitor::report(const Packet& packet, Time now) const {
  const Need& need = kNeeds[static_cast<std::size_t>(packet.cxl->channel)];
  const auto& left = left_[need.is_mem ? 1 : 0];
  reporter_.report(kNoCredit, now, packet,
                   fmt::format("{} request, {} response and {} data credits of {} left", left[kReq],
                               left[kRsp], left[kData], need.is_mem ? "CXL.mem" : "CXL.cache"));
}

}  // namespace flitwise
