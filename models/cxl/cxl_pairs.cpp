// SPDX-License-Identifier: Apache-2.0
// Who holds which line, by two accounts.
#include "cxl/cxl_pairs.h"

#include <fmt/format.h>

namespace flitwise {

void HdmPair::report(RunResult& result) const {
  CxlHdmDbResult counts = host_.counted();
  const CxlHdmDbResult& of_device = device_.counted();
  counts.device = name();
  counts.device_reads = of_device.device_reads;
  counts.device_writes = of_device.device_writes;
  counts.device_hits = of_device.device_hits;
  counts.back_invalidations = of_device.back_invalidations;
  result.rows<CxlHdmDbResult>().push_back(counts);
}

std::vector<CheckResult> HdmPair::checks_at_rest() const {
  const DeviceMemory& memory = device_.rules();
  std::size_t held = 0, apart = 0;
  host_.rules().lines().for_each_line([&](std::uint64_t line, LineState state) {
    const cxl::MetaValue believed = memory.host_state(line);
    ++held;
    apart += believed == (is_owned(state) ? cxl::MetaValue::kAny : cxl::MetaValue::kShared) ? 0 : 1;
  });
  return {{device_.name() + std::string(": knows what the host holds"),
           apart == 0 && held == memory.host_copies(),
           fmt::format("{} lines in the host's cache, {} of them known otherwise; {} known", held,
                       apart, memory.host_copies())}};
}

std::vector<CheckResult> CacheDirectory::checks_at_rest() const {
  std::size_t held = 0, apart = 0;
  for (const auto& [cache, port] : caches_) {
    cache->rules().lines().for_each_line([&, number = port](std::uint64_t line, LineState state) {
      const LineHolders holders = home_.holders(line);
      const bool is_known =
          is_owned(state) ? holders.is_owner(number) : (holders.sharers() >> number & 1U) != 0;
      ++held;
      apart += is_known ? 0 : 1;
    });
  }
  return {{std::string(name()) + ": its directory says what the caches hold",
           apart == 0 && held == home_.copies(),
           fmt::format("{} lines in caches, {} of them unknown; {} in the directory", held, apart,
                       home_.copies())}};
}

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
