// SPDX-License-Identifier: Apache-2.0
/// What a machine does again and again while nothing is completed: for the report of a run that
/// does not get on, and to end one whose link sends for ever what never arrives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/component_list.h"

namespace flitwise {

/// Of these counts, those that have grown since, and by how much.
Component::Counts grown(const Component::Counts& counts, const Component::Counts& before);

class RepeatBook {
 public:
  explicit RepeatBook(const ComponentList& components) : components_(components) {}

  /// model: a link has failed on which so many TLPs, flits and DLLPs were damaged or sent again
  /// while it delivered fewer TLPs and messages than this, however much simulated time that took.
  static constexpr std::uint64_t kMostWasted = 100'000, kFewestDelivered = 200;

  /// Repetitions are counted from here on, unless they are already.
  void begin();
  /// Something was completed: repetitions are counted anew. What a link has wasted is not: a
  /// request may be over because it has given up.
  void forget() { before_.clear(); }
  /// A line for each repetition that was counted, the most frequent ones first.
  std::string text() const;
  /// The link that has sent too much in vain; empty where none has.
  std::string failed_link();

 private:
  Component::Counts counts() const;

  const ComponentList& components_;
  Component::Counts before_;     // empty: not begun
  std::vector<Progress> since_;  // by component: from where on each is looked at
};

}  // namespace flitwise
