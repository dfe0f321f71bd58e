// SPDX-License-Identifier: Apache-2.0
// How each kind of row reads, checks and writes its value.
#include "config/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/input_file.h"
#include "common/ranges.h"

namespace flitwise::config {

using nlohmann::ordered_json;

namespace {

using Written = std::function<std::string(std::uint64_t)>;

std::string range_in_words(const Limits& limits, const Written& written) {
  std::string range;
  if (limits.only.empty()) {
    range = fmt::format("{}{}..{}", limits.is_power_of_two ? "a power of two in " : "",
                        written(limits.min), written(limits.max));
  } else {
    range = alternatives(mapped(limits.only, written));
  }
  return limits.zero_name.empty() ? range : range + " or " + limits.zero_name;
}

bool is_within(const Limits& limits, std::uint64_t value) {
  if (!limits.only.empty()) {
    return std::find(limits.only.begin(), limits.only.end(), value) != limits.only.end();
  }
  const bool is_allowed_shape = !limits.is_power_of_two || (value & (value - 1)) == 0;
  return value >= limits.min && value <= limits.max && is_allowed_shape;
}

void report_kind(const Value& value, const ReadContext& context, const std::string& expected) {
  context.report(value.place, fmt::format("{}; expected {}", value.seen(), expected));
}

/// A scalar, or a report of what stands there instead.
bool is_scalar(const Value& value, const ReadContext& context, const std::string& expected,
               bool is_plain = false) {
  const bool is_good = value.kind == Value::Kind::kScalar && !(is_plain && value.is_quoted);
  if (!is_good) {
    report_kind(value, context, expected);
  }
  return is_good;
}

bool is_zero_name(const Value& value, const Limits& limits) {
  return value.kind == Value::Kind::kScalar && !limits.zero_name.empty() &&
         value.text == limits.zero_name;
}

ordered_json with_zero_name(const ordered_json& schema, const Limits& limits) {
  if (limits.zero_name.empty()) {
    return schema;
  }
  return {{"anyOf", {schema, {{"enum", {limits.zero_name}}}}}};
}

// Readers of a schema hold numbers as doubles.
constexpr std::uint64_t kLargestExactInteger = std::uint64_t{1} << 53;

ordered_json count_schema(const Limits& limits) {
  if (!limits.only.empty()) {
    return {{"enum", limits.only}};
  }
  ordered_json schema = {{"type", "integer"}, {"minimum", limits.min}};
  if (limits.max <= kLargestExactInteger) {
    schema["maximum"] = limits.max;
  }
  return with_zero_name(schema, limits);
}

std::string pattern_of(const Dimension& dimension) {
  return fmt::format("^[0-9]+(\\.[0-9]+)? *({})$",
                     fmt::join(mapped(dimension.units, &Dimension::Unit::name), "|"));
}

/// The number that was read; none, and reported, where there is none or it lies out of range.
template <class T, class IsWithin>
std::optional<T> accepted(const Read<T>& number, const std::string& more, const Value& value,
                          const std::string& range, const ReadContext& context,
                          IsWithin&& is_within) {
  if (number.value && is_within(*number.value)) {
    return number.value;
  }
  context.report(value.place, number.value ? fmt::format("{}; expected {}", value.text, range)
                                           : number.problem + more);
  return std::nullopt;
}

/// Writes the member as it is.
template <class T>
auto written(const Access<T>& member) {
  return [member](const Config& config) -> ordered_json { return member.get(config); };
}

}  // namespace

std::optional<std::size_t> index_of(const Value& value, const std::vector<std::string>& words,
                                    const std::string& expected, const ReadContext& context) {
  if (!is_scalar(value, context, expected)) {
    return std::nullopt;
  }
  const auto word = std::find(words.begin(), words.end(), value.text);
  if (word == words.end()) {
    context.report(value.place, fmt::format("'{}'; expected {}{}", value.text, expected,
                                            nearest_hint(value.text, words, "value")));
    return std::nullopt;
  }
  return static_cast<std::size_t>(word - words.begin());
}

Key count(const std::string& path, const Access<std::uint64_t>& member, const Limits& limits,
          const std::string& sentence) {
  const std::string range =
      range_in_words(limits, [](std::uint64_t value) { return std::to_string(value); });
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (is_zero_name(value, limits)) {
      member.set(config, 0);
    } else if (is_scalar(value, context, "a whole number in " + range, true)) {
      const auto number = accepted(read_whole(value.text), ", in " + range, value, range, context,
                                   [&](std::uint64_t one) { return is_within(limits, one); });
      if (number) {
        member.set(config, *number);
      }
    }
  };
  const auto write = [=](const Config& config) -> ordered_json {
    const std::uint64_t value = member.get(config);
    return value == 0 && !limits.zero_name.empty() ? ordered_json(limits.zero_name)
                                                   : ordered_json(value);
  };
  return {path, "", range, sentence, {}, count_schema(limits), read, write};
}

