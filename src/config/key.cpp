// SPDX-License-Identifier: Apache-2.0
// How each kind of row reads, checks and writes its value.
#include "config/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/input_file.h"

namespace flitwise::config {

using nlohmann::ordered_json;

Limits between(std::uint64_t min, std::uint64_t max) {
  Limits limits;
  limits.min = min;
  limits.max = max;
  return limits;
}

Limits between(Time min, Time max) {
  return between(static_cast<std::uint64_t>(min.fs), static_cast<std::uint64_t>(max.fs));
}

Limits power_of_two(std::uint64_t min, std::uint64_t max) {
  Limits limits = between(min, max);
  limits.is_power_of_two = true;
  return limits;
}

Limits only(std::vector<std::uint64_t> values) {
  Limits limits = between(values.front(), values.back());
  limits.only = std::move(values);
  return limits;
}

Limits or_zero_as(const std::string& name, Limits limits) {
  limits.zero_name = name;
  return limits;
}

namespace {

using Written = std::function<std::string(std::uint64_t)>;

std::string range_in_words(const Limits& limits, const Written& written) {
  std::string range;
  if (limits.only.empty()) {
    range = fmt::format("{}{}..{}", limits.is_power_of_two ? "a power of two in " : "",
                        written(limits.min), written(limits.max));
  } else {
    std::vector<std::string> words;
    std::transform(limits.only.begin(), limits.only.end(), std::back_inserter(words), written);
    range = alternatives(words);
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

/// A plain scalar, or a report of what stands there instead.
bool is_plain_scalar(const Value& value, const ReadContext& context, const std::string& expected) {
  if (value.kind == Value::Kind::kScalar && !value.is_quoted) {
    return true;
  }
  context.report(value.place, fmt::format("{}; expected {}", value.seen(), expected));
  return false;
}

bool is_scalar(const Value& value, const ReadContext& context, const std::string& expected) {
  if (value.kind == Value::Kind::kScalar) {
    return true;
  }
  context.report(value.place, fmt::format("{}; expected {}", value.seen(), expected));
  return false;
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
  std::string units;
  for (const Dimension::Unit& unit : dimension.units) {
    units += units.empty() ? "" : "|";
    units += unit.name;
  }
  return "^[0-9]+(\\.[0-9]+)? *(" + units + ")$";
}

struct FoundFile {
  std::string path;
  std::string flaw;  // empty: it is a regular file
};

/// In the first of the directories that has it.
FoundFile find_file(const std::string& path, const std::vector<std::string>& directories) {
  FoundFile last;
  for (const std::string& directory : directories) {
    last.path = (std::filesystem::path(directory) / path).lexically_normal().string();
    last.flaw = flaw_of_regular_file(last.path);
    if (last.flaw.empty()) {
      break;
    }
  }
  return last;
}

}  // namespace

namespace rows {

Key count(const std::string& path, Access<std::uint64_t> member, const Limits& limits,
          const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = range_in_words(limits, [](std::uint64_t value) { return std::to_string(value); });
  key.sentence = sentence;
  key.schema = count_schema(limits);
  key.read = [member, limits, range = key.range](Config& config, const Value& value,
                                                 const ReadContext& context) {
    if (is_zero_name(value, limits)) {
      member.set(config, 0);
      return;
    }
    if (!is_plain_scalar(value, context, "a whole number in " + range)) {
      return;
    }
    const auto number = read_whole(value.text);
    if (!number.value) {
      context.report(value.place, number.problem + ", in " + range);
    } else if (!is_within(limits, *number.value)) {
      context.report(value.place, fmt::format("{}; expected {}", value.text, range));
    } else {
      member.set(config, *number.value);
    }
  };
  key.write = [member, limits](const Config& config) -> ordered_json {
    const std::uint64_t value = member.get(config);
    return value == 0 && !limits.zero_name.empty() ? ordered_json(limits.zero_name)
                                                   : ordered_json(value);
  };
  return key;
}

Key quantity(const std::string& path, const std::string& unit, const Dimension& dimension,
             Access<std::uint64_t> member, const Limits& limits, const std::string& sentence) {
  const Written written = [&dimension](std::uint64_t value) {
    return write_quantity(static_cast<std::int64_t>(value), dimension);
  };
  Key key;
  key.path = path;
  key.unit = unit;
  key.range = range_in_words(limits, written);
  key.sentence = sentence;
  key.schema = with_zero_name({{"type", "string"}, {"pattern", pattern_of(dimension)}}, limits);
  key.read = [member, limits, &dimension, range = key.range](Config& config, const Value& value,
                                                             const ReadContext& context) {
    if (!is_scalar(value, context, fmt::format("{} in {}", dimension.noun, range))) {
      return;
    }
    if (is_zero_name(value, limits)) {
      member.set(config, 0);
      return;
    }
    const auto number = read_quantity(value.text, dimension);
    if (!number.value) {
      context.report(value.place, number.problem);
    } else if (!is_within(limits, static_cast<std::uint64_t>(*number.value))) {
      context.report(value.place, fmt::format("{}; expected {}", value.text, range));
    } else {
      member.set(config, static_cast<std::uint64_t>(*number.value));
    }
  };
  key.write = [member, limits, written](const Config& config) -> ordered_json {
    const std::uint64_t value = member.get(config);
    return value == 0 && !limits.zero_name.empty() ? limits.zero_name : written(value);
  };
  return key;
}

Key real(const std::string& path, Access<double> member, double min, double max,
         const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = fmt::format("{}..{}", min, max);
  key.sentence = sentence;
  key.schema = {{"type", "number"}, {"minimum", min}, {"maximum", max}};
  key.read = [member, min, max, range = key.range](Config& config, const Value& value,
                                                   const ReadContext& context) {
    if (!is_plain_scalar(value, context, "a number in " + range)) {
      return;
    }
    const auto number = read_real(value.text);
    if (!number.value) {
      context.report(value.place, number.problem + ", in " + range);
    } else if (*number.value < min || *number.value > max) {
      context.report(value.place, fmt::format("{}; expected {}", value.text, range));
    } else {
      member.set(config, *number.value == 0 ? 0.0 : *number.value);  // -0 is 0
    }
  };
  key.write = [member](const Config& config) -> ordered_json { return member.get(config); };
  return key;
}

Key flag(const std::string& path, Access<bool> member, const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = "true or false";
  key.sentence = sentence;
  key.values = {"true", "false"};
  key.schema = {{"type", "boolean"}};
  key.read = [member](Config& config, const Value& value, const ReadContext& context) {
    const bool is_word = value.kind == Value::Kind::kScalar && !value.is_quoted &&
                         (value.text == "true" || value.text == "false");
    if (!is_word) {
      context.report(value.place, value.seen() + "; expected true or false");
      return;
    }
    member.set(config, value.text == "true");
  };
  key.write = [member](const Config& config) -> ordered_json { return member.get(config); };
  return key;
}

Key word(const std::string& path, Access<std::string> member, const std::vector<std::string>& words,
         const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = alternatives(words);
  key.sentence = sentence;
  key.values = words;
  key.schema = {{"enum", words}};
  key.read = [member, words, range = key.range](Config& config, const Value& value,
                                                const ReadContext& context) {
    if (!is_scalar(value, context, range)) {
      return;
    }
    if (std::find(words.begin(), words.end(), value.text) == words.end()) {
      context.report(value.place, fmt::format("'{}'; expected {}{}", value.text, range,
                                              nearest_hint(value.text, words, "value")));
      return;
    }
    member.set(config, value.text);
  };
  key.write = [member](const Config& config) -> ordered_json { return member.get(config); };
  return key;
}

Key file(const std::string& path, Access<std::string> member, const std::vector<std::string>& words,
         const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = fmt::format("a file that exists, relative to the config's directory{}; empty: none",
                          words.empty() ? "" : "; " + alternatives(words));
  key.sentence = sentence;
  key.values = words;
  key.schema = {{"type", "string"}};
  key.read = [member, words](Config& config, const Value& value, const ReadContext& context) {
    if (!is_scalar(value, context, "the path of a file")) {
      return;
    }
    const bool is_word = std::find(words.begin(), words.end(), value.text) != words.end();
    if (value.text.empty() || is_word) {
      member.set(config, value.text);
      return;
    }
    const FoundFile found = find_file(value.text, context.directories);
    if (found.flaw.empty()) {
      member.set(config, found.path);
      return;
    }
    const std::string& start = context.directories.front();
    context.report(value.place,
                   fmt::format("{}; expected a file that can be read more than once, as seen from "
                               "'{}'{}{}",
                               flaw_of_file(value.text, found.flaw), start.empty() ? "." : start,
                               words.empty() ? "" : ", or one of " + alternatives(words),
                               nearest_hint(value.text, words, "name")));
  };
  key.write = [member](const Config& config) -> ordered_json { return member.get(config); };
  return key;
}

Key ordinals(const std::string& path, Access<std::vector<std::uint64_t>> member,
             const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = "a rising list of numbers from 1";
  key.sentence = sentence;
  key.schema = {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 1}}}};
  key.read = [member](Config& config, const Value& value, const ReadContext& context) {
    const std::string expected = "a rising list of numbers from 1, such as [3, 17]";
    if (value.kind != Value::Kind::kSequence) {
      context.report(value.place, value.seen() + "; expected " + expected);
      return;
    }
    std::vector<std::uint64_t> numbers;
    for (const Value& item : value.items) {
      if (!is_plain_scalar(item, context, expected)) {
        return;
      }
      const auto number = read_whole(item.text);
      if (!number.value || *number.value <= (numbers.empty() ? 0 : numbers.back())) {
        context.report(item.place, fmt::format("'{}'; expected {}", item.text, expected));
        return;
      }
      numbers.push_back(*number.value);
    }
    member.set(config, numbers);
  };
  key.write = [member](const Config& config) -> ordered_json { return member.get(config); };
  return key;
}

Key words(const std::string& path, Access<std::uint32_t> set, const std::vector<std::string>& words,
          const std::string& sentence) {
  Key key;
  key.path = path;
  key.range = "a list of " + alternatives(words);
  key.sentence = sentence;
  key.schema = {{"type", "array"}, {"items", {{"enum", words}}}};
  key.read = [set, words](Config& config, const Value& value, const ReadContext& context) {
    const std::string expected = "a list of " + alternatives(words);
    if (value.kind != Value::Kind::kSequence) {
      context.report(value.place, value.seen() + "; expected " + expected);
      return;
    }
    std::uint32_t chosen = 0;
    for (const Value& item : value.items) {
      if (!is_scalar(item, context, expected)) {
        return;
      }
      const auto word = std::find(words.begin(), words.end(), item.text);
      if (word == words.end()) {
        context.report(item.place, fmt::format("'{}'; expected {}{}", item.text, expected,
                                               nearest_hint(item.text, words, "value")));
        return;
      }
      chosen |= 1U << (word - words.begin());
    }
    set.set(config, chosen);
  };
  key.write = [set, words](const Config& config) -> ordered_json {
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if ((set.get(config) >> i & 1U) != 0) {
        list.push_back(words[i]);
      }
    }
    return list;
  };
  return key;
}

}  // namespace rows
}  // namespace flitwise::config
