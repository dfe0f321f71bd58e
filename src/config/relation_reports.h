// SPDX-License-Identifier: Apache-2.0
/// Broken relations as problems, at the place to blame.
#pragma once

#include <string>
#include <vector>

#include "common/problems.h"
#include "config/reader.h"
#include "config/relations.h"

namespace flitwise::config {

class RelationReports {
 public:
  /// whole: where the keys of the config itself were written.
  RelationReports(const Origins& whole, ProblemList& problems)
      : whole_(whole), problems_(problems) {}

  /// of_instance: the keys of one, or null. What is broken already without it is not said again.
  void add(const BrokenRelations& relations, const Origins* of_instance = nullptr);

 private:
  const Place* blamed(const BrokenRelation& relation, const Origins* of_instance) const;

  const Origins& whole_;
  ProblemList& problems_;
  std::vector<std::string> known_;  // without any instance
};

}  // namespace flitwise::config
