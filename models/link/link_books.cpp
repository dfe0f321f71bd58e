// SPDX-License-Identifier: Apache-2.0
// What a link measures in its window, and what it says of itself.
#include <fmt/format.h>

#include <array>

#include "common/ranges.h"
#include "link/link.h"

namespace flitwise {
namespace {

// By FcClass, and by the end that sends.
constexpr std::array<const char*, kFcClasses> kClassNames = {"posted", "non-posted", "completion"};
constexpr std::array<const char*, 2> kDirections = {"down", "up"};

struct LimitInfo {
  const char* name;
  const char* kind;  // of the TLPs that wait for it
  const char* key;
};
// By place in LinkWaits. Keys of credits as they are dedicated and, where the link shares some,
// shared.
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

std::uint64_t units_of(const CreditGates& gates, std::size_t limit) {
  return (limit % 2 == 0 ? gates.header : gates.data).initial();
}

// Shared credits that TLPs of this limit may take beside the dedicated ones.
std::uint64_t shared_units_of(const TransactionQueues& queues, std::size_t limit) {
  return limit < kFirstCxlLimit && queues.shares_credits()
             ? units_of(queues.shared_gates().of(static_cast<FcClass>(limit / 2)), limit)
             : 0;
}

// Merged credits stand with those of posted requests.
std::string key_of(const TransactionQueues& queues, std::size_t limit, bool is_merged) {
  if (limit >= kFirstCxlLimit) {
    return kLimits[limit].key;
  }
  if (shared_units_of(queues, limit) == 0) {
    return std::string("link.credits.") + kLimits[limit].key;
  }
  const FcClass pool = shared_class(static_cast<FcClass>(limit / 2), is_merged);
  return std::string("link.shared_credits.") +
         kLimits[2 * static_cast<std::size_t>(pool) + limit % 2].key;
}

// Units of a resource; 0: it has no bound, or none that is a number.
std::uint64_t capacity_of(const LinkEnd& end, std::size_t limit, const LinkConfig& link) {
  if (limit < kFirstCxlLimit) {
    const std::uint64_t own = units_of(end.queues.gates(static_cast<FcClass>(limit / 2)), limit);
    return own == 0 ? 0 : own + shared_units_of(end.queues, limit);
  }
  if (limit == kReplayBufferLimit) {
    return link.replay_buffer;
  }
  return end.messages ? advertised_credits(link.cxl)[0][limit - kFirstCxlLimit] : 0;
}

}  // namespace

void Link::start_window(bool from_first_counted) {
  wake();
  for (auto& end : ends_) {
    end->open_window(now());
    end->opens_window = from_first_counted;
  }
}

void Link::end_window() {
  for (auto& end : ends_) {
    end->window_end = end->tally_now();
  }
}

void Link::extend_window() {
  for (auto& end : ends_) {
    end->window_end.reset();
  }
}

std::array<HeaderCredits, kFcClasses> Link::header_credits(LinkSide sender) const {
  const TransactionQueues& queues = end(sender).queues;
  std::array<HeaderCredits, kFcClasses> all;
  for (const FcClass fc : kEachFcClass) {
    const CreditGate& gate = queues.gates(fc).header;
    HeaderCredits& one = all[static_cast<std::size_t>(fc)];
    one.is_infinite = gate.is_infinite();
    one.has_shared = queues.shares_credits() && queues.shared_gates().of(fc).header.initial() > 0;
    one.used = gate.consumed();
    one.left = one.is_infinite ? 0 : gate.available();
  }
  return all;
}

LinkResult Link::result() const {
  LinkResult result;
  result.name = name();
  result.is_bit_packed = config_.carrier == Carrier::kBitPacked;
  result.up = end(LinkSide::kDownstream).result();
  result.down = end(LinkSide::kUpstream).result();
  if (sender_stalls_) {
    const StallTimes stalls = sender_stalls_();
    result.up.stalls.tags = stalls.tags;
    result.up.stalls.handle = stalls.handle;
  }
  return result;
}

// What was sent in vain: of what is sent again each time but the last, and what was damaged and is
// not.
void Link::add_progress(Progress& sum) const {
  for (const std::unique_ptr<End>& one : ends_) {
    sum.delivered += one->delivered_load.tlps;
    const FramerStats& framer = one->framer->stats();
    sum.wasted += framer.replays + one->account.damaged_alone;
    sum.again += framer.replays;
    sum.replays += framer.replay_events;
  }
}

void Link::count_repeats(Counts& counts) const {
  const std::string link = name();
  for (std::size_t i = 0; i < 2; ++i) {
    const FramerStats& framer = ends_[i]->framer->stats();
    const std::string who = fmt::format("{} {}: ", link, kDirections[i]);
    counts[who + "TLPs or flits sent again"] = framer.replays;
    counts[who + "Naks sent"] = framer.naks;
    counts[who + "retrainings"] = framer.retrains;
  }
  Progress sum;
  add_progress(sum);
  counts[link + ": damaged on the wire or sent again"] = sum.wasted;
  counts[link + ": TLPs delivered"] = sum.delivered;
}

// A fault may hold back what is on its wire until then.
Time Link::waits_until() const {
  return std::max(ends_[0]->delayed_to, ends_[1]->delayed_to);
}

bool Link::is_idle() const {
  const auto has_all_of = [](const End& to, const End& from) {
    return from.taken.tlps == to.delivered_load.tlps + from.written_off.tlps;
  };
  return has_all_of(*ends_[0], *ends_[1]) && has_all_of(*ends_[1], *ends_[0]);
}

bool Link::is_quiet() const {
  return !is_sending() && all_of(ends_, [](const auto& end) {
    return end->framer->is_quiet() &&
           none_of(end->wire, [](const InFlight& flying) { return flying.unit.has_payload(); });
  });
}

bool Link::is_sending() const {
  return any_of(ends_, [](const auto& end) { return end->lanes.free_at() > now(); });
}

std::size_t Link::on_wire() const {
  std::size_t packets = 0;
  for (const auto& end : ends_) {
    for (const InFlight& flying : end->wire) {
      const WireUnit& unit = flying.unit;
      if (flying.is_copy) {
        continue;
      }
      packets += 1U + (unit.ack ? 1U : 0U) + (unit.dllp ? 1U : 0U);
      if (unit.is_flit()) {
        const std::vector<FlitPart>& parts = unit.packet->flit->parts;
        packets += static_cast<std::size_t>(std::count_if(
            parts.begin(), parts.end(), [](const FlitPart& part) { return part.ends; }));
      }
    }
  }
  return packets;
}

std::string Link::waiting() const {
  std::string text;
  const auto say = [&](std::size_t end, const std::string& what) {
    text += fmt::format("{} {}: {}\n", name(), kDirections[end], what);
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const TransactionQueues& queues = ends_[i]->queues;
    const Framer& framer = *ends_[i]->framer;
    for (std::size_t c = 0; c < kFcClasses; ++c) {
      const auto fc = static_cast<FcClass>(c);
      if (queues.size(fc) > 0) {
        say(i, fmt::format("{} {} TLPs queued, the first waits {}", queues.size(fc), kClassNames[c],
                           queues.starved(fc) != nullptr ? "for flow control credits"
                                                         : "behind an older TLP"));
      }
    }
    if (const std::string held = framer.waiting(); !held.empty()) {
      const bool is_of_other = config_.carrier == Carrier::kBitPacked;  // what came in
      say(is_of_other ? 1 - i : i, held);
    } else if (queues.empty() && !framer.is_quiet()) {
      say(i, "what was sent has no Ack yet, or an Ack is due");
    }
    if (!framer.is_active()) {
      say(i, is_down_ ? "the link is down" : "flow control is not initialised");
    }
  }
  return text;
}

std::vector<CheckResult> Link::checks() const {
  std::vector<CheckResult> checks;
  for (const auto& end : ends_) {
    const std::string at =
        fmt::format("{} {} end: ", name(), end == ends_[0] ? "upstream" : "downstream");
    const DirectionResult sent = end->result();
    const std::uint64_t raw = end->lanes.raw_bits(sent.window);
    const std::uint64_t overruns = end->framer->stats().credit_overruns;
    checks.push_back({at + "credits conserved", end->framer->is_conserved(), ""});
    checks.push_back({at + "wire bits add up", sent.bits.total() == raw,
                      fmt::format("{} counted of {}", sent.bits.total(), raw)});
    checks.push_back(
        {at + "no TLP without credits", overruns == 0, fmt::format("{} came without", overruns)});
  }
  return checks;
}

std::vector<WaitResult> Link::waits() const {
  std::vector<WaitResult> rows;
  for (const std::size_t side : {1U, 0U}) {
    const End& from = *ends_[side];
    const LinkWaits waits = from.waits();
    for (std::size_t limit = 0; limit < kLinkLimits; ++limit) {
      if (const std::uint64_t capacity = capacity_of(from, limit, config_); capacity > 0) {
        rows.push_back({{name(), kLimits[limit].name, ResourceRole::kSlots, kDirections[side],
                         kLimits[limit].kind,
                         key_of(from.queues, limit, config_.shared_credits.merged), capacity},
                        waits[limit].count,
                        waits[limit].time,
                        waits[limit].time});
      }
    }
    const DirectionResult sent = from.result();
    const std::uint64_t bits = sent.bits.total();
    WaitResult wire{
        {name(), "link", ResourceRole::kServer, kDirections[side], "", "link.preset", 1}};
    wire.busy =
        bits == 0 ? 0.0 : static_cast<double>(bits - sent.bits.idle) / static_cast<double>(bits);
    wire.peak = bits > sent.bits.idle ? 1 : 0;
    wire.span = sent.tlps > 0 ? sent.last_symbol - sent.first_symbol : Time{};
    rows.push_back(std::move(wire));
  }
  return rows;
}

}  // namespace flitwise
