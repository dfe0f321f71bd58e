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
constexpr std::size_t kReplayBuffer = static_cast<std::size_t>(LinkLimit::kReplayBuffer);

std::string key_of(std::size_t limit, bool is_shared) {
  const char* const key = kLimits[limit].key;
  return limit >= kFirstCxl
             ? key
             : std::string(is_shared ? "link.shared_credits." : "link.credits.") + key;
}

}  // namespace

LinkWaits Link::waits_of(const End& end, Time when) {
  LinkWaits waits{};
  end.queues.add_waits(when, waits);
  if (end.messages) {
    end.messages->add_waits(when, waits);
  }
  const FramerStats& stats = end.framer->stats();
  waits[kReplayBuffer] = {stats.replay_buffer_stall, stats.replay_buffer_waits};
  return waits;
}

// Units of a resource; 0: it has no bound, or none that is a number.
std::uint64_t Link::capacity_of(const End& from, std::size_t limit) const {
  if (limit < kFirstCxl) {
    const auto fc = static_cast<FcClass>(limit / 2);
    return (limit % 2 == 0 ? from.queues.header_gate(fc) : from.queues.data_gate(fc)).initial();
  }
  if (limit == kReplayBuffer) {
    return config_.replay_buffer;
  }
  const std::array<std::uint32_t, kCxlCredits> cxl = {
      config_.cxl.req_credits, config_.cxl.rsp_credits, config_.cxl.data_credits};
  return from.messages ? cxl[limit - kFirstCxl] : 0;
}

void Link::add_waits(LinkSide sender, std::vector<WaitResult>& rows) const {
  const End& from = end(sender);
  const char* const direction = sender == LinkSide::kDownstream ? "up" : "down";
  const LinkWaits now_waits = from.window_end ? from.window_end->waits : waits_of(from, now());
  for (std::size_t limit = 0; limit < kLinkLimits; ++limit) {
    const StallCount waited = now_waits[limit] - from.window_begin.waits[limit];
    const std::uint64_t capacity = capacity_of(from, limit);
    if (capacity > 0) {
      rows.push_back({{name(), kLimits[limit].name, ResourceRole::kSlots, direction,
                       kLimits[limit].kind, key_of(limit, from.queues.shares_credits()), capacity},
                      waited.count,
                      waited.time,
                      waited.time});
    }
  }
  const DirectionResult sent = this->direction(from);
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
