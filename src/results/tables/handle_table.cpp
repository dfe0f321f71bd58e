// SPDX-License-Identifier: Apache-2.0
// Device handles, and attacks by hostile devices.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

TextTable handle_view(const std::vector<DhiResult>& rows, const RunResult& /*result*/) {
  std::vector<std::string> header = {"Device handles", "lookups",      "hit rate",      "ALLOC",
                                     "DEALLOC",        "evictions",    "bypasses",      "waited",
                                     "rejected",       "wrong domain", "TLPs/residency"};
  const bool has_kept = std::any_of(rows.begin(), rows.end(),
                                    [](const DhiResult& dhi) { return dhi.handles_kept != 0; });
  if (has_kept) {
    header.emplace_back("kept");
  }
  TextTable table(header);
  for (const DhiResult& dhi : rows) {
    if (dhi.lookups == 0 && dhi.rejected == 0) {
      continue;
    }
    std::vector<std::string> row = {dhi.device,
                                    with_thousands(dhi.lookups),
                                    share_text(dhi.hits, dhi.lookups),
                                    with_thousands(dhi.allocs),
                                    with_thousands(dhi.deallocs),
                                    with_thousands(dhi.evictions),
                                    with_thousands(dhi.bypasses),
                                    time_text(dhi.stall.ns()),
                                    with_thousands(dhi.rejected),
                                    with_thousands(dhi.wrong_domain),
                                    fmt::format("{:.1f}", dhi.tlps_per_residency)};
    if (has_kept) {
      row.push_back(with_thousands(dhi.handles_kept));
    }
    table.add_row(row);
  }
  return table;
}

TextTable refusals_view(const std::vector<DhiResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Handle messages and look-ups refused", "device", "count"}, 2);
  for (const DhiResult& dhi : rows) {
    for (const auto& [kind, count] : dhi.rejections) {
      table.add(kind, dhi.device, count);
    }
  }
  return table;
}

TextTable attack_view(const std::vector<AttackResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Attacks", "tried", "through"});
  for (const AttackResult& one : rows) {
    if (one.tried != 0) {
      table.add(one.attack, one.tried, one.through);
    }
  }
  return table;
}

}  // namespace

const StatisticsTable& handle_table() {
  static const auto kTable =
      Table<DhiResult>("dhi", "dhi", "One row per device with a handle table.")
          .name("device", &DhiResult::device)
          .count("lookups", &DhiResult::lookups, "Messages that asked for a handle.")
          .count("hits", &DhiResult::hits, "Lookups that found a handle.")
          .count("allocs", &DhiResult::allocs, "ALLOC messages sent.")
          .count("deallocs", &DhiResult::deallocs, "DEALLOC messages sent.")
          .count("evictions", &DhiResult::evictions, "Handles taken from one domain for another.")
          .count("bypasses", &DhiResult::bypasses,
                 "Messages that went with their full identity after a miss.")
          .time(
              "stall_ns", &DhiResult::stall,
              "Time in which a message waited for its handle; the device sends nothing meanwhile, "
              "one stalled message holds all behind it.")
          .count(
              "rejected", &DhiResult::rejected,
              "Messages with a handle, ALLOCs and DEALLOCs of this device that the host refused.")
          .count("wrong_domain", &DhiResult::wrong_domain,
                 "Lookups at the host that gave another domain than the sender meant.")
          .real("tlps_per_residency", &DhiResult::tlps_per_residency, "TLP",
                "Mean TLPs sent with one handle between its ALLOC and its end.")
          .count("flushes", &DhiResult::flushes, "Zero-length reads sent to make sure of an ALLOC.")
          .count("acks", &DhiResult::acks, "Acknowledgements of ALLOCs by the host.")
          .count(
              "handles_kept", &DhiResult::handles_kept,
              "Handles that go to no other domain any more, since a read with one timed out behind "
              "a switch; each counts once.")
          .by_kind("rejections", &DhiResult::rejections, "dhi_rejection",
                   "Refusals by the host, by kind.")
          .flat(FlatRows::kEach, "dhi")
          .show(handle_view)
          .show(refusals_view);
  return kTable;
}

const StatisticsTable& attack_table() {
  static const auto kTable =
      Table<AttackResult>("attacks", "attack",
                          "What hostile devices tried, by kind; none where no device is hostile.")
          .name("attack", &AttackResult::attack)
          .count("tried", &AttackResult::tried,
                 "TLPs that reached a switch or root port above the device.")
          .count("through", &AttackResult::through,
                 "Of them, those that got what is not their device's.")
          .flat(FlatRows::kNamed, "attack")
          .show(attack_view);
  return kTable;
}

}  // namespace flitwise
