// SPDX-License-Identifier: Apache-2.0
/// A YAML text as a plain tree with the place of every key and value. Raw YAML ends here.
#pragma once

#include <string>
#include <vector>

#include "common/problems.h"

namespace flitwise::config {

/// One value of the tree. Aliases are resolved and merge keys applied; a scalar stays the text
/// that was written, so that nothing is guessed before the table says what is expected.
struct Value {
  enum class Kind { kNull, kScalar, kSequence, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  Place place;
  std::string text;            ///< kScalar
  bool is_quoted = false;      ///< kScalar: quoted or block text, which is never a number
  std::vector<Value> items;    ///< kSequence
  std::vector<Entry> entries;  ///< kMap, in file order

  /// The value of a key of this map, or null.
  const Entry* find(const std::string& key) const;
  /// "a sequence", "'many'": what was seen, for messages.
  std::string seen() const;
};

struct Value::Entry {
  std::string key;
  Place place;  ///< of the key
  Value value;
};

/// Parses one document. Problems (syntax, duplicate keys, keys that are no plain text, tags) go to
/// the list; the tree holds what could be read. `place` gives file and source of every position;
/// with place.line 0 and `is_whole` every position is that place itself.
Value parse_yaml(const std::string& text, const Place& place, ProblemList& problems,
                 bool is_whole = false);

}  // namespace flitwise::config
