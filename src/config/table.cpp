// SPDX-License-Identifier: Apache-2.0
// The section tables put together.
#include "config/table.h"

#include <algorithm>

#include "config/sections/sections.h"

namespace flitwise::config {

const Keys& all_rows() {
  static const Keys all =
      joined({system_keys(), host_keys(), iommu_keys(), link_keys(), message_keys(), device_keys(),
              workload_keys(), faults_keys(), trace_keys(), run_keys()});
  return all;
}

const Key* find_row(const std::string& path) {
  const Keys& all = all_rows();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Key& key) { return key.path == path; });
  return at == all.end() ? nullptr : &*at;
}

const KeyNode* KeyNode::child(const std::string& child_name) const {
  const auto at = std::find_if(children.begin(), children.end(),
                               [&](const KeyNode& node) { return node.name == child_name; });
  return at == children.end() ? nullptr : &*at;
}

std::vector<std::string> KeyNode::child_names() const {
  std::vector<std::string> all;
  for (const KeyNode& node : children) {
    all.push_back(node.name);
  }
  return all;
}

namespace {

void insert(KeyNode& parent, const Key& key, std::size_t start) {
  const std::size_t dot = key.path.find('.', start);
  const std::string name = key.path.substr(start, dot - start);
  auto at = std::find_if(parent.children.begin(), parent.children.end(),
                         [&](const KeyNode& node) { return node.name == name; });
  if (at == parent.children.end()) {
    at = parent.children.insert(at, {name, key.path.substr(0, dot), nullptr, {}});
  }
  if (dot == std::string::npos) {
    at->key = &key;
  } else {
    insert(*at, key, dot + 1);
  }
}

}  // namespace

const KeyNode& key_tree() {
  static const KeyNode tree = [] {
    KeyNode root;
    for (const Key& key : all_rows()) {
      insert(root, key, 0);
    }
    return root;
  }();
  return tree;
}

}  // namespace flitwise::config
