// SPDX-License-Identifier: Apache-2.0
// The canonical form of a configuration and its hash.

#include "common/sha256.h"
#include "config/load.h"
#include "config/table.h"

namespace flitwise {

using nlohmann::ordered_json;

namespace {

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

}  // namespace flitwise
