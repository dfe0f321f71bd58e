// SPDX-License-Identifier: Apache-2.0
/// All nodes of a configuration by their names, and its edges, whichever way they were written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/graph.h"

namespace flitwise {

class NodeTable {
 public:
  /// `direct` and `switch` are expanded. Of two nodes with one name the first counts.
  explicit NodeTable(const SystemConfig& system);

  /// Those of the user, and the root ports of all hosts there may be, whether or not they are used.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<EdgeConfig>& edges() const { return edges_; }
  std::optional<NodeIndex> find(const std::string& name) const;
  /// Indices of the user's nodes come first, in the order of system.nodes.
  std::size_t of_user() const { return of_user_; }

 private:
  void expand(const SystemConfig& system);
  void add(const std::string& name, NodeKind kind, unsigned host);

  std::vector<Node> nodes_;
  std::vector<EdgeConfig> edges_;
  std::map<std::string, NodeIndex> by_name_;
  std::size_t of_user_ = 0;
};

}  // namespace flitwise
