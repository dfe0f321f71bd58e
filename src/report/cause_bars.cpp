// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a link went, a bar a point of a sweep.
#include <fmt/format.h>

#include <numeric>

#include "common/ranges.h"
#include "report/html.h"
#include "report/report.h"

namespace flitwise {
namespace {

double bytes_of(const nlohmann::ordered_json& row, const std::string& direction,
                const std::string& part) {
  return number_at(row, direction + "_wire_bytes_" + part).value_or(0);
}

}  // namespace

// The direction that carries the payload.
std::string cause_bars(const MergedSweep& merged, const Rows& rows,
                       const std::vector<std::string>& columns) {
  constexpr std::size_t kMostBars = 24;
  const auto payload = [&rows](const std::string& direction) {
    return std::accumulate(rows.begin(), rows.end(), 0.0, [&](double sum, const auto* row) {
      return sum + bytes_of(*row, direction, "payload");
    });
  };
  const std::string direction = payload("down") > payload("up") ? "down" : "up";
  if (rows.size() < 2 || rows.size() > kMostBars || payload(direction) == 0) {
    return "";
  }
  StackedBars bars;
  bars.title = fmt::format("Where the bytes of the first link went, {}, idle left out", direction);
  bars.unit = "% of the bytes that are not idle";
  bars.parts = {"payload", "header", "identity", "padding", "framing",
                "crc",     "dllp",   "fec",      "phy",     "replay"};
  for (const auto* row : rows) {
    const double total = bytes_of(*row, direction, "total") - bytes_of(*row, direction, "idle");
    if (total > 0) {
      bars.rows.push_back({point_text(merged, *row, columns),
                           mapped<double>(bars.parts, [&](const std::string& part) {
                             return 100 * bytes_of(*row, direction, part) / total;
                           })});
    }
  }
  return bars.html();
}

}  // namespace flitwise
