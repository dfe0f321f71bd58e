// SPDX-License-Identifier: Apache-2.0
// The summary, one small function per table. What limits: a server that is busy all the time, else
// what requests wait for most.
#include "results/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <boost/range/algorithm_ext/erase.hpp>
#include <boost/range/algorithm_ext/push_back.hpp>

#include "common/ranges.h"
#include "rdma/work_request.h"
#include "results/tables.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

TextTable errors_table(const RunResult& result) {
  TextTable table({"Errors and reports", "count"});
  for (const auto& [kind, count] : result.errors) {
    if (count != 0) {
      table.add(kind, count);
    }
  }
  return table;
}

// What follows is of a run that did not do all that it was asked for.
std::string failures_text(const RunResult& result) {
  std::string kinds;
  for (int i = 1; i < kWorkStatuses; ++i) {
    const auto found = result.errors.find(name_of(static_cast<WorkStatus>(i)));
    if (found != result.errors.end() && found->second > 0) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", found->first,
                           with_thousands(found->second));
    }
  }
  return kinds.empty() ? "" : fmt::format("Work requests failed: {}.\n", kinds);
}

std::vector<SummaryPart> checks_parts(const RunResult& result) {
  std::vector<SummaryPart> parts;
  std::string failed;
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      failed += fmt::format("Check FAILED: {}{}{}\n", check.name, check.detail.empty() ? "" : ": ",
                            check.detail);
    }
  }
  if (!failed.empty()) {
    parts.push_back({failed, true});
  } else if (!result.checks.empty()) {
    parts.push_back({fmt::format("All {} checks of the run hold.\n", result.checks.size())});
  }
  return parts;
}

// A server that is busy for so long limits, whatever was waited for: without these waits the run
// would take a twentieth less at most.
constexpr double kBusyAllTheTime = 0.95;
// The first way and the last take no more than the rest of the window.
constexpr double kNearlyAllTheTime = 0.8;
// Requests wait for slots so long before a server that is busier is not what limits them.
constexpr double kManyWaits = 0.25;
// Slots that fewer requests waited for did not hold up the run: it was short.
constexpr std::uint64_t kOften = 10;
// Slots whose shares differ by less than this are held by each other: the last on the way limits.
constexpr double kAlike = 0.9;

struct Candidate {
  const WaitResult* wait;
  double share;
  unsigned stage;  // of the way: places that are beside each other have the same
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
         (resource.kind.empty() || step.kind.empty() || resource.kind == row_kind(step.kind));
}

// Of all devices whose requests pass it: from the first that begins to the last that ends.
Time window_of(const std::string& place, const RunResult& result) {
  Time begin = Time::never(), end{};
  for (const RequestRoute& route : result.routes) {
    const bool passes =
        any_of(route.steps, [&place](const Step& step) { return step.at == place; });
    if (route.requests > route.to_peers && passes) {
      begin = std::min(begin, route.begin);
      end = std::max(end, route.end);
    }
  }
  return end > begin ? end - begin : result.simulated;
}

// Of a server that works nearly to the end: in the time from its first work to its last, so that
// the way of the first request and of the last completion does not count as idle.
double share_of(const WaitResult& wait, Time window, Time of_run) {
  if (window <= Time{}) {
    return 0;
  }
  if (wait.resource.role != ResourceRole::kServer) {
    return std::min(wait.blocked.ns() / window.ns(), 1.0);
  }
  const double busy = wait.busy.value_or(0);
  if (!wait.span) {
    return std::min(busy * of_run.ns() / window.ns(), 1.0);
  }
  const bool has_ends = wait.span->ns() > kNearlyAllTheTime * window.ns();
  return has_ends ? std::min(busy * window.ns() / wait.span->ns(), 1.0) : busy;
}

// In the order of the way.
std::vector<Candidate> candidates(const RequestRoute& route, const RunResult& result) {
  std::vector<Candidate> all;
  unsigned stage = 0;
  for (const Step& step : route.steps) {
    stage += step.is_beside ? 0 : 1;
    const Time window = window_of(step.at, result);
    for (const WaitResult& wait : result.rows<WaitResult>()) {
      const bool is_known =
          any_of(all, [&wait](const Candidate& one) { return one.wait == &wait; });
      if (wait.resource.role == ResourceRole::kQueue || is_known || !is_on(step, wait.resource)) {
        continue;
      }
      if (const double share = share_of(wait, window, result.simulated); share > 0) {
        all.push_back({&wait, share, stage});
      }
    }
  }
  return all;
}

// The largest share; of slots that are as good as alike, the last.
std::vector<Candidate>::iterator largest(std::vector<Candidate>& all, bool is_server) {
  double most = 0;
  for (const Candidate& one : all) {
    most = one.is_server() == is_server ? std::max(most, one.share) : most;
  }
  const auto last = std::find_if(all.rbegin(), all.rend(), [&](const Candidate& one) {
    return one.is_server() == is_server && one.share >= most * (is_server ? 1 : kAlike);
  });
  return last == all.rend() ? all.end() : last.base() - 1;
}

// What limits most.
std::vector<Candidate>::iterator limiting(std::vector<Candidate>& all) {
  const auto server = largest(all, true);
  const auto slots = largest(all, false);
  if (server == all.end() || slots == all.end()) {
    return server == all.end() ? slots : server;
  }
  if (server->share >= kBusyAllTheTime) {
    return server;
  }
  const bool is_often = slots->wait->resource.role == ResourceRole::kSlots &&
                        slots->share >= kManyWaits && slots->wait->count >= kOften;
  return is_often || slots->share >= server->share ? slots : server;
}

