// SPDX-License-Identifier: Apache-2.0
// Reads a cumulative table and inverts it with a guide table.
#include "workload/size_distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/input_file.h"
#include "common/quantity.h"
#include "flitwise/error.h"
#include "workload/csv_reader.h"

namespace flitwise {
namespace {

constexpr std::size_t kGuideSize = 1024;
constexpr std::size_t kMostRows = 1'000'000;
constexpr double kMostBytes = 1e15;  ///< of a row; keeps sums of doubles exact

/// One line of the table.
struct Row {
  double bytes = 0;
  double percent = 0;
};

bool parse_row(CsvReader& csv, Row& row) {
  csv.take("bytes", "");  // a line has at least one field
  const auto bytes = parse_unsigned(csv.field());
  if (!bytes || static_cast<double>(*bytes) > kMostBytes) {
    return csv.refuse("a whole number of bytes");
  }
  if (!csv.take("cumulative_percent", "after bytes")) {
    return false;
  }
  const std::optional<double> percent = config::read_real(std::string(csv.field())).value;
  if (!percent || *percent < 0 || *percent > 100) {
    return csv.refuse("0 to 100");
  }
  row = {static_cast<double>(*bytes), *percent};
  return csv.expect_end("third");
}

void check_order(const Row& row, const Row& before, CsvReader& csv) {
  if (row.bytes < before.bytes) {
    csv.note(csv.line_number(), 1,
             fmt::format("bytes falls from {} to {}; expected ascending sizes", before.bytes,
                         row.bytes));
  }
  if (row.percent < before.percent) {
    csv.note(csv.line_number(), static_cast<int>(csv.line().find(',')) + 2,
             fmt::format("cumulative_percent falls from {} to {}; expected ascending shares",
                         before.percent, row.percent));
  }
}

std::vector<Row> read_rows(CsvReader& csv) {
  std::vector<Row> rows;
  while (csv.next_line()) {
    Row row;
    if (!parse_row(csv, row)) {
      continue;
    }
    if (!rows.empty()) {
      check_order(row, rows.back(), csv);
    }
    rows.push_back(row);
    if (rows.size() > kMostRows) {
      csv.note(csv.line_number(), 1,
               fmt::format("more than {} rows; expected a table of sizes", kMostRows));
      return rows;
    }
  }
  if (!csv.note_early_end("the line is too long; expected two numbers") && !csv.has_problems() &&
      (rows.empty() || rows.back().percent != 100)) {
    csv.note(csv.line_number(), 1,
             fmt::format("the table ends at {} percent; expected a last row at 100",
                         rows.empty() ? 0 : rows.back().percent));
  }
  return rows;
}

}  // namespace

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
  CsvReader csv(in, file, "bytes,cumulative_percent");
  const std::vector<Row> rows = read_rows(csv);
  csv.throw_if_any();
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

// The sum of P(size > k) over whole k below the cap: 1 at 0, and from 1 on what is left of the
// table, which falls linearly between its rows.
double SizeDistribution::mean() const {
  double sum = 1;
  const double cap = cap_;
  double k = 1;  // the next whole size
  for (std::size_t i = 0; i + 1 < points_.size() && k < cap; ++i) {
    const Point& low = points_[i];
    const Point& high = points_[i + 1];
    if (k < low.bytes) {  // below the first row nothing is drawn
      const double count = std::min(std::ceil(low.bytes), cap) - k;
      sum += count;
      k += count;
    }
    const double count = std::min(std::ceil(high.bytes), cap) - k;
    if (count <= 0) {
      continue;
    }
    const double slope = (high.cumulative - low.cumulative) / (high.bytes - low.bytes);
    const double share = low.cumulative + slope * (k + (count - 1) / 2 - low.bytes);
    sum += count * (1 - share);
    k += count;
  }
  return sum;
}

}  // namespace flitwise
