// SPDX-License-Identifier: Apache-2.0
/// Applies trees of values to a Config by the tables, layer over layer, and remembers where every
/// value was written.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/problems.h"
#include "config/document.h"
#include "config/sections/sections.h"
#include "flitwise/config.h"

namespace flitwise::config {

/// Where each key got its value, by dotted path; keys left at their default are not there.
class Origins {
 public:
  void set(const std::string& path, const Place& place) { written_[path] = {place, ++count_}; }
  void mark_bad(const std::string& path) { bad_.insert(path); }
  bool is_bad(const std::string& path) const { return bad_.count(path) != 0; }
  /// The place of the one of these keys that was written last, or null if all have defaults.
  const Place* latest(const std::vector<std::string>& paths) const;
  std::vector<std::string> paths() const;

 private:
  std::map<std::string, std::pair<Place, int>> written_;
  std::set<std::string> bad_;
  int count_ = 0;
};

/// One named instance while it is read.
struct Instance {
  Place place;  ///< of its name
  Origins origins;
  std::vector<std::pair<std::string, std::string>> values;  ///< path, canonical YAML
};

class Reader {
 public:
  explicit Reader(ProblemList& problems) : problems_(problems) {}

  /// One layer over what was read before. Relative paths in it start at
  /// the first of `directories` where the file exists.
  void apply(const Value& tree, const std::vector<std::string>& directories);

  /// What was read so far. Overrides of instances are not in it.
  Config& config() { return config_; }
  const Origins& origins() const { return origins_; }
  const std::map<std::string, Instance>& instances() const { return instances_; }

 private:
  /// What a walk through one tree writes to: the config itself, or one instance.
  struct Target {
    Config* config;
    Origins* origins;
    Instance* instance;  ///< null: the config itself
    std::string prefix;  ///< of paths in messages: "system.instances.ep0."
    std::vector<std::string> directories;
    std::set<std::string> seen;  ///< keys of this layer
  };

  void walk(const Value& map, const KeyNode& node, Target& target);
  void check_map(const Value& map, const std::string& path, const std::string& expected);
  void visit(const Value::Entry& entry, const KeyNode& node, Target& target);
  void read_key(const Value::Entry& entry, const Key& key, Target& target);
  void read_instances(const Value& map, const std::vector<std::string>& directories);
  std::string hint_for(const std::string& key, const KeyNode& parent,
                       const std::vector<std::string>& near, const Target& target);
  void report_unknown(const Value::Entry& entry, const KeyNode& parent, const Target& target);

  ProblemList& problems_;
  std::size_t unknown_keys_ = 0;
  Config config_;
  Origins origins_;
  std::map<std::string, Instance> instances_;
};

}  // namespace flitwise::config
