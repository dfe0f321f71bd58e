// SPDX-License-Identifier: Apache-2.0
// --axis, --zip and --seeds of the command line.
#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>
#include <sstream>

#include "common/quantity.h"
#include "common/ranges.h"
#include "sweep/plan.h"

namespace flitwise {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& key,
                         const std::string& message) {
  throw ConfigError({{option, 0, 0, key, message}});
}

/// Parts between commas, but for commas within brackets or quotes.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool is_quoted = false;
  for (const char c : text) {
    is_quoted = is_quoted != (c == '"');
    if (!is_quoted) {
      depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
      depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
    }
    if (c == ',' && depth == 0 && !is_quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> values_of(const std::string& text, const std::string& option,
                                   const std::string& key) {
  const std::string linspace = "linspace(";
  std::vector<std::string> values;
  for (const std::string& part : parts_of(text)) {
    if (part.empty()) {
      refuse(option, key,
             fmt::format("'{}' has an empty value; expected VALUE,VALUE,... or A..B:*K", text));
    }
    ExpandedValues expanded{{part}, ""};
    if (part.rfind(linspace, 0) == 0 && part.back() == ')') {
      const std::size_t inner = part.size() - linspace.size() - 1;
      expanded = expand_linspace(parts_of(part.substr(linspace.size(), inner)));
    } else if (part.find("..") != std::string::npos && part.find('/') == std::string::npos) {
      expanded = expand_range(part);
    }
    if (!expanded.problem.empty()) {
      refuse(option, key, expanded.problem);
    }
    boost::range::push_back(values, expanded.values);
  }
  return values;
}

Axis axis_from(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse(option, "", fmt::format("'{}'; expected KEY=VALUES, such as link.mps=128B,256B", text));
  }
  const std::string key = text.substr(0, equals);
  return {key, values_of(text.substr(equals + 1), option, key), 0, 0};
}

AxisGroup zip_from(const std::string& text) {
  AxisGroup group;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    group.push_back(axis_from(word, "--zip"));
    if (group.back().values.size() != group.front().values.size()) {
      refuse(
          "--zip", group.back().key,
          fmt::format("{} values beside the {} of {}; expected equally many",
                      group.back().values.size(), group.front().values.size(), group.front().key));
    }
  }
  if (group.empty()) {
    refuse("--zip", "", "nothing; expected \"KEY=VALUES KEY=VALUES ...\"");
  }
  return group;
}

}  // namespace

CommandAxes read_command_axes(const std::vector<std::string>& axes,
                              const std::vector<std::string>& zips, const std::string& seeds) {
  CommandAxes added;
  for (const std::string& text : axes) {
    added.groups.push_back({axis_from(text, "--axis")});
  }
  for (const std::string& text : zips) {
    added.groups.push_back(zip_from(text));
  }
  if (!seeds.empty()) {
    for (const std::string& word : values_of(seeds, "--seeds", "")) {
      const auto seed = config::read_whole(word);
      if (!seed.value) {
        refuse("--seeds", "", seed.problem);
      }
      if (contains(added.seeds, *seed.value)) {
        refuse("--seeds", "", fmt::format("{} twice; expected each seed once", word));
      }
      added.seeds.push_back(*seed.value);
    }
  }
  return added;
}

}  // namespace flitwise
