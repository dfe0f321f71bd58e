// SPDX-License-Identifier: Apache-2.0
// Reads a cumulative table and inverts it with a guide table.
#include "workload/size_distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "common/input_file.h"
#include "common/quantity.h"
#include "flitwise/error.h"
#include "workload/csv_reader.h"
#include "workload/shipped_distributions.h"

namespace flitwise {

namespace {

constexpr std::size_t kGuideSize = 1024;
constexpr std::size_t kMostRows = 1'000'000;
constexpr double kMostBytes = 1e15;  ///< of a row; keeps sums of doubles exact

/// One line of the table. Bytes are negative where the line is unusable.
struct Row {
  double bytes = -1;
  double percent = 0;
};

Row parse_row(std::string_view line, std::uint64_t number, CsvProblems& problems) {
  FieldCursor fields(line);
  std::string_view field;
  fields.next(field);
  const auto bytes = parse_unsigned(field);
  if (!bytes || static_cast<double>(*bytes) > kMostBytes) {
    problems.add(number, fields.column(),
                 fmt::format("bytes is '{}'; expected a whole number of bytes", field));
    return {};
  }
  if (!fields.next(field)) {
    problems.add(number, fields.column(),
                 "the line ends after bytes; expected 'bytes,cumulative_percent'");
    return {};
  }
  const std::optional<double> percent = config::read_real(std::string(field)).value;
  if (!percent || *percent < 0 || *percent > 100) {
    problems.add(number, fields.column(),
                 fmt::format("cumulative_percent is '{}'; expected 0 to 100", field));
    return {};
  }
  if (fields.next(field)) {
    problems.add(number, fields.column(),
                 fmt::format("a third field '{}'; expected 'bytes,cumulative_percent'", field));
    return {};
  }
  return {static_cast<double>(*bytes), *percent};
}

void check_order(const Row& row, const Row& before, std::string_view line, std::uint64_t number,
                 CsvProblems& problems) {
  if (row.bytes < before.bytes) {
    problems.add(number, 1,
                 fmt::format("bytes falls from {} to {}; expected ascending sizes", before.bytes,
                             row.bytes));
  }
  if (row.percent < before.percent) {
    problems.add(number, static_cast<int>(line.find(',')) + 2,
                 fmt::format("cumulative_percent falls from {} to {}; expected ascending shares",
                             before.percent, row.percent));
  }
}

std::vector<Row> read_rows(std::istream& in, CsvProblems& problems) {
  LineReader lines(in);
  std::vector<Row> rows;
  if (!expect_header(lines, "bytes,cumulative_percent", problems)) {
    return rows;
  }
  std::string_view line;
  LineReader::Status status = lines.next(line);
  for (; status == LineReader::Status::kLine && !problems.is_full(); status = lines.next(line)) {
    const Row row = parse_row(line, lines.line_number(), problems);
    if (row.bytes < 0) {
      continue;
    }
    if (!rows.empty()) {
      check_order(row, rows.back(), line, lines.line_number(), problems);
    }
    rows.push_back(row);
    if (rows.size() > kMostRows) {
      problems.add(lines.line_number(), 1,
                   fmt::format("more than {} rows; expected a table of sizes", kMostRows));
      return rows;
    }
  }
  if (status == LineReader::Status::kTooLong) {
    problems.add(lines.line_number(), 1, "the line is too long; expected two numbers");
  } else if (!note_if_broken(lines, problems) && problems.empty() &&
             (rows.empty() || rows.back().percent != 100)) {
    problems.add(lines.line_number(), 1,
                 fmt::format("the table ends at {} percent; expected a last row at 100",
                             rows.empty() ? 0 : rows.back().percent));
  }
  return rows;
}

}  // namespace

SizeDistribution SizeDistribution::fixed(std::uint32_t bytes) {
  const double size = std::max(bytes, 1U);
  return SizeDistribution({{size, 0}, {size, 1}}, std::max(bytes, 1U));
}

SizeDistribution SizeDistribution::load(const std::string& name_or_path, std::uint32_t cap) {
  if (const auto text = shipped_distribution(name_or_path)) {
    std::istringstream in{std::string(*text)};
    return read(in, name_or_path, cap);
  }
  const std::string flaw = flaw_of_regular_file(name_or_path);  // a FIFO is not to be waited for
  std::ifstream in;
  if (flaw.empty()) {
    in.open(name_or_path, std::ios::binary);
  }
  if (!in.is_open()) {
    throw ConfigError({{name_or_path, 0, 0, "",
                        fmt::format("{}; expected a CSV file or one of {}",
                                    flaw.empty() ? "cannot be read" : flaw,
                                    fmt::join(shipped_distribution_names(), ", "))}});
  }
  return read(in, name_or_path, cap);
}

SizeDistribution SizeDistribution::read(std::istream& in, const std::string& file,
                                        std::uint32_t cap) {
  CsvProblems problems(file);
  const std::vector<Row> rows = read_rows(in, problems);
  problems.throw_if_any();
  std::vector<Point> points;
  if (rows.front().percent > 0) {  // The share of the first row is a step at its size.
    points.push_back({rows.front().bytes, 0});
  }
  for (const Row& row : rows) {
    points.push_back({row.bytes, row.percent / 100});
  }
  return SizeDistribution(std::move(points), cap);
}

SizeDistribution::SizeDistribution(std::vector<Point> points, std::uint32_t cap)
    : points_(std::move(points)), guide_(kGuideSize), cap_(cap) {
  std::uint32_t segment = 0;
  for (std::size_t k = 0; k < kGuideSize; ++k) {
    const double share = static_cast<double>(k) / kGuideSize;
    while (points_[segment + 1].cumulative <= share) {
      ++segment;
    }
    guide_[k] = segment;
  }
  cut_share_ = 1 - published_cumulative(cap_);
  mean_ = mean_of_drawn();
}

std::uint32_t SizeDistribution::draw(Random& random) const {
  const double share = random.real();
  std::size_t segment = guide_[static_cast<std::size_t>(share * kGuideSize)];
  while (points_[segment + 1].cumulative <= share) {
    ++segment;
  }
  const Point& low = points_[segment];
  const Point& high = points_[segment + 1];
  const double within = (share - low.cumulative) / (high.cumulative - low.cumulative);
  // Rounding up keeps the cumulative share at whole sizes what the table says.
  const double size = std::ceil(low.bytes + within * (high.bytes - low.bytes));
  return size >= cap_ ? cap_ : std::max(static_cast<std::uint32_t>(size), 1U);
}

double SizeDistribution::published_cumulative(double bytes) const {
  const auto above = std::find_if(points_.begin(), points_.end(),
                                  [bytes](const Point& point) { return point.bytes > bytes; });
  if (above == points_.begin()) {
    return 0;
  }
  if (above == points_.end()) {
    return 1;
  }
  const Point& low = *(above - 1);
  return low.cumulative +
         (above->cumulative - low.cumulative) * (bytes - low.bytes) / (above->bytes - low.bytes);
}

double SizeDistribution::cumulative(std::uint32_t bytes) const {
  if (bytes == 0) {
    return 0;
  }
  return bytes >= cap_ ? 1 : published_cumulative(bytes);
}

/// Sum of P(size > k) over k = 0..cap-1, segment by segment in closed form.
double SizeDistribution::mean_of_drawn() const {
  double mean = 1;  // k = 0: no size is below 1.
  for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
    const Point& low = points_[i];
    const Point& high = points_[i + 1];
    const double first = std::max(low.bytes, 1.0);
    const double last = std::min(high.bytes, static_cast<double>(cap_));  // exclusive
    if (last > first) {
      const double slope = (high.cumulative - low.cumulative) / (high.bytes - low.bytes);
      const double middle = (first + last - 1) / 2;
      mean += (last - first) * (1 - low.cumulative - slope * (middle - low.bytes));
    }
  }
  // Below the first row every size is larger than k.
  return mean + std::max(0.0, std::min(points_.front().bytes, static_cast<double>(cap_)) - 1);
}

}  // namespace flitwise
