// SPDX-License-Identifier: Apache-2.0
#include "trace_summary/wire_book.h"

#include <algorithm>

namespace flitwise {

void BusyTime::add(std::int64_t first, std::int64_t last) {
  if (!spans_.empty() && first >= spans_.back().first && first <= spans_.back().last) {
    spans_.back().last = std::max(spans_.back().last, last);
    return;
  }
  is_ordered_ = is_ordered_ && (spans_.empty() || first > spans_.back().last);
  spans_.push_back({first, last});
}

void BusyTime::close() {
  if (!is_ordered_) {
    std::vector<Span> all = std::move(spans_);
    spans_.clear();
    std::sort(all.begin(), all.end(),
              [](const Span& a, const Span& b) { return a.first < b.first; });
    for (const Span& span : all) {
      add(span.first, span.last);
    }
    is_ordered_ = true;
  }
  std::int64_t sum = 0;
  for (Span& span : spans_) {
    span.before = sum;
    sum += span.last - span.first;
  }
}

std::int64_t BusyTime::before(std::int64_t time) const {
  const auto next =
      std::upper_bound(spans_.begin(), spans_.end(), time,
                       [](std::int64_t at, const Span& span) { return at < span.first; });
  if (next == spans_.begin()) {
    return 0;
  }
  const Span& span = *(next - 1);
  return span.before + std::min(time, span.last) - span.first;
}

std::size_t WireBook::number_of(const std::string& link, const std::string& direction) {
  const auto [place, is_new] = numbers_.try_emplace({link, direction}, wires_.size());
  if (is_new) {
    wires_.push_back({link, direction, {}});
  }
  return place->second;
}

std::size_t WireBook::opposite(std::size_t wire) const {
  const Wire& own = wires_[wire];
  const auto other = numbers_.find({own.link, own.direction == "up" ? "down" : "up"});
  return other == numbers_.end() ? kNone : other->second;
}

}  // namespace flitwise
