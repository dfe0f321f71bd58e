// SPDX-License-Identifier: Apache-2.0
// Reading and comparing values.
#include "scenario/value_test.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

namespace flitwise::scenario {
namespace {

// A number in a case or in an event: exact where it is whole, so that 64-bit registers and
// addresses are told apart to the last bit.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

constexpr std::size_t kLongestHex = 18;   // 0x and 16 digits
constexpr std::size_t kLongestReal = 32;  // with a point or an exponent

bool is_hex(const std::string& text) {
  return text.rfind("0x", 0) == 0 && text.size() > 2 && text.size() <= kLongestHex &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
}

bool is_decimal(const std::string& text) {
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t digits =
      std::min(text.find_first_not_of("0123456789", sign), text.size()) - sign;
  const bool has_leading_zero = digits > 1 && text[sign] == '0';
  return digits > 0 && !has_leading_zero &&
         (digits + sign == text.size() || text.size() <= kLongestReal) &&
         text.find_first_not_of("0123456789.eE+-", sign) == std::string::npos;
}

// `3`, `0x10`, `0.5`, `1e6`. Rows of digits above 64 bits, and such with leading zeros, are no
// numbers but bytes.
std::optional<Number> number_of(const std::string& text) {
  if (is_hex(text)) {
    return std::strtoull(text.c_str() + 2, nullptr, 16);
  }
  if (!is_decimal(text)) {
    return std::nullopt;
  }
  if (text.find_first_of(".eE+-", 1) == std::string::npos) {
    const std::size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data() + sign, text.data() + text.size(), value);
    if (read.ec != std::errc()) {
      return std::nullopt;
    }
    return text[0] == '-' ? -static_cast<Number>(value) : static_cast<Number>(value);
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);  // rounded as that of an event
  return *end == '\0' ? std::optional<Number>(value) : std::nullopt;
}

// A number, or a text that is one; true and false are none.
std::optional<Number> number_of(const Json& value) {
  if (value.is_string()) {
    return number_of(value.get_ref<const std::string&>());
  }
  if (!value.is_number()) {
    return std::nullopt;
  }
  return value.is_number_unsigned()  ? static_cast<Number>(value.get<std::uint64_t>())
         : value.is_number_integer() ? static_cast<Number>(value.get<std::int64_t>())
                                     : static_cast<Number>(value.get<double>());
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// What is meant as a number, whether or not it is one: `0xffff_ffff`. No event has such texts.
bool looks_like_hex(const std::string& text) {
  return text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
}

// Single words around `..` of which one is meant as a number; `see 0..7` is a text.
bool are_bounds(const std::string& first, const std::string& second) {
  const auto begins_as_number = [](const std::string& text) {
    const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    return sign < text.size() && std::isdigit(static_cast<unsigned char>(text[sign])) != 0;
  };
  return (first + second).find(' ') == std::string::npos &&
         (begins_as_number(first) || begins_as_number(second));
}

bool is_equal(const Json& value, const std::string& text) {
  if (text_of(value) == text) {
    return true;
  }
  const std::optional<Number> seen = number_of(value);
  const std::optional<Number> wanted = number_of(text);
  return seen && wanted && *seen == *wanted;
}

}  // namespace

bool is_digits(const std::string& text) {
  return text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<config::Value> items_of(const config::Value& value) {
  return value.kind == config::Value::Kind::kSequence ? value.items : std::vector{value};
}

ValueTest ValueTest::read(const config::Value& value, const Spot& spot) {
  using Kind = config::Value::Kind;
  ValueTest test;
  const bool is_list = value.kind == Kind::kSequence && !value.items.empty();
  if (value.kind != Kind::kScalar && !is_list) {
    spot.add_unexpected(value, "a value or a list of values");
    return test;
  }
  for (const config::Value& one : items_of(value)) {
    if (one.kind != Kind::kScalar) {
      spot.add_unexpected(one, "one value; {same: name} and {not: name} stand in no list");
      continue;
    }
    test.text_ += (test.text_.empty() ? "" : " or ") + one.text;
    test.any_of_.push_back(read_one(one.text));
    if (const std::string problem = flaw(test.any_of_.back()); !problem.empty()) {
      spot.add_unexpected(one, problem);
    }
  }
  return test;
}

ValueTest ValueTest::of(const std::string& text) {
  config::Value value;
  value.kind = config::Value::Kind::kScalar;
  value.text = text;
  config::ProblemList ignored;
  return read(value, {"", ignored});
}

ValueTest ValueTest::equal_to(const Json& value, bool is_negated) {
  ValueTest test;
  One one;
  one.relation = is_negated ? Relation::kNotEqual : Relation::kEqual;
  one.first = scenario::text_of(value);
  test.text_ = (is_negated ? "!= " : "") + one.first;
  test.any_of_.push_back(std::move(one));
  return test;
}

ValueTest ValueTest::nothing(const std::string& text) {
  ValueTest test;
  test.text_ = text;
  return test;
}

std::string ValueTest::flaw(const One& one) {
  if (one.relation == Relation::kCompared && !number_of(one.first)) {
    return "a number of at most 64 bits behind the relation, such as \">= 2\"";
  }
  if (one.relation == Relation::kBetween && !(number_of(one.first) && number_of(one.second))) {
    return "two numbers of at most 64 bits, such as \"4..8\" or \"0x0..0xfff\"";
  }
  if (looks_like_hex(one.first) && !number_of(one.first)) {
    return "a number of at most 64 bits, such as 12 or 0x1f";
  }
  if (one.relation == Relation::kBetween && *number_of(one.first) > *number_of(one.second)) {
    return "the smaller number first, such as \"4..8\"";
  }
  return one.relation == Relation::kNotEqual && one.first.empty() ? "a value behind !=" : "";
}

ValueTest::One ValueTest::read_one(const std::string& text) {
  static const std::vector<std::pair<std::string, One>> kRelations = {
      {">=", {Relation::kCompared, "", "", false, true, true}},
      {"<=", {Relation::kCompared, "", "", true, true, false}},
      {"!=", {Relation::kNotEqual, "", "", false, false, false}},
      {">", {Relation::kCompared, "", "", false, false, true}},
      {"<", {Relation::kCompared, "", "", true, false, false}}};
  One one;
  if (text == "any" || text == "absent") {
    one.relation = text == "any" ? Relation::kAny : Relation::kAbsent;
    return one;
  }
  for (const auto& [sign, relation] : kRelations) {
    if (text.rfind(sign, 0) == 0) {
      one = relation;
      one.first = trimmed(text.substr(sign.size()));
      return one;
    }
  }
  one.first = text;
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const std::string first = trimmed(text.substr(0, dots));
    const std::string second = trimmed(text.substr(dots + 2));
    if (are_bounds(first, second)) {
      one.relation = Relation::kBetween;
      one.first = first;
      one.second = second;
    }
  }
  return one;
}

bool ValueTest::holds(const One& one, const Json& value) {
  if (one.relation == Relation::kAny || one.relation == Relation::kAbsent) {
    return one.relation == Relation::kAny;
  }
  if (one.relation == Relation::kEqual || one.relation == Relation::kNotEqual) {
    return is_equal(value, one.first) == (one.relation == Relation::kEqual);
  }
  const std::optional<Number> seen = number_of(value);
  const std::optional<Number> bound = number_of(one.first);
  if (!seen || !bound) {
    return false;
  }
  if (one.relation == Relation::kBetween) {
    const std::optional<Number> last = number_of(one.second);
    return last && *bound <= *seen && *seen <= *last;
  }
  return *seen < *bound ? one.is_less_good : *bound < *seen ? one.is_more_good : one.is_same_good;
}

bool ValueTest::holds_digits(const std::string& digits) const {
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return any([&](const One& one) {
    const bool equal =
        std::equal(digits.begin(), digits.end(), one.first.begin(), one.first.end(), is_same);
    return one.relation == Relation::kAny || (one.relation == Relation::kEqual && equal) ||
           (one.relation == Relation::kNotEqual && !equal);
  });
}

bool ValueTest::suits_digits() const {
  return std::all_of(any_of_.begin(), any_of_.end(), [](const One& one) {
    const bool is_text = one.relation == Relation::kEqual || one.relation == Relation::kNotEqual;
    return is_text ? is_digits(one.first)
                   : one.relation == Relation::kAny || one.relation == Relation::kAbsent;
  });
}

bool ValueTest::suits_numbers() const {
  return std::all_of(any_of_.begin(), any_of_.end(),
                     [](const One& one) { return number_of(one.first).has_value(); });
}

bool ValueTest::accepts_absence() const {
  return any([](const One& one) { return one.relation == Relation::kAbsent; });
}

bool ValueTest::holds(const Json& value) const {
  return any([&](const One& one) { return holds(one, value); });
}

ValueTest read_figure(const config::Value& value, const Spot& spot) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  ValueTest test = ValueTest::read(value, spot);
  if (test.holds(Json(0U)) && test.holds(Json(1U)) && test.holds(Json(kHuge))) {
    spot.add(value.place, "is " + value.seen() + ", which holds for every number");
  }
  return test;
}

}  // namespace flitwise::scenario
