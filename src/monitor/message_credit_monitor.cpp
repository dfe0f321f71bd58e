// SPDX-License-Identifier: Apache-2.0
// A message without a credit.
#include "monitor/message_credit_monitor.h"

#include <fmt/format.h>

#include "cxl/channels.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kNoCredit{"CXL-3.1", "a message was sent without a credit of its class"};

}  // namespace

// By CxlChannel. Whether an RwD takes a request credit as well stands in one place. [CXL-1.6]
const std::array<MessageCreditMonitor::Needs, kCxlChannels> MessageCreditMonitor::kNeeds = {{
    {false, kReq, kReq},
    {false, kRsp, kRsp},
    {false, kData, kData},
    {false, kReq, kReq},
    {false, kRsp, kRsp},
    {false, kData, kData},
    {true, kReq, kReq},
    {true, kRwdTakesRequestCredit ? kReq : kData, kData},
    {true, kRsp, kRsp},
    {true, kRsp, kRsp},
    {true, kData, kData},
    {true, kReq, kReq},
}};

void MessageCreditMonitor::report(const Packet& packet, Time now) const {
  const Needs& needs = kNeeds[static_cast<std::size_t>(packet.cxl->channel)];
  const auto& left = left_[needs.is_mem ? 1 : 0];
  reporter_.report(kNoCredit, now, packet,
                   fmt::format("{} request, {} response and {} data credits of {} left", left[kReq],
                               left[kRsp], left[kData], needs.is_mem ? "CXL.mem" : "CXL.cache"));
}

}  // namespace flitwise
