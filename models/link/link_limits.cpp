// SPDX-License-Identifier: Apache-2.0
// The bounded resources of a link: credits, replay buffers and the wires.
#include <array>

#include "link/link.h"

namespace flitwise {
namespace {

struct LimitInfo {
  const char* name;
  const char* kind;  // of the TLPs that wait for it
  const char* key;
};
// By LinkLimit. Keys of credits as they are dedicated and, where the link shares some, shared.
constexpr std::array<LimitInfo, kLinkLimits> kLimits = {{
    {"posted_headers", "write", "posted_headers"},
    {"posted_data", "write", "posted_data"},
    {"nonposted_headers", "read", "nonposted_headers"},
    {"nonposted_data", "read", "nonposted_data"},
    {"completion_headers", "completion", "completion_headers"},
    {"completion_data", "completion", "completion_data"},
    {"cxl_req_credits", "", "link.cxl.req_credits"},
    {"cxl_rsp_credits", "", "link.cxl.rsp_credits"},
    {"cxl_data_credits", "", "link.cxl.data_credits"},
    {"replay_buffer", "", "link.replay_buffer"},
}};
constexpr std::size_t kFirstCxl = static_cast<std::size_t>(LinkLimit::kCxlReq);

std::string key_of(std::size_t limit, bool is_shared) {
  const char* const key = kLimits[limit].key;
  return limit >= kFirstCxl
             ? key
             : std::string(is_shared ? "link.shared_credits." : "link.credits.") + key;
}

}  // namespace

void Link::add_waits(LinkSide sender, std::vector<WaitResult>& rows) const {
  const End& from = end(sender);
  const char* const direction = sender == LinkSide::kDownstream ? "up" : "down";
  const LinkWaits waits = from.waits();
  for (std::size_t limit = 0; limit < kLinkLimits; ++limit) {
    const StallCount& waited = waits[limit];
    const std::uint64_t capacity = from.capacity_of(static_cast<LinkLimit>(limit), config_);
    if (capacity > 0) {
      rows.push_back({{name(), kLimits[limit].name, ResourceRole::kSlots, direction,
                       kLimits[limit].kind, key_of(limit, from.queues.shares_credits()), capacity},
                      waited.count,
                      waited.time,
                      waited.time});
    }
  }
  const DirectionResult sent = from.result();
  const std::uint64_t bits = sent.bits.total();
  WaitResult wire{{name(), "link", ResourceRole::kServer, direction, "", "link.preset", 1}};
  wire.busy =
      bits == 0 ? 0.0 : static_cast<double>(bits - sent.bits.idle) / static_cast<double>(bits);
  wire.peak = bits > sent.bits.idle ? 1 : 0;
  if (sent.tlps > 0) {
    wire.span = sent.last_symbol - sent.first_symbol;
  }
  rows.push_back(std::move(wire));
}

std::vector<WaitResult> Link::waits() const {
  std::vector<WaitResult> rows;
  add_waits(LinkSide::kDownstream, rows);
  add_waits(LinkSide::kUpstream, rows);
  return rows;
}

}  // namespace flitwise