Key quantity(const std::string& path, const std::string& unit, const Dimension& dimension,
             const Access<std::uint64_t>& member, const Limits& limits,
             const std::string& sentence) {
  const Written in_words = [&dimension](std::uint64_t value) {
    return write_quantity(static_cast<std::int64_t>(value), dimension);
  };
  const std::string range = range_in_words(limits, in_words);
  const auto read = [=, &dimension](Config& config, const Value& value,
                                    const ReadContext& context) {
    if (is_zero_name(value, limits)) {
      member.set(config, 0);
    } else if (is_scalar(value, context, fmt::format("{} in {}", dimension.noun, range))) {
      const auto number = accepted(
          read_quantity(value.text, dimension), "", value, range, context,
          [&](std::int64_t one) { return is_within(limits, static_cast<std::uint64_t>(one)); });
      if (number) {
        member.set(config, static_cast<std::uint64_t>(*number));
      }
    }
  };
  const auto write = [=](const Config& config) -> ordered_json {
    const std::uint64_t value = member.get(config);
    return value == 0 && !limits.zero_name.empty() ? limits.zero_name : in_words(value);
  };
  return {path,  unit,
          range, sentence,
          {},    with_zero_name({{"type", "string"}, {"pattern", pattern_of(dimension)}}, limits),
          read,  write};
}

Key rate(const std::string& path, const Access<double>& member, const std::string& unit,
         const Dimension& dimension, std::uint64_t scale, const Limits& limits,
         const std::string& sentence) {
  const auto one = static_cast<double>(scale);
  return quantity(path, unit, dimension,
                  {[=](const Config& config) {
                     return static_cast<std::uint64_t>(member.get(config) * one + 0.5);
                   },
                   [=](Config& config, std::uint64_t value) {
                     member.set(config, static_cast<double>(value) / one);
                   }},
                  limits, sentence);
}

Key real(const std::string& path, const Access<double>& member, double min, double max,
         const std::string& sentence) {
  const std::string range = fmt::format("{}..{}", min, max);
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (is_scalar(value, context, "a number in " + range, true)) {
      const auto number = accepted(read_real(value.text), ", in " + range, value, range, context,
                                   [&](double one) { return one >= min && one <= max; });
      if (number) {
        member.set(config, *number == 0 ? 0.0 : *number);  // -0 is 0
      }
    }
  };
  const ordered_json schema = {{"type", "number"}, {"minimum", min}, {"maximum", max}};
  return {path, "", range, sentence, {}, schema, read, written(member)};
}

Key percent(const std::string& path, const Access<double>& member, double min, double max,
            const std::string& sentence) {
  const std::string range = fmt::format("{}%..{}%", min, max);
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (!is_scalar(value, context, "a share in " + range)) {
      return;
    }
    const bool has_sign = !value.text.empty() && value.text.back() == '%';
    const std::string digits = has_sign ? value.text.substr(0, value.text.size() - 1) : "";
    const auto number = accepted(read_real(digits), ", a share as 1%, in " + range, value, range,
                                 context, [&](double one) { return one >= min && one <= max; });
    if (number) {
      member.set(config, *number / 100);
    }
  };
  const auto write = [member](const Config& config) -> ordered_json {
    return fmt::format("{:.10g}%", 100 * member.get(config));
  };
  const ordered_json schema = {{"type", "string"}, {"pattern", "^[0-9.]+%$"}};
  return {path, "", range, sentence, {}, schema, read, write};
}

Key flag(const std::string& path, const Access<bool>& member, const std::string& sentence) {
  const auto read = [member](Config& config, const Value& value, const ReadContext& context) {
    if (value.kind == Value::Kind::kScalar && !value.is_quoted &&
        (value.text == "true" || value.text == "false")) {
      member.set(config, value.text == "true");
    } else {
      report_kind(value, context, "true or false");
    }
  };
  const ordered_json schema = {{"type", "boolean"}};
  return {path, "", "true or false", sentence, {"true", "false"}, schema, read, written(member)};
}

