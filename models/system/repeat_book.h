// SPDX-License-Identifier: Apache-2.0
/// What a machine does again and again while nothing is completed: for the report of a run that
/// does not get on, and to end one whose link sends for ever what never arrives.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/component_list.h"
#include "link/replay_timer.h"
#include "system/measurement.h"

namespace flitwise {

class RepeatBook {
 public:
  explicit RepeatBook(const ComponentList& components) : components_(components) {
    for (const Component* one : components_.all()) {
      one->add_progress(since_.emplace_back());
      wasted_ += since_.back().wasted;
    }
    wasted_at_look_ = wasted_;
  }

  /// model: a link has failed on which so many TLPs, flits and DLLPs were sent in vain, in so many
  /// tries or more, and more than kMostTries for each TLP or message that it delivered,
  /// however much simulated time that took. A replay is one try, however many TLPs it sends again:
  /// the first that is damaged takes all behind it along.
  static constexpr std::uint64_t kMostWasted = 100'000, kFewestTries = 500;

  /// Repetitions are counted from here on, unless they are since the last completion.
  void begin() {
    if (!has_begun_) {
      has_begun_ = true;
      before_ = counts();
    }
  }
  /// Something was completed: repetitions are counted anew once something repeats, or begin() is
  /// called. What a link has wasted is not: a request may be over because it has given up.
  void forget(const Progress& sum) {
    has_begun_ = false;
    wasted_ = sum.wasted;
  }
  /// So much is sent in vain without a completion that it may have to be told of.
  void look(const Progress& sum) {
    if (sum.wasted - wasted_ > kFewWasted) {
      begin();
    }
  }
  /// A line for each repetition that was counted, the most frequent ones first.
  std::string text() const {
    constexpr std::size_t kMostLines = 8;
    std::vector<std::pair<std::uint64_t, std::string>> repeated;
    for (const auto& [what, again] : grown(counts(), before_)) {
      repeated.emplace_back(again, what);
    }
    std::stable_sort(repeated.begin(), repeated.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    repeated.resize(std::min(repeated.size(), kMostLines));
    std::string text;
    for (const auto& [count, what] : repeated) {
      text += fmt::format("{}: {} times\n", what, count);
    }
    return text.empty() ? "nothing\n" : text;
  }
  /// Which link has sent too much in vain, and what; empty where none has. The links are looked at
  /// once all together have sent some more in vain, and not before. sum: of all of them.
  std::string failed_link(const Progress& sum) {
    if (sum.wasted - wasted_at_look_ <= kMostWasted / kLooks) {
      return "";
    }
    wasted_at_look_ = sum.wasted;
    for (std::size_t i = 0; i < components_.all().size(); ++i) {
      Progress at_present;
      components_.all()[i]->add_progress(at_present);
      Progress& since = since_[i];
      const std::uint64_t wasted = at_present.wasted - since.wasted;
      const std::uint64_t tries = wasted <= kMostWasted ? 0 : tries_between(since, at_present);
      if (tries <= kFewestTries) {
        continue;
      }
      const std::uint64_t delivered = at_present.delivered - since.delivered;
      if (delivered * kMostTries < tries) {
        return fmt::format(
            "{}: {} TLPs arrived while the last {} TLPs, flits and DLLPs were damaged or sent "
            "again, in some {} tries",
            components_.all()[i]->name(), delivered, wasted, tries);
      }
      since = at_present;
    }
    return "";
  }

 private:
  static constexpr std::uint64_t kFewWasted = kMostWasted / 1'000, kLooks = 100;

  // What was wasted, in units of a mean replay.
  static std::uint64_t tries_between(const Progress& since, const Progress& until) {
    const std::uint64_t replays = std::max<std::uint64_t>(until.replays - since.replays, 1);
    const std::uint64_t mean = std::max<std::uint64_t>((until.again - since.again) / replays, 1);
    return (until.wasted - since.wasted) / mean;
  }
  Component::Counts counts() const {
    Component::Counts all;
    for (const Component* one : components_.all()) {
      one->count_repeats(all);
    }
    return all;
  }

  const ComponentList& components_;
  Component::Counts before_;          // repetitions up to where they are counted from
  std::uint64_t wasted_ = 0;          // in all, at the last completion
  std::uint64_t wasted_at_look_ = 0;  // in all, when the links were looked at last
  bool has_begun_ = false;            // since the last completion
  std::vector<Progress> since_;       // by component: from where on each is looked at
};

}  // namespace flitwise
