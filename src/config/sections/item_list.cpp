// SPDX-License-Identifier: Apache-2.0
#include "config/sections/item_list.h"

#include <cctype>
#include <utility>

#include "common/ranges.h"

namespace flitwise::config {

bool ItemReader::has_only(const Value& item, const std::vector<std::string>& keys) const {
  if (item.kind != Value::Kind::kMap) {
    return report(item.place, item.seen());
  }
  for (const Value::Entry& entry : item.entries) {
    if (!contains(keys, entry.key)) {
      return report(entry.place, fmt::format("unknown key '{}'", entry.key));
    }
  }
  return true;
}

const std::string* ItemReader::word(const Value& item, const char* field, const std::string& path,
                                    const std::string& others) const {
  const Value::Entry* const entry = item.find(field);
  if (entry == nullptr) {
    report(item.place, fmt::format("no '{}'", field));
    return nullptr;
  }
  const std::string& text = entry->value.text;
  const bool is_word =
      entry->value.kind == Value::Kind::kScalar && !text.empty() && all_of(text, [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) < others.size();
      });
  if (!is_word) {
    report(entry->value.place, fmt::format("{} {}", field, entry->value.seen()));
    return nullptr;
  }
  if (context_.note) {
    context_.note(path + "." + field, entry->value.place);
  }
  return &text;
}

bool ItemReader::report(const Place& place, const std::string& seen) const {
  context_.report(place, seen + "; expected " + expected_);
  return false;
}

Key list_key(const char* path, const char* range, const char* sentence,
             nlohmann::ordered_json item) {
  Key key;
  key.path = path;
  key.range = range;
  key.sentence = sentence;
  item["type"] = "object";
  item["additionalProperties"] = false;
  key.schema = {{"type", "array"}, {"items", std::move(item)}};
  return key;
}

}  // namespace flitwise::config
