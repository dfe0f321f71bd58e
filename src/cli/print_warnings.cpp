// SPDX-License-Identifier: Apache-2.0
// Warnings on stderr.
#include "cli/print_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "config/warnings.h"

namespace flitwise::cli {

void print_warnings(const Config& config, const std::string& file) {
  for (const std::string& warning : config_warnings(config)) {
    fmt::print(stderr, "flitwise: warning: {}{}{}\n", file, file.empty() ? "" : ": ", warning);
  }
}

void print_warnings(const Plan& plan, const std::string& file) {
  constexpr std::size_t kMostPrinted = 10;
  std::vector<std::pair<std::string, std::size_t>> found;  // in order of points
  for (const Point& point : plan) {
    for (const std::string& warning : config_warnings(config_of(point))) {
      const auto same = std::find_if(found.begin(), found.end(),
                                     [&](const auto& one) { return one.first == warning; });
      if (same == found.end()) {
        found.emplace_back(warning, 1);
      } else {
        ++same->second;
      }
    }
  }
  for (std::size_t i = 0; i < std::min(found.size(), kMostPrinted); ++i) {
    fmt::print(stderr, "flitwise: warning: {}: {} ({} of {} points)\n", file, found[i].first,
               found[i].second, plan.size());
  }
  if (found.size() > kMostPrinted) {
    fmt::print(stderr, "flitwise: warning: {}: and {} more\n", file, found.size() - kMostPrinted);
  }
}

}  // namespace flitwise::cli
