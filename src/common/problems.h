// SPDX-License-Identifier: Apache-2.0
/// Places in user files, the list of problems found there, and the nearest valid word.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flitwise/error.h"

namespace flitwise::config {

/// Where something was written. `source` counts the inputs in the order in which they were named.
struct Place {
  std::string file;
  int line = 0;  ///< 1-based; 0: the input as a whole
  int column = 0;
  int source = 0;
};

/// Collects problems in any order and hands them out in file order.
class ProblemList {
 public:
  void add(const Place& place, const std::string& path, const std::string& message);
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// In order of source, line and column; repeats are left out.
  std::vector<Problem> sorted() const;

 private:
  struct Entry {
    Place place;
    Problem problem;
  };
  std::vector<Entry> entries_;
};

/// "path: message; path: message", without their places.
std::string summary_of(const ConfigError& error);

/// The candidate with the smallest edit distance, if that is at most half of the word's length; of
/// several, one with the same first letter.
std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& candidates);

/// "a, b or c"
std::string alternatives(const std::vector<std::string>& words);

/// "; nearest WHAT 'x'", or nothing when no candidate is near.
std::string nearest_hint(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& what);

}  // namespace flitwise::config
