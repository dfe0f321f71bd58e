// SPDX-License-Identifier: Apache-2.0
// Who holds a line.
#include "cxl/cache_watch.h"

#include <fmt/format.h>

#include "flitwise/link_socket.h"

namespace flitwise {

LineStateListener& CacheWatch::add_cache(std::string name) {
  const auto number = static_cast<std::uint8_t>(caches_.size());
  caches_.push_back(std::make_unique<Cache>(*this, number, std::move(name)));
  return *caches_.back();
}

void CacheWatch::told(std::uint8_t number, std::uint64_t line, LineState state) {
  const std::size_t kept = monitor_.first().size();
  monitor_.told(number, line, state);
  if (monitor_.first().size() == kept) {
    return;
  }
  const SingleWriterViolation& seen = monitor_.first().back();
  Violation violation;
  violation.rule = seen.rule;
  violation.sentence = "a line has one owner, or any number of sharers";
  violation.link = caches_[seen.agent]->name();
  violation.is_up = true;
  violation.time = now();
  violation.packet = fmt::format("line {:x} becomes {}", seen.line, text_of(seen.state));
  violation.other = fmt::format("{} in {}", text_of(seen.other_state), caches_[seen.other]->name());
  violations_.push_back(std::move(violation));
}

std::vector<CheckResult> CacheWatch::checks() const {
  if (caches_.empty()) {
    return {};
  }
  return {{name() + std::string(": protocol monitors"), monitor_.count() == 0,
           monitor_.count() == 0
               ? ""
               : fmt::format("{} violations, the first of {}: {}", monitor_.count(),
                             violations_[0].rule, violations_[0].sentence)}};
}

}  // namespace flitwise
