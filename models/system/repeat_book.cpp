// SPDX-License-Identifier: Apache-2.0
// Who repeats what.
#include "system/repeat_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

constexpr std::size_t kMostLines = 8;

}  // namespace

Component::Counts grown(const Component::Counts& counts, const Component::Counts& before) {
  Component::Counts all;
  for (const auto& [kind, count] : counts) {
    const auto then = before.find(kind);
    if (const std::uint64_t since = then == before.end() ? 0 : then->second; count > since) {
      all.emplace(kind, count - since);
    }
  }
  return all;
}

Component::Counts RepeatBook::counts() const {
  Component::Counts all;
  for (const Component* one : components_.all()) {
    one->count_repeats(all);
  }
  return all;
}

void RepeatBook::begin() {
  if (before_.empty()) {
    before_ = counts();
  }
}

std::string RepeatBook::text() const {
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

std::string RepeatBook::failed_link() {
  for (std::size_t i = 0; i < components_.all().size(); ++i) {
    Progress at_present;
    components_.all()[i]->add_progress(at_present);
    if (i == since_.size()) {
      since_.push_back(at_present);
    }
    Progress& since = since_[i];
    if (at_present.wasted - since.wasted <= kMostWasted) {
      continue;
    }
    if (at_present.delivered - since.delivered < kFewestDelivered) {
      return components_.all()[i]->name();
    }
    since = at_present;
  }
  return "";
}

}  // namespace flitwise
