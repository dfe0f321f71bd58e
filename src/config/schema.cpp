// SPDX-License-Identifier: Apache-2.0
// The section tables as JSON Schema, as Markdown and as a list.
#include <fmt/format.h>

#include "config/load.h"
#include "config/table.h"

namespace flitwise {

using nlohmann::ordered_json;

namespace {

ordered_json default_of(const config::Key& key) {
  static const Config defaults;
  return key.write(defaults);
}

std::string as_text(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

ordered_json schema_of(const config::Key& key) {
  ordered_json schema = key.schema;
  schema["default"] = default_of(key);
  schema["description"] = fmt::format("{} ({})", key.sentence, key.range);
  return schema;
}

ordered_json schema_of(const config::KeyNode& node) {
  if (node.key != nullptr) {
    return schema_of(*node.key);
  }
  ordered_json properties = ordered_json::object();
  for (const config::KeyNode& child : node.children) {
    properties[child.name] = schema_of(child);
  }
  return {
      {"type", {"object", "null"}}, {"properties", properties}, {"additionalProperties", false}};
}

/// An instance takes the sections, or dotted keys, or both.
ordered_json instance_schema() {
  ordered_json schema = schema_of(config::key_tree());
  for (const config::Key& key : config::all_rows()) {
    schema["properties"][key.path] = schema_of(key);
  }
  return schema;
}

}  // namespace

ordered_json json_schema() {
  ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                         {"title", "flitwise configuration"}};
  schema.update(schema_of(config::key_tree()));
  schema["properties"]["base"] = {
      {"type", "string"}, {"description", "A config to start from, relative to this file."}};
  schema["properties"]["system"]["properties"]["instances"] = {
      {"type", {"object", "null"}},
      {"description", "Overrides for single instances, by name: ep0, rp0, rp0-ep0, sw0."},
      {"additionalProperties", instance_schema()}};
  return schema;
}

std::vector<KeyInfo> all_keys() {
  std::vector<KeyInfo> all;
  for (const config::Key& key : config::all_rows()) {
    all.push_back(
        {key.path, key.unit, key.range, as_text(default_of(key)), key.sentence, key.values});
  }
  return all;
}

std::string schema_markdown() {
  std::string page = "# Configuration keys\n";
  std::string section;
  for (const KeyInfo& key : all_keys()) {
    const std::string its_section = key.path.substr(0, key.path.find('.'));
    if (its_section != section) {
      section = its_section;
      page += fmt::format(
          "\n## {}\n\n| key | unit | range | default | meaning |\n|---|---|---|---|---|\n",
          section);
    }
    page +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", key.path, key.unit, key.range,
                    key.default_value.empty() ? "" : "`" + key.default_value + "`", key.sentence);
  }
  return page;
}

}  // namespace flitwise
