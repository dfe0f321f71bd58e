// SPDX-License-Identifier: Apache-2.0
// Who repeats what.
#include "system/repeat_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

constexpr std::size_t kMostLines = 8;

using Counts = std::map<std::string, std::uint64_t>;

void add(Counts& counts, const std::string& who, const Counts& errors) {
  for (const auto& [kind, count] : errors) {
    counts[who + ": " + kind] += count;
  }
}

void add(Counts& counts, const std::string& link, const char* direction,
         const FramerStats& framer) {
  const std::string who = link + " " + direction + ": ";
  counts[who + "TLPs or flits sent again"] = framer.replays;
  counts[who + "Naks sent"] = framer.naks;
  counts[who + "retrainings"] = framer.retrains;
}

}  // namespace

RepeatBook::Counts RepeatBook::counts() const {
  Counts all;
  for (const FabricLink& one : fabric_.links) {
    add(all, one.name, "up", one.link->framer_stats(LinkSide::kDownstream));
    add(all, one.name, "down", one.link->framer_stats(LinkSide::kUpstream));
    all[one.name + ": damaged on the wire or sent again"] = one.link->wasted();
    all[one.name + ": TLPs delivered"] = one.link->delivered();
  }
  for (const FabricDevice& device : fabric_.devices) {
    add(all, device.name, device.endpoint->errors());
    all[device.name + ": flushes sent"] = device.endpoint->dhi().flushes();
    for (const AtsResult& function : device.endpoint->ats_results()) {
      all[function.function + ": Translation Requests sent"] = function.requests;
      all[function.function + ": Page Requests sent"] = function.page_requests;
    }
  }
  for (const auto& port : fabric_.root_ports) {
    add(all, port->name(), port->errors());
  }
  for (const auto& one : fabric_.switches) {
    add(all, one->name(), one->errors());
  }
  for (const auto& host : hosts_) {
    add(all, host->prefix + "host software", host->bridge.errors());
    all[host->prefix + "host software: accesses to devices"] = host->bridge.accesses();
    all[host->prefix + "iommu0: orders of software carried out"] = host->agent.orders_done();
  }
  return all;
}

void RepeatBook::begin() {
  if (before_.empty()) {
    before_ = counts();
  }
}

void RepeatBook::forget() {
  before_.clear();
}

std::string RepeatBook::text() const {
  std::vector<std::pair<std::uint64_t, std::string>> repeated;
  for (const auto& [what, count] : counts()) {
    const auto then = before_.find(what);
    const std::uint64_t again = count - (then == before_.end() ? 0 : then->second);
    if (again > 0) {
      repeated.emplace_back(again, what);
    }
  }
  std::stable_sort(repeated.begin(), repeated.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  repeated.resize(std::min(repeated.size(), kMostLines));
  std::string text;
  for (const auto& [count, what] : repeated) {
    text += fmt::format("{}: {} times\n", what, count);
  }
  return text.empty() ? "nothing\n" : text;
}

std::string RepeatBook::failed_link() {
  for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
    const Link& link = *fabric_.links[i].link;
    const Line at_present{link.delivered(), link.wasted()};
    if (i == links_.size()) {
      links_.push_back(at_present);
    }
    Line& since = links_[i];
    if (at_present.wasted - since.wasted <= kMostWasted) {
      continue;
    }
    if (at_present.delivered - since.delivered < kFewestDelivered) {
      return fabric_.links[i].name;
    }
    since = at_present;
  }
  return "";
}

}  // namespace flitwise
