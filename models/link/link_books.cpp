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

void Link::report(RunResult& all) const {
  all.rows<LinkResult>().push_back(result());
}

void Link::add_progress(Progress& sum) const {
  sum.delivered += delivered();
  sum.wasted += wasted();
}

void Link::count_repeats(Counts& counts) const {
  const std::string link = name();
  for (const LinkSide sender : {LinkSide::kDownstream, LinkSide::kUpstream}) {
    const FramerStats& framer = framer_stats(sender);
    const std::string who = link + (sender == LinkSide::kDownstream ? " up: " : " down: ");
    counts[who + "TLPs or flits sent again"] = framer.replays;
    counts[who + "Naks sent"] = framer.naks;
    counts[who + "retrainings"] = framer.retrains;
  }
  counts[link + ": damaged on the wire or sent again"] = wasted();
  counts[link + ": TLPs delivered"] = delivered();
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
    const DirectionResult sent = ends_[i]->result();
    const std::uint64_t raw = ends_[i]->lanes.raw_bits(sent.window);
    checks.push_back({at + ": wire bits add up", sent.bits.total() == raw,
                      fmt::format("{} counted of {}", sent.bits.total(), raw)});
    checks.push_back({at + ": no TLP without credits", stats.credit_overruns == 0,
                      fmt::format("{} came without", stats.credit_overruns)});
  }
  return checks;
}

}  // namespace flitwise
