// SPDX-License-Identifier: Apache-2.0
// Fields of messages in patterns.
#include "scenario/message_patterns.h"

#include <algorithm>

#include "codec/message_json.h"

namespace flitwise::scenario {

std::vector<std::uint64_t> named_codes(const config::Value& pattern) {
  const config::Value::Entry* const code = pattern.find("message_code");
  std::vector<std::uint64_t> codes;
  if (code != nullptr) {
    for (const config::Value& item : items_of(code->value)) {
      std::uint64_t number = 0;
      if (!json_value::read_number(Json(item.text), 0, 0xff, number).empty()) {
        return {};  // a relation
      }
      codes.push_back(number);
    }
  }
  return codes;
}

void check_message_field(const std::string& field, const config::Place& place,
                         const std::vector<std::uint64_t>& codes, const Spot& spot) {
  if (!codes.empty() && find_message_field(field) != nullptr &&
      find_message_field(field, codes) == nullptr) {
    spot.add(place, "is no field of a message with this message_code; expected " +
                        expected_in_place_of(field, codes));
  }
}

config::Value as_in_events(const config::Value::Entry& entry,
                           const std::vector<std::uint64_t>& codes, const Spot& spot) {
  config::Value value = entry.value;
  const MessageField* field = find_message_field(entry.key, codes);
  const auto translate = [&](config::Value& item) {
    const bool is_negated = item.text.rfind("!=", 0) == 0;
    const std::string text = is_negated ? trimmed(item.text.substr(2)) : item.text;
    const bool is_relation = text == "any" || text == "absent" || text.find_first_of("<>") == 0 ||
                             text.find("..") != std::string::npos;
    if (field == nullptr || item.kind != config::Value::Kind::kScalar || is_relation) {
      return;
    }
    std::uint64_t number = 0;
    if (const Complaint complaint = read_message_value(*field, Json(text), number);
        !complaint.empty()) {
      spot.add(item.place, complaint);
    } else {
      const Json seen = message_value_json(*field, number);
      item.text =
          (is_negated ? "!= " : "") + (seen.is_string() ? seen.get<std::string>() : seen.dump());
    }
  };
  translate(value);
  std::for_each(value.items.begin(), value.items.end(), translate);
  return value;
}

}  // namespace flitwise::scenario
