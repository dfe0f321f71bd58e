// SPDX-License-Identifier: Apache-2.0
// What limits: a server that is busy all the time, else what requests wait for most.
#include "results/summary_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

// A server that is busy for so long limits, whatever was waited for in front of it.
constexpr double kBusyAllTheTime = 0.97;
// The first way and the last take no more than the rest of the window.
constexpr double kNearlyAllTheTime = 0.8;
// Requests wait for slots so long before a server that is busier is not what limits them.
constexpr double kManyWaits = 0.25;
// Slots whose shares differ by less than this are held by each other: the last on the way limits.
constexpr double kAlike = 0.9;

struct Candidate {
  const WaitResult* wait;
  double share;
  bool is_server() const { return wait->resource.role == ResourceRole::kServer; }
};

// Kinds that share what the row of another kind is about.
std::string row_kind(const std::string& kind) {
  if (kind == "atomic") {
    return "read";
  }
  return kind == "message" || kind == "msi" ? "write" : kind;
}

bool is_on(const Step& step, const Resource& resource) {
  return resource.at == step.at &&
         (resource.direction.empty() || resource.direction == step.direction) &&
         (resource.kind.empty() || resource.kind == row_kind(step.kind));
}

// Of a server that works nearly to the end: in the time from its first work to its last, so that
// the way of the first request and of the last completion does not count as idle.
double share_of(const WaitResult& wait, Time window) {
  if (wait.resource.role != ResourceRole::kServer) {
    return window > Time{} ? std::min(wait.blocked.ns() / window.ns(), 1.0) : 0;
  }
  const double busy = wait.busy.value_or(0);
  const bool has_ends = wait.span && wait.span->ns() > kNearlyAllTheTime * window.ns();
  return has_ends ? std::min(busy * window.ns() / wait.span->ns(), 1.0) : busy;
}

// In the order of the way.
std::vector<Candidate> candidates(const RequestRoute& route, const RunResult& result) {
  std::vector<Candidate> all;
  for (const Step& step : route.steps) {
    for (const WaitResult& wait : result.rows<WaitResult>()) {
      const bool is_known = std::any_of(
          all.begin(), all.end(), [&wait](const Candidate& one) { return one.wait == &wait; });
      if (wait.resource.role == ResourceRole::kQueue || is_known || !is_on(step, wait.resource)) {
        continue;
      }
      if (const double share = share_of(wait, result.simulated); share > 0) {
        all.push_back({&wait, share});
      }
    }
  }
  return all;
}

// The largest share; of slots that are as good as alike, the last.
std::vector<Candidate>::iterator largest(std::vector<Candidate>& all, bool is_server) {
  auto best = all.end();
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (one->is_server() == is_server &&
        (best == all.end() || one->share >= best->share * (is_server ? 1 : kAlike))) {
      best = one;
    }
  }
  return best;
}

// Takes out what limits most.
std::vector<Candidate>::iterator limiting(std::vector<Candidate>& all) {
  const auto server = largest(all, true);
  const auto slots = largest(all, false);
  if (server == all.end() || slots == all.end()) {
    return server == all.end() ? slots : server;
  }
  if (server->share >= kBusyAllTheTime) {
    return server;
  }
  return slots->share >= kManyWaits || slots->share >= server->share ? slots : server;
}

Limit take_limit(std::vector<Candidate>& all, const LargerValue& larger) {
  const auto found = limiting(all);
  if (found == all.end()) {
    return {};
  }
  const Resource& resource = found->wait->resource;
  Limit limit{resource.at,  resource.name,      resource.key,
              found->share, found->wait->total, resource.key.empty() ? "" : larger(resource.key)};
  all.erase(found);
  return limit;
}

}  // namespace

std::vector<ExplainResult> explain(const RunResult& result, const LargerValue& larger) {
  std::vector<ExplainResult> rows;
  for (const RequestRoute& route : result.routes) {
    if (route.requests > 0) {
      std::vector<Candidate> all = candidates(route, result);
      ExplainResult row{route.link, route.direction, route.kind, take_limit(all, larger), {}};
      row.next = take_limit(all, larger);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string text_of(const ExplainResult& row) {
  std::string text = fmt::format("{} {} {}: ", row.link, row.direction, row.kind);
  if (row.limit.is_empty()) {
    return text + "waited for nothing";
  }
  text += fmt::format("{} {} {:.0f} %", row.limit.at, row.limit.resource, 100 * row.limit.share);
  if (!row.next.is_empty()) {
    text +=
        fmt::format(", next {}{} {:.0f} %", row.next.at == row.limit.at ? "" : row.next.at + " ",
                    row.next.resource, 100 * row.next.share);
  }
  if (!row.limit.larger.empty()) {
    text += fmt::format("; try {}={}", row.limit.key, row.limit.larger);
  } else if (!row.limit.key.empty()) {
    text += fmt::format("; {} cannot be larger", row.limit.key);
  }
  return text;
}

std::string text_of(const std::vector<ExplainResult>& rows) {
  if (rows.empty()) {
    return "Nothing to explain: no engine has issued a request.\n";
  }
  std::string text;
  for (const ExplainResult& row : rows) {
    text += text_of(row) + "\n";
  }
  return text;
}

const ExplainResult* most_limited(const std::vector<ExplainResult>& rows) {
  const auto most = std::max_element(
      rows.begin(), rows.end(),
      [](const ExplainResult& a, const ExplainResult& b) { return a.limit.share < b.limit.share; });
  return most == rows.end() ? nullptr : &*most;
}

}  // namespace flitwise
