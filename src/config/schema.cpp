// SPDX-License-Identifier: Apache-2.0
// The section tables put together, and written out: the canonical form of a configuration and its
// hash, JSON Schema, Markdown and a list.
#include <fmt/format.h>

#include "common/ranges.h"
#include "common/sha256.h"
#include "config/load.h"
#include "config/sections/sections.h"

namespace flitwise {
namespace config {

const Keys& all_rows() {
  static const Keys all = joined({system_keys(), host_keys(), iommu_keys(), link_keys(),
                                  message_keys(), device_keys(), network_keys(), workload_keys(),
                                  flow_keys(), faults_keys(), trace_keys(), run_keys()});
  return all;
}

const Key* find_row(const std::string& path) {
  return find_where(all_rows(), [&](const Key& key) { return key.path == path; });
}

const KeyNode* KeyNode::child(const std::string& child_name) const {
  return find_where(children, [&](const KeyNode& node) { return node.name == child_name; });
}

std::vector<std::string> KeyNode::child_names() const {
  return mapped(children, &KeyNode::name);
}

const KeyNode& key_tree() {
  static const KeyNode tree = [] {
    KeyNode root;
    for (const Key& key : all_rows()) {
      KeyNode* node = &root;
      for (std::size_t start = 0, dot = 0; dot != std::string::npos; start = dot + 1) {
        dot = key.path.find('.', start);
        const std::string name = key.path.substr(start, dot - start);
        auto& parts = node->children;
        const auto at = find_if(parts, [&](const KeyNode& part) { return part.name == name; });
        node =
            &*(at != parts.end() ? at
                                 : parts.insert(at, {name, key.path.substr(0, dot), nullptr, {}}));
      }
      node->key = &key;
    }
    return root;
  }();
  return tree;
}

}  // namespace config

using nlohmann::ordered_json;

namespace {

ordered_json default_of(const config::Key& key) {
  static const Config defaults;
  return key.write(defaults);
}

/// What the key does, and when a run reads it.
std::string sentence_of(const config::Key& key) {
  const config::Condition when = config::read_when(key.path);
  return when.alternatives.empty() ? key.sentence
                                   : fmt::format("{} Read when {}.", key.sentence, when.text());
}

ordered_json schema_of(const config::Key& key) {
  ordered_json schema = key.schema;
  schema["default"] = default_of(key);
  schema["description"] = fmt::format("{} ({})", sentence_of(key), key.range);
  if (const config::Condition when = config::read_when(key.path); !when.alternatives.empty()) {
    schema["x-read-when"] = when.json();
  }
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

ordered_json written(const config::KeyNode& node, const Config& config) {
  if (node.key != nullptr) {
    return node.key->write(config);
  }
  auto object = ordered_json::object();
  for (const config::KeyNode& child : node.children) {
    const bool is_left_out = child.path == "trace";  // What is watched changes no result.
    if (!is_left_out) {
      object[child.name] = written(child, config);
    }
  }
  return object;
}

ordered_json written_instances(const Config& config) {
  auto all = ordered_json::object();
  for (const auto& [name, overrides] : config.instances) {
    std::map<std::string, ordered_json> sorted;
    for (const auto& [path, text] : overrides) {
      sorted[path] = ordered_json::parse(text);
    }
    all[name] = ordered_json(sorted);
  }
  return all;
}

}  // namespace

ordered_json effective_config(const Config& config) {
  ordered_json all = written(config::key_tree(), config);
  all["system"]["instances"] = written_instances(config);
  return all;
}

std::string config_sha256(const Config& config) {
  return sha256_hex(
      effective_config(config).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

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
    all.push_back({key.path, key.unit, key.range, config::as_text(default_of(key)),
                   sentence_of(key), key.values});
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