Key word(const std::string& path, const Access<std::string>& member,
         const std::vector<std::string>& words, const std::string& sentence) {
  const std::string range = alternatives(words);
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (index_of(value, words, range, context)) {
      member.set(config, value.text);
    }
  };
  return {path, "", range, sentence, words, {{"enum", words}}, read, written(member)};
}

Key file(const std::string& path, const Access<std::string>& member,
         const std::vector<std::string>& words, const std::string& sentence) {
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (!is_scalar(value, context, "the path of a file")) {
      return;
    }
    if (value.text.empty() || std::find(words.begin(), words.end(), value.text) != words.end()) {
      member.set(config, value.text);
      return;
    }
    std::string flaw;  // in the last of the directories, where none has it
    for (const std::string& directory : context.directories) {
      const std::string found =
          (std::filesystem::path(directory) / value.text).lexically_normal().string();
      flaw = flaw_of_regular_file(found);
      if (flaw.empty()) {
        member.set(config, found);
        return;
      }
    }
    const std::string& start = context.directories.front();
    context.report(value.place,
                   fmt::format("{}; expected a file that can be read more than once, as seen from "
                               "'{}'{}{}",
                               flaw_of_file(value.text, flaw), start.empty() ? "." : start,
                               words.empty() ? "" : ", or one of " + alternatives(words),
                               nearest_hint(value.text, words, "name")));
  };
  const std::string range =
      fmt::format("a file that exists, relative to the config's directory{}; empty: none",
                  words.empty() ? "" : "; " + alternatives(words));
  return {path, "", range, sentence, words, {{"type", "string"}}, read, written(member)};
}

namespace {

// is_next: may this number follow that one, 0 at the start?
Key numbers(const std::string& path, const Access<std::vector<std::uint64_t>>& member,
            const std::string& range, const std::string& example, const ordered_json& item_schema,
            const std::function<bool(std::uint64_t, std::uint64_t)>& is_next,
            const std::string& sentence) {
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    const std::string expected = range + example;
    if (value.kind != Value::Kind::kSequence) {
      report_kind(value, context, expected);
      return;
    }
    std::vector<std::uint64_t> all;
    for (const Value& item : value.items) {
      if (!is_scalar(item, context, expected, true)) {
        return;
      }
      const auto number = read_whole(item.text);
      if (!number.value || !is_next(*number.value, all.empty() ? 0 : all.back())) {
        context.report(item.place, fmt::format("'{}'; expected {}", item.text, expected));
        return;
      }
      all.push_back(*number.value);
    }
    member.set(config, all);
  };
  const ordered_json schema = {{"type", "array"}, {"items", item_schema}};
  return {path, "", range, sentence, {}, schema, read, written(member)};
}

}  // namespace

Key ordinals(const std::string& path, const Access<std::vector<std::uint64_t>>& member,
             const std::string& sentence) {
  return numbers(
      path, member, "a rising list of numbers from 1", ", such as [3, 17]",
      {{"type", "integer"}, {"minimum", 1}},
      [](std::uint64_t number, std::uint64_t last) { return number > last; }, sentence);
}

Key counts(const std::string& path, const Access<std::vector<std::uint64_t>>& member,
           const Limits& limits, const std::string& sentence) {
  return numbers(
      path, member, fmt::format("a list of numbers of {}..{}", limits.min, limits.max),
      ", such as [3, 1]", {{"type", "integer"}, {"minimum", limits.min}, {"maximum", limits.max}},
      [limits](std::uint64_t number, std::uint64_t /*last*/) {
        return number >= limits.min && number <= limits.max;
      },
      sentence);
}

Key set_of(const std::string& path, const Access<std::uint32_t>& member,
           const std::vector<std::string>& words, const std::string& sentence) {
  const std::string range = "a list of " + alternatives(words);
  const auto read = [=](Config& config, const Value& value, const ReadContext& context) {
    if (value.kind != Value::Kind::kSequence) {
      report_kind(value, context, range);
      return;
    }
    std::uint32_t chosen = 0;
    for (const Value& item : value.items) {
      const auto index = index_of(item, words, range, context);
      if (!index) {
        return;
      }
      chosen |= 1U << *index;
    }
    member.set(config, chosen);
  };
  const auto write = [=](const Config& config) {
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if ((member.get(config) >> i & 1U) != 0) {
        list.push_back(words[i]);
      }
    }
    return list;
  };
  const ordered_json schema = {{"type", "array"}, {"items", {{"enum", words}}}};
  return {path, "", range, sentence, {}, schema, read, write};
}

}  // namespace flitwise::config
