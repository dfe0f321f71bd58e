// SPDX-License-Identifier: Apache-2.0
// Walks a result along a path.
#include "results/figure.h"

#include <algorithm>
#include <charconv>

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

const Json* member_of(const Json& value, const std::string& key) {
  if (value.is_object()) {
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
  }
  std::size_t index = 0;
  const char* const end = key.data() + key.size();
  const auto read = std::from_chars(key.data(), end, index);
  const bool is_index = value.is_array() && read.ec == std::errc() && read.ptr == end;
  return is_index && index < value.size() ? &value[index] : nullptr;
}

}  // namespace

std::optional<Json> figure_of(const Json& result, const std::string& path) {
  const Json* found = &result;
  std::size_t at = 0;
  while (found != nullptr && at <= path.size()) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    found = member_of(*found, path.substr(at, dot - at));
    at = dot + 1;
  }
  return found == nullptr ? std::nullopt : std::optional<Json>(*found);
}

}  // namespace flitwise
