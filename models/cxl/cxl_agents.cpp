// SPDX-License-Identifier: Apache-2.0
// Which agent is meant, and who holds which line by two accounts.
#include "cxl/cxl_agents.h"

#include <fmt/format.h>

#include "cxl/channels.h"

namespace flitwise {

bool CxlAgents::send(PacketRef message) const {
  const CxlChannelInfo& info = info_of(message->cxl->channel);
  const bool is_down = info.direction == CxlDirection::kDownstream;
  if (info.protocol == CxlProtocol::kCache && cache != nullptr) {
    is_down ? home->port(home_port).to_link.send(std::move(message), now())
            : cache->send(std::move(message));
  } else if (info.protocol == CxlProtocol::kMem && hdm_host != nullptr) {
    (is_down ? hdm_host->to_link : hdm_device->to_link).send(std::move(message), now());
  } else if (info.protocol == CxlProtocol::kMem && mem_host != nullptr) {
    is_down ? mem_host->send(std::move(message)) : mem_device->send(std::move(message));
  } else {
    return false;
  }
  return true;
}

void CxlAgents::link_lost() const {
  if (mem_host != nullptr) {
    mem_host->link_lost();
    mem_device->link_lost();
  }
  if (hdm_host != nullptr) {
    hdm_host->link_lost();
    hdm_device->link_lost();
  }
  if (cache != nullptr) {
    cache->link_lost(home->lines_received(home_port));
    home->link_lost(home_port);
  }
}

void CxlAgents::link_up() const {
  if (mem_host != nullptr) {
    mem_host->link_up();
  }
  if (hdm_host != nullptr) {
    hdm_host->link_up();
  }
  if (cache != nullptr) {
    home->link_up(home_port);
    cache->link_up();
  }
}

void CxlAgents::attach(WorkloadVia via, Engine& engine, Engine* of_host) const {
  const bool has_both = via == WorkloadVia::kCxlBoth;  // [CXL-8.2]
  if (via == WorkloadVia::kCxlCache) {
    cache->attach(engine);
  }
  if (via == WorkloadVia::kCxlMem || has_both) {
    Engine& work = has_both ? *of_host : engine;
    hdm_host != nullptr ? hdm_host->attach(work) : mem_host->attach(work);
    wake_host();
  }
  if (via == WorkloadVia::kCxlOwn || has_both) {
    hdm_device->attach(engine);
  }
  wake(via);
}

void CxlAgents::wake(WorkloadVia via) const {
  if (via == WorkloadVia::kCxlCache) {
    cache->wake();
  } else if (via == WorkloadVia::kCxlMem) {
    wake_host();
  } else if (via == WorkloadVia::kCxlOwn || via == WorkloadVia::kCxlBoth) {
    hdm_device->wake();
  }
}

void CxlAgents::wake_host() const {
  hdm_host != nullptr ? hdm_host->wake() : mem_host->wake();
}

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
  if (are_recalls_told_ && !recalls_.told(number, line, state)) {
    report_left(number, line, "granted before the recall, and there behind its end");
  }
  const std::size_t kept = monitor_.first().size();
  monitor_.told(number, line, state);
  if (monitor_.first().size() == kept) {
    return;
  }
  const SingleWriterViolation& seen = monitor_.first().back();
  violations_.push_back(
      {seen.rule, "a line has one owner, or any number of sharers", caches_[seen.agent]->name, true,
       now(), fmt::format("line {:x} becomes {}", seen.line, text_of(seen.state)),
       fmt::format("{} in {}", text_of(seen.other_state), caches_[seen.other]->name)});
}

void CacheWatch::granted(std::uint8_t port, std::uint64_t line, std::uint64_t arrival) {
  are_recalls_told_ = true;
  if (!recalls_.granted(port, line, arrival)) {
    report_left(port, line, "granted behind the end of the recall");
  }
}

void CacheWatch::recalled(const PhysicalPages& pages, std::uint64_t before) {
  if (const std::optional<RecallMonitor::Left> left =
          recalls_.recalled(pages.from, pages.bytes, before)) {
    report_left(left->agent, left->line, "held at the end of the recall");
  }
}

void CacheWatch::report_left(std::uint8_t number, std::uint64_t line, const char* other) {
  ++left_;
  if (violations_.size() < SingleWriterMonitor::kKept) {
    violations_.push_back({"COH-3.14", "a recall leaves nobody a line that was asked for before it",
                           caches_[number]->name, true, now(), fmt::format("line {:x}", line),
                           other});
  }
}

std::vector<CheckResult> CacheWatch::checks() const {
  if (caches_.empty()) {
    return {};
  }
  const std::uint64_t count = monitor_.count() + left_;
  return {{name() + std::string(": protocol monitors"), count == 0,
           count == 0 ? ""
                      : fmt::format("{} violations, the first of {}: {}", count,
                                    violations_[0].rule, violations_[0].sentence)}};
}

}  // namespace flitwise
