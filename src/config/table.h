// SPDX-License-Identifier: Apache-2.0
/// All section tables together, flat and as the tree that a file mirrors.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/key.h"

namespace flitwise::config {

/// Every row, section by section.
const Keys& all_rows();

/// The row of a dotted path, or null.
const Key* find_row(const std::string& path);

/// A group of keys (children) or one key.
struct KeyNode {
  std::string name;
  std::string path;
  const Key* key = nullptr;
  std::vector<KeyNode> children;

  const KeyNode* child(const std::string& child_name) const;
  std::vector<std::string> child_names() const;
};

/// The root of the tree: its children are the sections.
const KeyNode& key_tree();

}  // namespace flitwise::config
