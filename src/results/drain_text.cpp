// SPDX-License-Identifier: Apache-2.0
// What drained after the last symbol of a direction.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "results/summary_table.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

constexpr double kWorthALine = 0.05;  // of the window

struct Wire {
  std::string name;
  const DirectionResult* traffic;
};

std::vector<Wire> busy_wires(const RunResult& result) {
  std::vector<Wire> wires;
  for (const LinkResult& link : result.rows<LinkResult>()) {
    for (const auto& [name, traffic] :
         {std::pair{" up", &link.up}, std::pair{" down", &link.down}}) {
      if (traffic->tlps > 0) {
        wires.push_back({link.name + name, traffic});
      }
    }
  }
  return wires;
}

/// The other direction that carried TLPs longest in this window, if that is most of what came
/// afterwards.
const Wire* later_wire(const std::vector<Wire>& wires, const DirectionResult& traffic) {
  const Time half{(traffic.last_symbol.fs + traffic.window_end.fs) / 2};
  const Wire* latest = nullptr;
  for (const Wire& one : wires) {
    const bool is_later =
        latest == nullptr || one.traffic->last_symbol > latest->traffic->last_symbol;
    const bool carries = one.traffic->last_symbol > half && one.traffic->first_symbol < half;
    if (one.traffic != &traffic && carries && is_later) {
      latest = &one;
    }
  }
  return latest;
}

/// A request flies to the end of the wire, goes through switches, the root port and its translation
/// into host memory, and what it read through the device.
std::string behind_the_wires(const RunResult& result, const DirectionResult& traffic) {
  const Time asked = std::clamp(result.memory_asked, traffic.last_symbol, traffic.window_end);
  const Time done = std::clamp(result.memory_done, asked, traffic.window_end);
  const Time on_the_way = asked - traffic.last_symbol;
  const Time in_memory = done - asked;
  const Time in_device = traffic.window_end - done;
  if (in_memory >= on_the_way && in_memory >= in_device) {
    return fmt::format("host memory drained for {} more", time_text(in_memory.ns()));
  }
  return on_the_way >= in_device
             ? fmt::format("the last requests were on their way to host memory for {} more",
                           time_text(on_the_way.ns()))
             : fmt::format("the device was at work for {} more", time_text(in_device.ns()));
}

std::string within_the_window(const RunResult& result, const std::vector<Wire>& wires,
                              const DirectionResult& traffic) {
  const Wire* later = later_wire(wires, traffic);
  return later == nullptr
             ? behind_the_wires(result, traffic)
             : fmt::format("{} carried TLPs for {} more", later->name,
                           time_text((std::min(later->traffic->last_symbol, traffic.window_end) -
                                      traffic.last_symbol)
                                         .ns()));
}

/// How long host memory went on after the last window: a line that a cache keeps is over for its
/// core there, and in memory when it is given up. [CXL-7.6]
Time behind_the_windows(const RunResult& result) {
  Time end{};
  for (const LinkResult& link : result.rows<LinkResult>()) {
    end = std::max({end, link.up.window_end, link.down.window_end});
  }
  return result.rows<CxlCacheResult>().empty() ? Time{} : std::max(result.memory_done, end) - end;
}

}  // namespace

std::string drain_text(const RunResult& result) {
  const std::vector<Wire> wires = busy_wires(result);
  const Time behind = behind_the_windows(result);
  std::string text;
  for (const Wire& one : wires) {
    const DirectionResult& traffic = *one.traffic;
    const Time rest = std::max(traffic.window_end, traffic.last_symbol) - traffic.last_symbol;
    const double worth_a_line = kWorthALine * traffic.window.ns();
    if (traffic.payload_bytes == 0 || std::max(rest, behind).ns() <= worth_a_line) {
      continue;
    }
    text += fmt::format("{}: goodput is of {} up to its last symbol, utilisation of a window of {}",
                        one.name, time_text((traffic.last_symbol - traffic.first_symbol).ns()),
                        time_text(traffic.window.ns()));
    if (rest.ns() > worth_a_line) {
      text += "; " + within_the_window(result, wires, traffic);
    }
    if (behind.ns() > worth_a_line) {
      text += fmt::format("; host memory wrote for {} after the window", time_text(behind.ns()));
    }
    text += '\n';
  }
  return text;
}

}  // namespace flitwise
