// SPDX-License-Identifier: Apache-2.0
// Which expectation gives a value its name, and which ones use it.
#include "scenario/case_values.h"

namespace flitwise::scenario {
namespace {

using NamedField = EventPattern::NamedField;

/// Names that may be used from here on.
class Scope {
 public:
  explicit Scope(config::ProblemList& problems) : problems_(problems) {}

  void use(const EventPattern& pattern) {
    for (const NamedField& reference : pattern.references) {
      const auto found = names_.find(reference.name);
      if (found != names_.end()) {
        found->second.is_used = true;
      } else if (!reference.name.empty()) {  // else it is no reference, and that has been said
        problems_.add(reference.place, reference.field,
                      "nothing is captured as '" + reference.name +
                          "' before; expected capture: {" + reference.name + ": " +
                          reference.field + "} in an expectation above");
      }
    }
  }
  void capture(const EventPattern& pattern) {
    for (const NamedField& one : pattern.captures) {
      if (!names_.emplace(one.name, Name{one.place}).second) {
        problems_.add(one.place, "capture." + one.name, "is captured twice; expected another name");
      }
    }
  }
  void forget(const EventPattern& pattern) {
    for (const NamedField& one : pattern.captures) {
      tell_unused(one.name);
      names_.erase(one.name);
    }
  }
  void tell_unused() const {
    for (const auto& one : names_) {
      tell_unused(one.first);
    }
  }

 private:
  struct Name {
    config::Place place;
    bool is_used = false;
  };

  void tell_unused(const std::string& name) const {
    const auto found = names_.find(name);
    if (found != names_.end() && !found->second.is_used) {
      problems_.add(found->second.place, "capture." + name,
                    "is used nowhere; expected {same: " + name + "} in an expectation below");
    }
  }

  config::ProblemList& problems_;
  std::map<std::string, Name> names_;
};

}  // namespace

void refuse_references(const EventPattern& pattern, const Spot& spot) {
  for (const NamedField& reference : pattern.references) {
    if (!reference.name.empty()) {
      spot.at(reference.field)
          .add(reference.place, "nothing is captured here; expected a value or a list of values");
    }
  }
}

void check_captures(const Case& one, config::ProblemList& problems) {
  Scope scope(problems);
  for (const Expectation& expectation : one.expect) {
    for (const EventPattern& pattern : expectation.any_order) {
      scope.use(pattern);
    }
    for (const EventPattern& pattern : expectation.any_order) {
      scope.capture(pattern);
    }
  }
  for (const EventPattern& pattern : one.never) {
    const bool is_span = pattern.between.size() == 2;
    if (is_span) {
      scope.use(pattern.between[0]);
      scope.capture(pattern.between[0]);
      scope.use(pattern.between[1]);
    }
    scope.use(pattern);
    if (is_span) {
      scope.forget(pattern.between[0]);
    }
  }
  scope.tell_unused();
}

}  // namespace flitwise::scenario