// Takes out what limits most, and the same of places beside it.
Limit take_limit(std::vector<Candidate>& all, const Advice& advise) {
  const auto found = limiting(all);
  if (found == all.end()) {
    return {};
  }
  const Resource& resource = found->wait->resource;
  Limit limit{resource.at, resource.name,     resource.key, found->share, found->wait->total,
              {},          resource.direction};
  if (!limit.key.empty()) {
    advise(limit);
  }
  boost::range::remove_erase_if(all, [taken = *found](const Candidate& one) {
    return one.stage == taken.stage && one.wait->resource.name == taken.wait->resource.name;
  });
  return limit;
}

// A link has two wires; completions wait on the way back.
std::string resource_text(const ExplainResult& row, const Limit& limit) {
  const bool has_direction = limit.resource == "link" || limit.direction != row.direction;
  return fmt::format("{}{}{} {:.0f} %", has_direction ? limit.direction : "",
                     has_direction && !limit.direction.empty() ? " " : "", limit.resource,
                     100 * limit.share);
}

}  // namespace

std::string refusal_text(const RunResult& result) {
  const bool has_traffic = any_of(result.rows<LinkResult>(), [](const LinkResult& link) {
    return link.up.tlps + link.down.tlps != 0;
  });
  const bool has_success = any_of(result.rows<LatencyResult>(),
                                  [](const LatencyResult& latency) { return latency.count != 0; });
  std::string kinds;
  for (const auto& [kind, count] : result.errors) {
    if (count != 0) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, with_thousands(count));
    }
  }
  if (!has_traffic || has_success || kinds.empty() || !result.rows<AttackResult>().empty()) {
    return "";
  }
  return fmt::format(
      "No request succeeded: none reached memory or was answered with its data ({}).", kinds);
}

std::vector<SummaryPart> summary_parts(const RunResult& result, RunEnd end) {
  std::vector<SummaryPart> parts;
  const auto add_table = [&parts](const TextTable& table) {
    if (!table.is_empty()) {
      parts.push_back({"", false, table});
    }
  };
  if (end == RunEnd::kComplete && !refusal_text(result).empty()) {
    parts.push_back({refusal_text(result) + "\n", true});
  }
  if (const std::string text = failures_text(result); !text.empty()) {
    parts.push_back({text, true});
  }
  if (const ExplainResult* const most = most_limited(result.rows<ExplainResult>())) {
    parts.push_back({"Limit: " + text_of(*most) + "\n"});
  }
  for (const StatisticsTable* const table : all_tables()) {
    if (const std::any* const rows = result.find(table->row_type())) {
      for (const TextTable& view : table->summary(*rows, result)) {
        add_table(view);
      }
    }
  }
  add_table(errors_table(result));
  boost::range::push_back(parts, checks_parts(result));
  return parts;
}

std::string summary_text(const RunResult& result, RunEnd end, std::size_t width) {
  std::string text = fmt::format("Simulated {} in {:.2f} s, seed {}, config {}\n",
                                 time_text(result.simulated.ns()), result.host_seconds, result.seed,
                                 result.config_sha256.substr(0, 12));
  if (end != RunEnd::kComplete) {
    text += interruption_text(end) + "\n";
  }
  return text + sum_of(summary_parts(result, end), [width](const SummaryPart& part) {
           return "\n" + (part.table ? part.table->text(width) : part.lines);
         });
}

std::vector<ExplainResult> explain(const RunResult& result, const Advice& advise) {
  std::vector<ExplainResult> rows;
  for (const RequestRoute& route : result.routes) {
    if (route.requests > 0) {
      std::vector<Candidate> all;
      if (route.requests > route.to_peers) {
        all = candidates(route, result);
      }
      ExplainResult row{route.link, route.direction, route.kind,    take_limit(all, advise),
                        {},         route.requests,  route.to_peers};
      row.next = take_limit(all, advise);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string text_of(const ExplainResult& row) {
  std::string text = fmt::format("{} {} {}: ", row.link, row.direction, row.kind);
  if (row.to_peers > 0 && row.to_peers == row.requests) {
    return text + "not explained, all go to peers";
  }
  const std::string peers =
      row.to_peers == 0
          ? ""
          : fmt::format("; {} of {} go to peers and are not explained", row.to_peers, row.requests);
  if (row.limit.is_empty()) {
    return text + "waited for nothing" + peers;
  }
  text += row.limit.at + " " + resource_text(row, row.limit);
  if (!row.next.is_empty()) {
    text += fmt::format(", next {}{}", row.next.at == row.limit.at ? "" : row.next.at + " ",
                        resource_text(row, row.next));
  }
  if (!row.limit.larger.empty()) {
    text += fmt::format("; try {}={}", row.limit.key, row.limit.larger);
  } else if (!row.limit.key.empty()) {
    text += fmt::format("; {} cannot be larger", row.limit.key);
  }
  return text + peers;
}

std::string text_of(const std::vector<ExplainResult>& rows) {
  return rows.empty() ? "Nothing to explain: no engine has issued a request.\n"
                      : sum_of(rows, [](const ExplainResult& row) { return text_of(row) + "\n"; });
}

const ExplainResult* most_limited(const std::vector<ExplainResult>& rows) {
  const auto weight = [](const ExplainResult& row) {
    return row.limit.share * static_cast<double>(row.requests - row.to_peers);
  };
  const auto most = std::max_element(
      rows.begin(), rows.end(),
      [&](const ExplainResult& a, const ExplainResult& b) { return weight(a) < weight(b); });
  return most == rows.end() ? nullptr : &*most;
}

}  // namespace flitwise
