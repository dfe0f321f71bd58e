// SPDX-License-Identifier: Apache-2.0
// Ranges over numbers and over quantities with a unit.
#include <fmt/format.h>

#include <optional>

#include "common/quantity.h"
#include "sweep/plan.h"

namespace flitwise {
namespace {

constexpr std::size_t kMostValues = 100'000;
constexpr const char* kExpected = "expected A..B:*K or A..B:+K, such as 8B..4KiB:*2";

struct Parts {
  std::string first, last, step;
  bool multiplies = false;
};

std::optional<Parts> split(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t colon = text.find(':', dots);
  Parts parts{text.substr(0, dots), text.substr(dots + 2, colon - dots - 2), "1", false};
  if (colon != std::string::npos) {
    if (colon + 2 >= text.size() || (text[colon + 1] != '*' && text[colon + 1] != '+')) {
      return std::nullopt;
    }
    parts.multiplies = text[colon + 1] == '*';
    parts.step = text.substr(colon + 2);
  }
  return parts;
}

/// The dimension that both ends belong to, if they carry units.
const config::Dimension* dimension_of(const Parts& parts) {
  for (const config::Dimension* dimension :
       {&config::size_dimension(), &config::time_dimension(), &config::bit_rate_dimension(),
        &config::request_rate_dimension()}) {
    if (config::read_quantity(parts.first, *dimension).value &&
        config::read_quantity(parts.last, *dimension).value) {
      return dimension;
    }
  }
  return nullptr;
}

std::string number_text(double value) {
  return fmt::format("{:.12g}", value);
}

/// Counts from first to last in whole or fractional steps.
template <class Number, class Write>
ExpandedValues count_up(Number first, Number last, double step, bool multiplies, Write write) {
  if (!(last >= first)) {
    return {{}, "the range runs backwards; expected A <= B"};
  }
  if (multiplies ? !(step > 1) || !(first > 0) : !(step > 0)) {
    return {{},
            "the range never ends; expected a factor above 1 from above 0, or an addend above 0"};
  }
  ExpandedValues expanded;
  double value = static_cast<double>(first);
  // A hair of tolerance keeps the last value of fractional steps in the range.
  const double end = static_cast<double>(last) * (1 + 1e-12);
  for (std::size_t i = 1; value <= end; ++i) {
    if (expanded.values.size() == kMostValues) {
      return {{}, fmt::format("the range has more than {} values", kMostValues)};
    }
    expanded.values.push_back(write(value));
    value = multiplies ? value * step : static_cast<double>(first) + static_cast<double>(i) * step;
  }
  return expanded;
}

ExpandedValues expand_quantities(const Parts& parts, const config::Dimension& dimension) {
  const auto first = *config::read_quantity(parts.first, dimension).value;
  const auto last = *config::read_quantity(parts.last, dimension).value;
  double step = 0;
  if (parts.multiplies) {
    const auto factor = config::read_real(parts.step);
    if (!factor.value) {
      return {{}, fmt::format("'{}' is no factor; expected a number above 1", parts.step)};
    }
    step = *factor.value;
  } else {
    const auto addend = config::read_quantity(parts.step, dimension);
    if (!addend.value) {
      return {{}, fmt::format("step {}", addend.problem)};
    }
    step = static_cast<double>(*addend.value);
  }
  return count_up(first, last, step, parts.multiplies, [&dimension](double value) {
    return config::write_quantity(static_cast<std::int64_t>(value + 0.5), dimension);
  });
}

}  // namespace

ExpandedValues expand_range(const std::string& text) {
  const std::optional<Parts> parts = split(text);
  if (!parts) {
    return {{}, fmt::format("'{}' is no range; {}", text, kExpected)};
  }
  if (const config::Dimension* dimension = dimension_of(*parts)) {
    return expand_quantities(*parts, *dimension);
  }
  const auto first = config::read_real(parts->first);
  const auto last = config::read_real(parts->last);
  const auto step = config::read_real(parts->step);
  if (!first.value || !last.value || !step.value) {
    return {
        {},
        fmt::format("'{}' is no range of numbers or of one kind of quantity; {}", text, kExpected)};
  }
  return count_up(*first.value, *last.value, *step.value, parts->multiplies, number_text);
}

ExpandedValues expand_linspace(const std::vector<std::string>& first_last_n) {
  constexpr const char* kForm = "expected [first, last, count], count 2 to 100000";
  if (first_last_n.size() != 3) {
    return {{}, fmt::format("linspace has {} values; {}", first_last_n.size(), kForm)};
  }
  const auto first = config::read_real(first_last_n[0]);
  const auto last = config::read_real(first_last_n[1]);
  const auto count = config::read_whole(first_last_n[2]);
  if (!first.value || !last.value || !count.value || *count.value < 2 ||
      *count.value > kMostValues) {
    return {{}, fmt::format("linspace is not made of numbers; {}", kForm)};
  }
  ExpandedValues expanded;
  const double step = (*last.value - *first.value) / static_cast<double>(*count.value - 1);
  for (std::uint64_t i = 0; i < *count.value; ++i) {
    expanded.values.push_back(number_text(*first.value + static_cast<double>(i) * step));
  }
  return expanded;
}

}  // namespace flitwise
