// SPDX-License-Identifier: Apache-2.0
/// Keys that are lists of maps, such as nodes and edges.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "config/key.h"

namespace flitwise::config {

/// Reads one map of a list: its fields by name, each of which stands in it once.
class ItemReader {
 public:
  ItemReader(const ReadContext& context, const char* expected)
      : context_(context), expected_(expected) {}

  /// False, and reported, where the item is no map or has other keys than these.
  bool has_only(const Value& item, const std::vector<std::string>& keys) const;
  /// The text of a field; null, and reported, where it is no word of letters, digits and `others`.
  const std::string* word(const Value& item, const char* field, const std::string& path,
                          const std::string& others) const;

 private:
  bool report(const Place& place, const std::string& seen) const;

  const ReadContext& context_;
  const char* expected_;
};

/// Reads each item of a list with `read(item, path)`, which returns false where it is wrong.
template <class Read>
bool read_list(const std::string& path, const char* expected, const Value& value,
               const ReadContext& context, Read&& read) {
  if (value.kind != Value::Kind::kSequence) {
    context.report(value.place, fmt::format("{}; expected a list of {}", value.seen(), expected));
    return false;
  }
  bool is_good = true;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string item = fmt::format("{}[{}]", path, i);
    if (context.note) {
      context.note(item, value.items[i].place);
    }
    is_good = read(value.items[i], item) && is_good;
  }
  return is_good;
}

/// item: the schema of a map of the list.
Key list_key(const char* path, const char* range, const char* sentence,
             nlohmann::ordered_json item);

}  // namespace flitwise::config
