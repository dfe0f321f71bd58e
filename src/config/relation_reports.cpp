// SPDX-License-Identifier: Apache-2.0
// Which of the keys of a broken relation is to blame.
#include "config/relation_reports.h"

#include "common/ranges.h"

namespace flitwise::config {
namespace {

std::string most_telling_path(const BrokenRelation& relation, const Place& place,
                              const Origins& origins) {
  for (const std::string& path : relation.paths) {
    const Place* at = origins.latest({path});
    if (at != nullptr && at->file == place.file && at->line == place.line &&
        at->column == place.column) {
      return path;
    }
  }
  return relation.paths.front();
}

}  // namespace

/// The place to blame: in an instance first, then in the config itself. Null when a key concerned
/// is wrong by itself already.
const Place* RelationReports::blamed(const BrokenRelation& relation,
                                     const Origins* of_instance) const {
  for (const std::string& path : relation.paths) {
    if (whole_.is_bad(path) || (of_instance != nullptr && of_instance->is_bad(path))) {
      return nullptr;
    }
  }
  const Place* place = of_instance == nullptr ? nullptr : of_instance->latest(relation.paths);
  return place != nullptr ? place : whole_.latest(relation.paths);
}

void RelationReports::add(const BrokenRelations& relations, const Origins* of_instance) {
  for (const BrokenRelation& relation : relations) {
    const Place* place = blamed(relation, of_instance);
    if (place == nullptr || contains(known_, relation.message)) {
      continue;
    }
    const Origins& origins = of_instance != nullptr ? *of_instance : whole_;
    problems_.add(*place, most_telling_path(relation, *place, origins), relation.message);
    if (of_instance == nullptr) {
      known_.push_back(relation.message);
    }
  }
}

}  // namespace flitwise::config
