// SPDX-License-Identifier: Apache-2.0
/// Arrays as lines of a script: a verb, and its arguments in their order.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "codec/json_reader.h"
#include "common/printable.h"
#include "common/problems.h"
#include "common/ranges.h"

namespace flitwise {

/// The row of the verb that an array begins with. Throws ConfigError where it is none of them, with
/// the nearest. Verb has `name` and `arguments`.
template <class Verb>
const Verb& verb_of_array(const Json& array, const std::vector<Verb>& verbs, int line) {
  const bool is_given = !array.empty() && array.front().is_string();
  const std::string name = is_given ? array.front().get<std::string>() : "";
  if (const Verb* const verb =
          find_where(verbs, [&](const Verb& one) { return is_given && one.name == name; })) {
    return *verb;
  }
  const std::vector<std::string> names = mapped(verbs, &Verb::name);
  refuse({"script", line, {}}, "",
         (is_given        ? "unknown verb '" + printable(shortened(name)) + "'"
          : array.empty() ? "no verb"
                          : json_value::shown(array.front()) + " seen") +
             "; expected " + config::alternatives(names) +
             (is_given ? config::nearest_hint(name, names, "verb") : ""));
}

/// Reads what stands behind the verb: name(argument) is how it is called, read(argument, value)
/// says what is wrong. Throws ConfigError with every problem, or for too few or too many of them.
template <class Verb, class Name, class Read>
void read_arguments(const Json& array, const Verb& verb, int line, Name name, Read read) {
  const JsonSource source{"script", line, {}};
  const std::size_t seen = array.size() - 1;
  if (seen != verb.arguments.size()) {
    std::string usage = fmt::format("[\"{}\"", verb.name);
    for (const auto& argument : verb.arguments) {
      usage += fmt::format(", {}", name(argument));
    }
    refuse(source, verb.name,
           fmt::format("{} argument{} seen; expected {}]", seen, seen == 1 ? "" : "s", usage));
  }
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < seen; ++i) {
    const Complaint complaint = read(verb.arguments[i], array[i + 1]);
    if (!complaint.empty()) {
      problems.push_back(
          source.problem(fmt::format("{}.{}", verb.name, name(verb.arguments[i])), complaint));
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
}

/// What is wrong inside of an object, as one complaint. void read(JsonReader&).
template <class Read>
Complaint complaint_within(const Json& value, Read read) {
  try {
    JsonReader in(value, {"script", 0, {}});
    read(in);
    in.finish();
  } catch (const ConfigError& error) {
    return config::summary_of(error);
  }
  return {};
}

}  // namespace flitwise
