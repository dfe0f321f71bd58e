// SPDX-License-Identifier: Apache-2.0
#include "workload/trace_lines.h"

#include <charconv>
#include <filesystem>
#include <string_view>

namespace flitwise {
namespace {

constexpr std::int64_t kFsPerNs = 1'000'000;
constexpr std::uint64_t kMostNs = 9'000'000'000'000;  // 9,000 s; below the range of Time

/// Nanoseconds with up to six decimals, exact to the femtosecond.
std::optional<Time> parse_time(std::string_view field) {
  const std::size_t point = field.find('.');
  std::uint64_t whole = 0;
  const std::string_view front = field.substr(0, point);
  const auto read = std::from_chars(front.data(), front.data() + front.size(), whole);
  if (read.ec != std::errc{} || read.ptr != front.data() + front.size() || whole > kMostNs) {
    return std::nullopt;
  }
  std::int64_t fs = static_cast<std::int64_t>(whole) * kFsPerNs;
  if (point != std::string_view::npos) {
    const std::string_view decimals = field.substr(point + 1);
    if (decimals.empty() || decimals.size() > 6) {
      return std::nullopt;
    }
    std::int64_t weight = kFsPerNs;
    for (const char digit : decimals) {
      if (digit < '0' || digit > '9') {
        return std::nullopt;
      }
      weight /= 10;
      fs += (digit - '0') * weight;
    }
  }
  return Time{fs};
}

}  // namespace

void check_trace_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError({{path, 0, 0, "",
                        std::filesystem::exists(path, error)
                            ? "is no regular file; expected one, for it is read twice"
                            : "does not exist; expected a CSV file"}});
  }
}

bool TraceFields::time(Time& at) {
  return take("time_ns", "",  // a line has at least one field
              [&] {
                const auto time = parse_time(csv_.field());
                at = time.value_or(kNoTraceTime);
                return time || csv_.refuse(fmt::format(
                                   "nanoseconds, 0 to {}, with up to 6 decimals", kMostNs));
              }) &&
         (is_right_ || csv_.line().find(',') != std::string_view::npos);
}

}  // namespace flitwise
