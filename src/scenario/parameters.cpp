// SPDX-License-Identifier: Apache-2.0
// Parameters of case files.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "common/printable.h"
#include "common/ranges.h"
#include "results/expression.h"
#include "scenario/case_values.h"

namespace flitwise::scenario {
namespace {

using config::Value;

std::vector<Variant> listed(const Value& list, config::ProblemList& problems) {
  std::vector<Variant> variants;
  for (const Value& item : list.items) {
    Variant variant;
    std::string by_values;
    for (const Value::Entry& entry : item.entries) {
      if (entry.value.kind != Value::Kind::kScalar) {
        Spot{"variants." + entry.key, problems}.add_unexpected(entry.value, "one value");
      } else if (entry.key == "name") {
        variant.name = entry.value.text;
      } else {
        variant.values[entry.key] = entry.value.text;
        by_values += (by_values.empty() ? "" : "-") + entry.value.text;
      }
    }
    if (item.entries.empty()) {
      Spot{"variants", problems}.add_unexpected(item, "a map of parameters");
    }
    variant.name = variant.name.empty() ? by_values : variant.name;
    check_one_line(variant.name, item.place, {"variants.name", problems});
    variant.values["name"] = variant.name;
    variants.push_back(std::move(variant));
  }
  return variants;
}

constexpr std::size_t kMostVariants = 1000;  // of one file

std::vector<Variant> crossed(const std::vector<Variant>& variants, const Value::Entry& axis,
                             config::ProblemList& problems) {
  std::vector<Variant> all;
  for (const Variant& variant : variants) {
    for (const Value& item : axis.value.items) {
      if (item.kind != Value::Kind::kScalar) {
        Spot{"matrix." + axis.key, problems}.add_unexpected(item, "one value");
      }
      check_one_line(item.text, item.place, {"matrix." + axis.key, problems});
      Variant next = variant;
      next.values[axis.key] = item.text;
      next.name += (next.name.empty() ? "" : "-") + item.text;
      all.push_back(std::move(next));
    }
  }
  return all;
}

constexpr const char* kBytes = "B";  // the one unit that a formula may leave out: 128B is 128

// A number with another unit counts as none: the unit of 4KiB / 4 is not known.
std::optional<double> number_of(const Parameters& values, const std::string& name,
                                std::string& problem) {
  const auto found = values.find(name);
  if (found == values.end()) {
    return std::nullopt;
  }
  char* end = nullptr;
  const std::string& text = found->second;
  const bool is_hex = text.rfind("0x", 0) == 0;
  const double value = is_hex ? static_cast<double>(std::strtoull(text.c_str(), &end, 16))
                              : std::strtod(text.c_str(), &end);
  if (end == text.c_str()) {
    return std::nullopt;
  }
  if (*end != '\0' && std::string(end) != kBytes) {
    problem = fmt::format(
        "{} is '{}'; expected a number, or one of bytes such as 128B, in a formula", name, text);
  }
  return value;
}

// Exact, where it is a whole number of 64 bits with a sign; `128B` is one.
std::optional<std::int64_t> whole_of(const Parameters& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) {
    return std::nullopt;
  }
  const bool is_hex = found->second.rfind("0x", 0) == 0;
  const std::string text = found->second.substr(is_hex ? 2 : 0);
  std::int64_t value = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  const std::string rest(end, text.data() + text.size());
  return failure == std::errc() && (rest.empty() || (rest == kBytes && !is_hex))
             ? std::optional<std::int64_t>(value)
             : std::nullopt;
}

// Reals are exact for whole numbers below this.
constexpr double kLeastInexact = 9007199254740992;  // 2^53

constexpr double kMost = 9e18;  // of a formula; below the range of 64 bits

// Of a formula of whole numbers, which has no rounding.
std::string whole_replacement(const std::string& inside, const Expression& formula,
                              const Parameters& values, std::string& problem) {
  const auto value =
      formula.whole_value([&](const std::string& name) { return whole_of(values, name); });
  if (!value || std::abs(static_cast<double>(*value)) > kMost) {
    problem = fmt::format("${{{}}} leaves the whole numbers of 64 bits; expected a number up to {}",
                          shortened(inside), kMost);
    return "";
  }
  return std::to_string(*value);
}

// What stands for one ${...}; an empty problem where it could be had.
std::string replacement(const std::string& inside, const Parameters& values, std::string& problem) {
  const auto found = values.find(inside);
  if (found != values.end()) {
    return found->second;
  }
  const Expression formula(inside);
  if (!formula.is_valid()) {
    problem = formula.problem();
    return "";
  }
  const auto is_whole = [&](const std::string& name) { return whole_of(values, name).has_value(); };
  if (formula.is_whole() && all_of(formula.columns(), is_whole)) {
    return whole_replacement(inside, formula, values, problem);
  }
  std::string no_number;
  double most = 0;  // of what is put in
  for (const Expression::Operand& operand : formula.operands()) {
    most = std::max(most, std::abs(operand.number));
  }
  const auto value = formula.value([&](const std::string& name, bool) {
    const std::optional<double> number = number_of(values, name, no_number);
    most = std::max(most, std::abs(number.value_or(0)));
    return number;
  });
  if (!no_number.empty()) {
    problem = "${" + shortened(inside) + "}: " + no_number;
  } else if (!value) {
    problem =
        fmt::format("${{{}}}: no such parameter, or it is no number; expected a number up to {}",
                    shortened(inside), kMost);
  } else if (!(std::abs(*value) <= kMost)) {
    problem =
        fmt::format("${{{}}} is {}; expected a number up to {}", shortened(inside), *value, kMost);
  } else if (std::max(most, std::abs(*value)) >= kLeastInexact) {
    problem = fmt::format(
        "${{{}}} has a number of 2^53 or more beside a division or a fraction, which would round "
        "it; "
        "expected whole numbers and + - * alone",
        shortened(inside));
  } else {
    return *value == std::floor(*value) ? fmt::format("{}", static_cast<std::int64_t>(*value))
                                        : fmt::format("{}", *value);
  }
  return "";
}

std::string filled_text(const std::string& text, const Parameters& values, std::string& problem) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find("${"); open != std::string::npos; open = text.find("${", at)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      problem = "'${' without '}'";
      return text;
    }
    result += text.substr(at, open - at);
    result += replacement(text.substr(open + 2, close - open - 2), values, problem);
    at = close + 1;
  }
  return result + text.substr(at);
}

