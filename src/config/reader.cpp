// SPDX-License-Identifier: Apache-2.0
// The walk through a tree of values, along the tree of keys.
#include "config/reader.h"

#include <fmt/format.h>

#include <boost/range/algorithm_ext/erase.hpp>
#include <unordered_map>

#include "common/printable.h"
#include "common/ranges.h"

namespace flitwise::config {

const Place* Origins::latest(const std::vector<std::string>& paths) const {
  const std::pair<Place, int>* found = nullptr;
  for (const std::string& path : paths) {
    const auto at = written_.find(path);
    if (at != written_.end() && (found == nullptr || at->second.second > found->second)) {
      found = &at->second;
    }
  }
  return found == nullptr ? nullptr : &found->first;
}

std::vector<std::string> Origins::paths() const {
  return mapped(written_, [](const auto& written) { return written.first; });
}

namespace {

const std::string kInstances = "system.instances";

std::string joined(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

const KeyNode* find_node(const KeyNode& root, const std::string& dotted) {
  const KeyNode* node = &root;
  std::size_t start = 0;
  while (node != nullptr && start <= dotted.size()) {
    const std::size_t dot = std::min(dotted.find('.', start), dotted.size());
    node = node->child(dotted.substr(start, dot - start));
    start = dot + 1;
  }
  return node;
}

/// Paths by the words that they end in, behind a dot; of several the first in the tables.
std::unordered_map<std::string, std::string> paths_by_tail() {
  std::unordered_map<std::string, std::string> paths;
  for (const Key& key : all_rows()) {
    for (std::size_t end = 0; end != std::string::npos;) {
      end = key.path.find('.', end + 1);
      const std::string path = key.path.substr(0, end);
      for (std::size_t dot = path.find('.'); dot != std::string::npos;
           dot = path.find('.', dot + 1)) {
        paths.emplace(path.substr(dot + 1), path);
      }
    }
  }
  return paths;
}

/// A key elsewhere in the tree that ends in the same words: `mps` means `link.mps`.
std::string same_words_elsewhere(const std::string& name) {
  static const std::unordered_map<std::string, std::string> kPaths = paths_by_tail();
  const auto found = kPaths.find(name);
  return found == kPaths.end() ? "" : found->second;
}

}  // namespace

void Reader::apply(const Value& tree, const std::vector<std::string>& directories) {
  Target target{&config_, &origins_, nullptr, "", directories, {}};
  walk(tree, key_tree(), target);
}

void Reader::walk(const Value& map, const KeyNode& node, Target& target) {
  check_map(map, target.prefix + node.path,
            fmt::format("with keys such as '{}: ...'", node.children.front().name));
  for (const Value::Entry& entry : map.entries) {
    visit(entry, node, target);
  }
}

// Nothing at all is an empty map.
void Reader::check_map(const Value& map, const std::string& path, const std::string& expected) {
  if (map.kind != Value::Kind::kMap && map.kind != Value::Kind::kNull) {
    problems_.add(map.place, path, fmt::format("{}; expected a map {}", map.seen(), expected));
  }
}

void Reader::visit(const Value::Entry& entry, const KeyNode& node, Target& target) {
  const std::string path = joined(node.path, entry.key);
  if (path == kInstances && target.instance == nullptr) {
    read_instances(entry.value, target.directories);
    return;
  }
  const bool may_be_dotted = target.instance != nullptr && node.path.empty();
  const KeyNode* found = may_be_dotted ? find_node(key_tree(), entry.key) : node.child(entry.key);
  if (found == nullptr) {
    report_unknown(entry, node, target);
  } else if (found->key == nullptr) {
    walk(entry.value, *found, target);
  } else {
    read_key(entry, *found->key, target);
  }
}

void Reader::read_key(const Value::Entry& entry, const Key& key, Target& target) {
  if (!target.seen.insert(key.path).second) {
    problems_.add(entry.place, target.prefix + key.path,
                  fmt::format("duplicate key '{}'; expected it once", key.path));
    return;
  }
  bool is_good = true;
  const auto report = [&](const Place& place, const std::string& message) {
    is_good = false;
    problems_.add(place, target.prefix + key.path, message);
  };
  if (entry.value.kind == Value::Kind::kNull) {
    report(entry.place, "no value; expected " + key.range);
  } else {
    ReadContext context{report, target.directories};
    if (target.instance == nullptr) {
      context.note = [&](const std::string& path, const Place& place) {
        target.origins->set(path, place);
      };
    }
    key.read(*target.config, entry.value, context);
  }
  target.origins->set(key.path,
                      entry.value.kind == Value::Kind::kNull ? entry.place : entry.value.place);
  if (!is_good) {
    target.origins->mark_bad(key.path);
    return;
  }
  if (target.instance != nullptr) {
    auto& values = target.instance->values;
    boost::range::remove_erase_if(values,
                                  [&](const auto& other) { return other.first == key.path; });
    values.emplace_back(key.path, key.write(*target.config).dump());
  }
}

void Reader::read_instances(const Value& map, const std::vector<std::string>& directories) {
  check_map(map, kInstances, "of names such as 'ep0: {...}'");
  for (const Value::Entry& entry : map.entries) {
    Instance& instance = instances_[entry.key];
    instance.place = entry.place;
    Config scratch;
    Target target{&scratch,    &instance.origins,
                  &instance,   kInstances + "." + entry.key + ".",
                  directories, {}};
    walk(entry.value, key_tree(), target);
  }
}

/// The key that was meant, likely. Whoever has thousands of unknown keys has mistaken the file, and
/// would wait for them to be compared with every key there is.
std::string Reader::hint_for(const std::string& key, const KeyNode& parent,
                             const std::vector<std::string>& near, const Target& target) {
  constexpr std::size_t kMostHints = 1000;
  if (++unknown_keys_ > kMostHints) {
    return "";
  }
  std::string hint = same_words_elsewhere(key);
  const auto sibling = nearest(key, near);
  if (sibling && (hint.empty() || !parent.path.empty())) {
    return joined(parent.path, *sibling);
  }
  if (target.instance != nullptr && parent.path.empty()) {
    hint = nearest(key, mapped(all_rows(), &Key::path)).value_or(hint);
  }
  return hint;
}

namespace {

/// Names that are reserved for parts that are not modelled yet, with what they stand for.
struct FutureKey {
  const char* path;
  const char* what;
};
constexpr FutureKey kFutureKeys[] = {
    {"device.hca", "the host channel adapter"},
};

/// A file with such a key is meant for another command.
const char* of_other_file(const std::string& key) {
  constexpr const char* kSweepKeys[] = {"axes", "blocks", "seeds", "set", "zip"};
  constexpr const char* kCaseKeys[] = {"id",    "cites",  "stimulus", "expect",
                                       "never", "matrix", "variants"};
  return contains(kSweepKeys, key) ? "; this is a key of a sweep, which 'flitwise sweep run' takes"
         : contains(kCaseKeys, key)
             ? "; this is a key of a corner case, which 'flitwise conform' takes"
             : "";
}

}  // namespace

void Reader::report_unknown(const Value::Entry& entry, const KeyNode& parent,
                            const Target& target) {
  const std::string path = joined(parent.path, entry.key);
  for (const FutureKey& future : kFutureKeys) {
    if (path == future.path || path.rfind(std::string(future.path) + ".", 0) == 0) {
      problems_.add(entry.place, target.prefix + path,
                    fmt::format("'{}' ({}) is a known key that is not modelled yet; expected a "
                                "config without it",
                                future.path, future.what));
      return;
    }
  }
  std::vector<std::string> near = parent.child_names();
  if (parent.path.empty() && target.instance == nullptr) {
    near.emplace_back("base");
  }
  if (parent.path == "system" && target.instance == nullptr) {
    near.emplace_back("instances");
  }
  const std::string expected = alternatives(near);
  const std::string hint = hint_for(entry.key, parent, near, target);
  problems_.add(
      entry.place, target.prefix + path,
      fmt::format(
          "unknown key '{}'; expected {}{}{}", shortened(path), expected,
          hint.empty() ? "" : "; nearest key '" + hint + "'",
          parent.path.empty() && target.instance == nullptr ? of_other_file(entry.key) : ""));
}

}  // namespace flitwise::config
