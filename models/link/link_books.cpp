// SPDX-License-Identifier: Apache-2.0
// What a link measures in its window, and what it says of itself.
#include <fmt/format.h>

#include <algorithm>

#include "link/link.h"

namespace flitwise {
namespace {

const char* name_of(FcClass fc) {
  switch (fc) {
    case FcClass::kPosted:
      return "posted";
    case FcClass::kNonPosted:
      return "non-posted";
    case FcClass::kCompletion:
      return "completion";
  }
  return "?";
}

}  // namespace

void Link::start_window(bool from_first_counted) {
  for (auto& end : ends_) {
    open_window(*end, now());
    end->opens_window = from_first_counted;
  }
}

StallTimes Link::stalls_of(const End& end, Time when) {
  StallTimes stalls = end.queues.stalls(when);
  if (end.messages) {
    const StallTimes of_messages = end.messages->stalls(when);
    stalls.credits_cxl_req = of_messages.credits_cxl_req;
    stalls.credits_cxl_rsp = of_messages.credits_cxl_rsp;
    stalls.credits_cxl_data = of_messages.credits_cxl_data;
  }
  return stalls;
}

Link::Tally Link::tally(const End& end, const LaneStream& settled, Time when) {
  return {end.account,         settled.phy_bits(),   settled.idle_bits(), settled.skps(),
          end.framer->stats(), stalls_of(end, when), settled.free_at(),   waits_of(end, when)};
}

Link::Tally Link::tally_now(const End& end) {
  LaneStream lanes = end.lanes;
  lanes.settle(now());
  return tally(end, lanes, now());
}

void Link::open_window(End& end, Time when) {
  end.opens_window = false;
  end.lanes.settle(when);
  end.account.first_symbol = Time::never();
  end.window_begin = tally(end, end.lanes, now());
}

void Link::end_window() {
  for (auto& end : ends_) {
    end->window_end = tally_now(*end);
  }
}

void Link::extend_window() {
  for (auto& end : ends_) {
    end->window_end.reset();
  }
}

DirectionResult Link::direction(const End& from) const {
  const Tally b = from.window_end ? *from.window_end : tally_now(from);
  const Tally& a = from.window_begin;
  const bool is_empty = b.account.first_symbol == Time::never();
  DirectionResult r;
  r.tlps = b.account.tlps - a.account.tlps;
  r.payload_bytes = b.account.payload_bytes - a.account.payload_bytes;
  r.first_symbol = is_empty ? Time{} : b.account.first_symbol;
  r.last_symbol = is_empty ? Time{} : b.account.last_symbol;
  r.window = b.at - a.at;
  r.window_end = b.at;
  r.bits = b.account.bits;
  r.bits.phy = b.phy;
  r.bits.idle += b.idle;
  WireBits before = a.account.bits;
  before.phy = a.phy;
  before.idle += a.idle;
  r.bits -= before;
  r.stalls = {};
  for (Time StallTimes::*const credits :
       {&StallTimes::credits_posted, &StallTimes::credits_nonposted,
        &StallTimes::credits_completion, &StallTimes::credits_cxl_req, &StallTimes::credits_cxl_rsp,
        &StallTimes::credits_cxl_data}) {
    r.stalls.*credits = b.stalls.*credits - a.stalls.*credits;
  }
  r.stalls.replay_buffer = b.framer.replay_buffer_stall - a.framer.replay_buffer_stall;
  r.replays = b.framer.replays - a.framer.replays;
  r.replay_events = b.framer.replay_events - a.framer.replay_events;
  r.naks = b.framer.naks - a.framer.naks;
  r.acks = b.framer.acks - a.framer.acks;
  r.update_fcs = b.framer.update_fcs - a.framer.update_fcs;
  r.retrains = b.framer.retrains - a.framer.retrains;
  r.skps = b.skps - a.skps;
  r.corrupted = b.account.damaged - a.account.damaged;
  r.flits_corrected = b.account.corrected - a.account.corrected;
  r.lost_tlps = b.account.lost.tlps - a.account.lost.tlps;
  return r;
}

LinkResult Link::result() const {
  LinkResult result;
  result.name = name();
  result.is_bit_packed = config_.carrier == Carrier::kBitPacked;
  result.up = direction(end(LinkSide::kDownstream));
  result.down = direction(end(LinkSide::kUpstream));
  return result;
}

bool Link::carries_tlps() const {
  for (std::size_t side = 0; side < 2; ++side) {
    const End& from = *ends_[side];
    if (from.taken.tlps != ends_[1 - side]->delivered_load.tlps + from.written_off.tlps) {
      return true;
    }
  }
  return false;
}

bool Link::is_quiet() const {
  return std::all_of(ends_.begin(), ends_.end(), [](const auto& end) {
    return end->framer->is_quiet() && end->lanes.free_at() <= now() &&
           std::none_of(end->wire.begin(), end->wire.end(),
                        [](const InFlight& flying) { return flying.unit.has_payload(); });
  });
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
  static constexpr const char* kDirections[] = {"down", "up"};
  for (std::size_t i = 0; i < 2; ++i) {
    for (int c = 0; c < kFcClasses; ++c) {
      const auto fc = static_cast<FcClass>(c);
      const TransactionQueues& queues = ends_[i]->queues;
      if (queues.size(fc) == 0) {
        continue;
      }
      text += fmt::format("{} {}: {} {} TLPs queued, {}\n", name(), kDirections[i], queues.size(fc),
                          name_of(fc),
                          queues.starved(fc) != nullptr ? "the first waits for flow control credits"
                                                        : "the first waits behind an older TLP");
    }
    if (const std::string held = ends_[i]->framer->waiting(); !held.empty()) {
      const bool is_of_other = config_.carrier == Carrier::kBitPacked;  // what came in
      text += fmt::format("{} {}: {}\n", name(), kDirections[is_of_other ? 1 - i : i], held);
    }
    if (ends_[i]->queues.empty() && !ends_[i]->framer->is_quiet() &&
        ends_[i]->framer->waiting().empty()) {
      text += fmt::format("{} {}: what was sent has no Ack yet, or an Ack is due\n", name(),
                          kDirections[i]);
    }
    if (!ends_[i]->framer->is_active()) {
      text += fmt::format("{} {}: {}\n", name(), kDirections[i],
                          is_down_ ? "the link is down" : "flow control is not initialised");
    }
  }
  return text;
}

std::vector<CheckResult> Link::checks() const {
  std::vector<CheckResult> checks;
  for (std::size_t i = 0; i < 2; ++i) {
    const FramerStats& stats = ends_[i]->framer->stats();
    const std::string at = fmt::format("{} {}", name(), i == 0 ? "upstream end" : "downstream end");
    checks.push_back({at + ": credits conserved", ends_[i]->framer->is_conserved(), ""});
    const DirectionResult sent = direction(*ends_[i]);
    const std::uint64_t raw = ends_[i]->lanes.raw_bits(sent.window);
    checks.push_back({at + ": wire bits add up", sent.bits.total() == raw,
                      fmt::format("{} counted of {}", sent.bits.total(), raw)});
    checks.push_back({at + ": no TLP without credits", stats.credit_overruns == 0,
                      fmt::format("{} came without", stats.credit_overruns)});
  }
  return checks;
}

}  // namespace flitwise