// All that stands in ${...}, one after another.
void add_insides(const Value& tree, std::string& insides) {
  const auto add = [&](const std::string& text) {
    for (std::size_t open = text.find("${"); open != std::string::npos;
         open = text.find("${", open + 2)) {
      insides += " " + text.substr(open + 2, text.find('}', open) - open - 2) + " ";
    }
  };
  add(tree.text);
  for (const Value& item : tree.items) {
    add_insides(item, insides);
  }
  for (const Value::Entry& entry : tree.entries) {
    add(entry.key);
    add_insides(entry.value, insides);
  }
}

bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '.');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (!is_part(at - 1) && !is_part(at + word.size())) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_used(const std::string& name, const Value& tree) {
  std::string insides;
  add_insides(tree, insides);
  return has_word(insides, name);
}

void check_uses(const Value& document, config::ProblemList& problems) {
  std::string insides;
  for (const Value::Entry& entry : document.entries) {
    if (entry.key != "matrix" && entry.key != "variants") {
      add_insides(entry.value, insides);
    }
  }
  std::set<std::string> seen = {"name"};
  const auto check = [&](const Value& map, const std::string& path) {
    for (const Value::Entry& entry : map.entries) {
      if (seen.insert(entry.key).second && !has_word(insides, entry.key)) {
        problems.add(entry.place, path + entry.key,
                     "is used nowhere; expected ${" + entry.key + "} somewhere in the case");
      }
    }
  };
  if (const Value::Entry* const matrix = document.find("matrix")) {
    check(matrix->value, "matrix.");
  }
  if (const Value::Entry* const variants = document.find("variants")) {
    for (const Value& item : variants->value.items) {
      check(item, "variants.");
    }
  }
}

std::vector<Variant> variants_of(const Value& document, config::ProblemList& problems) {
  std::vector<Variant> variants{{}};
  if (const Value::Entry* list = document.find("variants")) {
    if (list->value.items.empty()) {
      Spot{"variants", problems}.add_unexpected(list->value, "a list of parameter maps");
    } else {
      variants = listed(list->value, problems);
      if (variants.size() > kMostVariants) {
        problems.add(list->value.place, "variants",
                     fmt::format("makes {} cases; expected at most {} in one file", variants.size(),
                                 kMostVariants));
        return {};
      }
    }
  }
  if (const Value::Entry* matrix = document.find("matrix")) {
    if (matrix->value.kind != Value::Kind::kMap) {
      Spot{"matrix", problems}.add_unexpected(matrix->value, "a map of lists");
    }
    for (const Value::Entry& axis : matrix->value.entries) {
      if (axis.value.items.empty()) {
        Spot{"matrix." + axis.key, problems}.add_unexpected(axis.value, "a list of values");
        continue;
      }
      if (axis.value.items.size() > kMostVariants / variants.size()) {
        problems.add(axis.place, "matrix." + axis.key,
                     fmt::format("makes {} x {} cases; expected at most {} in one file",
                                 variants.size(), axis.value.items.size(), kMostVariants));
        return {};
      }
      variants = crossed(variants, axis, problems);
    }
  }
  return variants;
}

Value filled(const Value& tree, const Parameters& values, config::ProblemList& problems) {
  Value result = tree;
  std::string problem;
  result.text = filled_text(tree.text, values, problem);
  for (Value& item : result.items) {
    item = filled(item, values, problems);
  }
  for (Value::Entry& entry : result.entries) {
    entry.key = filled_text(entry.key, values, problem);
    entry.value = filled(entry.value, values, problems);
  }
  if (!problem.empty()) {
    problems.add(tree.place, "", problem);
  }
  return result;
}

}  // namespace flitwise::scenario
