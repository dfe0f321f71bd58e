// SPDX-License-Identifier: Apache-2.0
// YAML events into the tree of values: strict where yaml-cpp is lenient.
#include "config/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>
#include <unordered_map>

#include "common/printable.h"
#include "common/ranges.h"

namespace flitwise::config {

const Value::Entry* Value::find(const std::string& key) const {
  return find_where(entries, [&](const Entry& entry) { return entry.key == key; });
}

std::string Value::seen() const {
  switch (kind) {
    case Kind::kNull: return "nothing";
    case Kind::kScalar: return (is_quoted ? "the text '" : "'") + shortened(text) + "'";
    case Kind::kSequence: return "a sequence";
    case Kind::kMap: return "a map";
  }
  return "";
}

namespace {

// A handful of nested aliases can stand for billions of values; no honest config comes near this.
constexpr std::size_t kMaxValues = 1'000'000;

// Readers call themselves once a level.
constexpr std::size_t kMaxDepth = 100;

struct Extent {
  std::size_t values = 1, depth = 1;
};

Extent extent_of(const Value& value) {
  Extent all;
  const auto add = [&all](const Value& part) {
    const Extent one = extent_of(part);
    all.values += one.values;
    all.depth = std::max(all.depth, one.depth + 1);
  };
  std::for_each(value.items.begin(), value.items.end(), add);
  for (const Value::Entry& entry : value.entries) {
    add(entry.value);
  }
  return all;
}

bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.data() + at, text.size() - at);
    if (length == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

/// Raised when reading cannot go on; the problem is in the list already.
struct Unreadable {};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const Place& base, bool is_whole, ProblemList& problems)
      : base_(base), is_whole_(is_whole), problems_(problems) {}

  Value take() { return std::move(root_); }
  Place place(const YAML::Mark& mark) const {
    if (is_whole_) {
      return base_;
    }
    return {base_.file, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1, base_.source};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    accept(leaf(Value::Kind::kNull, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto at = anchors_.find(anchor);
    if (at == anchors_.end()) {
      refuse(place(mark), "an alias inside its own anchor; expected a finished value");
    }
    Value copy = at->second;
    copy.place = place(mark);
    const Extent extent = extent_of(copy);
    values_ += extent.values;
    check_extent(copy.place, open_.size() + extent.depth);
    accept(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = leaf(Value::Kind::kScalar, mark);
    check_tag(tag, value.place);
    // Results and script lines are JSON, which has no other texts.
    if (!is_utf8(text)) {
      refuse(value.place, "bytes that are no UTF-8; expected a text in UTF-8");
    }
    value.text = text;
    value.is_quoted = tag == "!";
    accept(std::move(value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override {
    apply_merge_keys(open_.back());
    close();
  }

 private:
  struct Open {
    Value value;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  ///< the map waits for the value of its last key
    bool skip = false;     ///< that key was refused: its value is dropped
    std::unordered_map<std::string, std::size_t> keys;  ///< of the map, and which entry each is
  };

  Value leaf(Value::Kind kind, const YAML::Mark& mark) {
    Value value;
    value.kind = kind;
    value.place = place(mark);
    ++values_;
    check_extent(value.place);
    return value;
  }

  void check_extent(const Place& at, std::size_t depth = 0) {
    if (values_ > kMaxValues) {
      refuse(at, fmt::format("more than {} values; expected a config", kMaxValues));
    }
    if (depth > kMaxDepth) {
      refuse(at, fmt::format("more than {} levels; expected a config", kMaxDepth));
    }
  }

  [[noreturn]] void refuse(const Place& at, const std::string& message) {
    problems_.add(at, "", message);
    throw Unreadable{};
  }

  void check_tag(const std::string& tag, const Place& at) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      problems_.add(at, "", "tag '" + tag + "'; expected a value without a tag");
    }
  }

  void open(Value::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    Open opened;
    opened.value = leaf(kind, mark);
    check_tag(tag, opened.value.place);
    opened.anchor = anchor;
    check_extent(opened.value.place, open_.size() + 1);
    open_.push_back(std::move(opened));
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    accept(std::move(closed.value), closed.anchor);
  }

  void accept(Value value, YAML::anchor_t anchor) {
    if (anchor != 0) {
      values_ += extent_of(value).values;  // a copy is kept
      check_extent(value.place);
      anchors_[anchor] = value;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.kind == Value::Kind::kSequence) {
      parent.value.items.push_back(std::move(value));
    } else if (!parent.has_key) {
      accept_key(parent, value);
    } else {
      if (!parent.skip) {
        parent.value.entries.back().value = std::move(value);
      }
      parent.has_key = false;
    }
  }

  void accept_key(Open& parent, const Value& key) {
    parent.has_key = true;
    parent.skip = true;
    if (key.kind != Value::Kind::kScalar) {
      problems_.add(key.place, "", key.seen() + " as a key; expected a plain word");
      return;
    }
    const auto [at, is_new] = parent.keys.emplace(key.text, parent.value.entries.size());
    if (!is_new) {
      const Place& first = parent.value.entries[at->second].place;
      problems_.add(key.place, "",
                    fmt::format("duplicate key '{}'; expected it once, it stands at {}:{} already",
                                shortened(key.text), first.line, first.column));
      return;
    }
    parent.skip = false;
    parent.value.entries.push_back({key.text, key.place, {}});
  }

  /// `<<: *anchor` or `<<: [*a, *b]`: keys written in the map itself win, then earlier maps win.
  void apply_merge_keys(Open& open) {
    const auto found = open.keys.find("<<");
    if (found == open.keys.end()) {
      return;
    }
    Value& map = open.value;
    const auto at = map.entries.begin() + static_cast<std::ptrdiff_t>(found->second);
    const Value merged = std::move(at->value);
    map.entries.erase(at);
    const std::vector<Value> sources =
        merged.kind == Value::Kind::kSequence ? merged.items : std::vector<Value>{merged};
    for (const Value& source : sources) {
      if (source.kind != Value::Kind::kMap) {
        problems_.add(merged.place, "",
                      "'<<' merges " + source.seen() + "; expected a map or a list of maps");
        continue;
      }
      for (const Value::Entry& entry : source.entries) {
        if (open.keys.emplace(entry.key, map.entries.size()).second) {
          map.entries.push_back(entry);
        }
      }
    }
  }

  const Place base_;
  const bool is_whole_;
  ProblemList& problems_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Value> anchors_;
  std::size_t values_ = 0;
  Value root_;
};

}  // namespace

Value parse_yaml(const std::string& text, const Place& place, ProblemList& problems,
                 bool is_whole) {
  std::istringstream stream(text);
  TreeBuilder builder(place, is_whole, problems);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    Value tree = builder.take();
    TreeBuilder further(place, is_whole, problems);
    if (parser.HandleNextDocument(further)) {
      problems.add(further.take().place, "", "a second document; expected one document a file");
    }
    return tree;
  } catch (const YAML::Exception& error) {
    problems.add(builder.place(error.mark), "",
                 "not valid YAML: " + error.msg + "; expected maps of 'key: value'");
  } catch (const Unreadable&) {
  }
  return {};
}

}  // namespace flitwise::config
