// SPDX-License-Identifier: Apache-2.0
// Requests: what they count as, where they wait, and what becomes of them.
#include "iommu/walker_pool.h"

#include <fmt/format.h>

#include "common/ranges.h"

namespace flitwise {
namespace {

CacheShape shape_of(const CacheConfig& config) {
  return {config.entries, config.ways, config.policy};
}

TranslationCacheShapes shapes_of(const IommuConfig& config) {
  return {shape_of(config.context_cache), shape_of(config.pasid_cache), shape_of(config.iotlb),
          shape_of(config.paging_cache), shape_of(config.second_stage_cache)};
}

}  // namespace

WalkerPool::WalkerPool(const IommuConfig& config, const IommuCapabilities& offers,
                       std::uint64_t seed, const IommuRegisters& registers, AgentMemory& memory,
                       AgentEvents& events, IommuResult& counts)
    : config_(config),
      offers_(offers),
      registers_(registers),
      memory_(memory),
      events_(events),
      counts_(counts),
      caches_(shapes_of(config), seed),
      permissions_(shape_of(config.permission_cache), seed + 5),
      walkers_(config.walkers),
      dues_(config.walkers),
      walked_(config.walkers) {
  for (std::uint32_t i = config.walkers; i-- > 0;) {
    idle_.push_back(i);
  }
}

// Hits pass requests that wait for walks; who cares about their order keeps it. [IOM-6.1]
void WalkerPool::translate(TranslationClient& client, std::uint64_t ticket,
                           const WalkRequest& request, std::uint32_t token, Time delay, Time now) {
  counts_.requests += request.is_continued ? 0 : 1;
  counts_.translated_requests += request.is_translated() ? 1 : 0;
  ++asked_;
  Job job{&client, ticket, request, token, now + delay, {}, kNobody, 0, asked_};
  Walk walk = walk_of(job);
  Time latency{};
  if (look_up(walk, latency)) {
    counts_.iotlb_hits += request.is_looked_up() && walk.has_page() ? 1 : 0;
    deliver(job, walk.result(), job.arrival + latency, now);
    return;
  }
  Walker* const walker = walker_at(request);
  count_miss(job, walker != nullptr);
  if (walker != nullptr) {
    push(walker->followers, job, now);
  } else if (idle_.empty()) {
    wait_for_walker(job, now);
  } else {
    start(take_idle(), job, walk, latency, now);
  }
}

// One behind another that has asked for the page, and has not got it, misses under that miss.
void WalkerPool::count_miss(Job& job, bool is_at_walker) {
  if (!job.request.is_looked_up()) {
    return;
  }
  const bool is_under_miss =
      is_at_walker || waiting_pages_.contains(WaitingPages::Key::of(job.request));
  ++(is_under_miss ? counts_.iotlb_misses_under_miss : counts_.iotlb_misses);
  job.missed = is_under_miss ? 0 : window_number_;
}

void WalkerPool::wait_for_walker(const Job& job, Time now) {
  push(waiting_, job, now);
  waiting_pages_.insert(WaitingPages::Key::of(job.request));
}

void WalkerPool::push(JobQueue& queue, const Job& job, Time now) {
  const std::uint32_t place = jobs_.open(job);
  jobs_[place].since = std::max(now, job.arrival);
  jobs_.push(queue, place);
}

WalkerPool::Job WalkerPool::pop(JobQueue& queue, WaitBook& waits, Time now) {
  const std::uint32_t place = jobs_.pop(queue);
  const Job job = jobs_[place];
  waits.add(job.since, now);
  jobs_.close(place);
  return job;
}

// Who has a translation will use it: with Secure ATS its permission is fetched ahead.
void WalkerPool::deliver(const Job& job, const WalkResult& result, Time when, Time now) {
  if (job.client == nullptr) {
    return;
  }
  ++answered_;
  const bool is_fault = result.fault != FaultReason::kNone;
  counts_.faults += is_fault && result.outcome == WalkOutcome::kFault ? 1 : 0;
  if (is_fault && result.is_recorded) {  // [IOM-9.1]
    events_.report(fault_record_of(job.request, result.fault, config_.legacy_codes), job.token);
  }
  if (!offers_.secure_ats) {
    job.client->translated(job.ticket, result, when);
    return;
  }
  const bool is_hint = job.request.kind == WalkKind::kTranslationRequest &&
                       result.outcome == WalkOutcome::kTranslated && (result.read || result.write);
  Job hint = job;
  hint.client = nullptr;
  hint.request.kind = WalkKind::kTranslated;
  hint.request.address = result.address;
  hint.request.wish = {};
  // Of requests that came as far as their permission. [SEC-02]
  const bool is_denied = is_permission_fault(result.fault);
  const bool is_checked = !is_fault || is_denied;
  counts_.permission_checks += job.request.is_translated() && is_checked ? 1 : 0;
  counts_.permission_denied += is_denied ? 1 : 0;
  job.client->translated(job.ticket, result, when);
  if (is_hint) {
    prefetch_permission(hint, when, now);
  }
}

// Only an idle walker is taken. [SEC-04]
void WalkerPool::prefetch_permission(const Job& hint, Time when, Time now) {
  Walk walk = walk_of(hint);
  Time latency = when - now;
  if (!idle_.empty() && waiting_.empty() && permissions_.exists() && !look_up(walk, latency) &&
      walker_at(hint.request) == nullptr) {
    start(take_idle(), hint, walk, latency, now);
  }
}

// True: there is now what was not there when the request came. The walker shares what it has found
// even where no cache keeps it; what that grants is checked for each request. [IOM-6.10] One that
// waited for a walker, and needs none, was under the miss of another: a PASID entry that passes it
// through, or a large page.
bool WalkerPool::look_up_again(const Walker& walker, const Job& job, Walk& walk, Time& latency,
                               Time now) {
  const bool is_shared =
      walker.is_shared && walked_[number_of(walker)] == WaitingPages::Key::of(job.request);
  if (!look_up(walk, latency, is_shared ? &walker.walk : nullptr)) {
    return false;
  }
  if (job.missed == window_number_) {
    --counts_.iotlb_misses;
    ++counts_.iotlb_misses_under_miss;
  }
  deliver(job, walk.result(), std::max(now, job.arrival) + latency, now);
  return true;
}

// A walk is over. Who waited for it is looked at anew, then who waits for a walker: the first that
// still misses gets it. Pages take turns.
void WalkerPool::hand_on(Walker& walker, Time now) {
  while (!walker.followers.empty()) {
    const Job job = pop(walker.followers, walk_waits_, now);
    Walk walk = walk_of(job);
    Time latency{};
    if (look_up_again(walker, job, walk, latency, now)) {
      continue;
    }
    if (waiting_.empty()) {
      start(walker, job, walk, latency, now);
      return;
    }
    wait_for_walker(job, now);
  }
  while (!waiting_.empty()) {
    const Job job = pop(waiting_, walker_waits_, now);
    waiting_pages_.erase(WaitingPages::Key::of(job.request));
    if (Walker* const other = walker_at(job.request)) {
      push(other->followers, job, now);
      continue;
    }
    Walk walk = walk_of(job);
    Time latency{};
    if (!look_up_again(walker, job, walk, latency, now)) {
      start(walker, job, walk, latency, now);
      return;
    }
  }
  idle_.push_back(number_of(walker));
}

namespace {

// What a page of host memory may be used for follows from contexts, PASID entries and permissions.
PhysicalPages pages_of(const InvalidationDescriptor& command) {
  if (std::holds_alternative<IotlbInvalidation>(command) ||
      std::holds_alternative<PasidIotlbInvalidation>(command)) {
    return {};
  }
  const auto* const permissions = std::get_if<PermissionInvalidation>(&command);
  if (permissions == nullptr ||
      permissions->granularity != PermissionInvalidation::Granularity::kRange) {
    return PhysicalPages::all();
  }
  const std::uint64_t bytes = std::uint64_t{1} << (kPageBits + permissions->address_mask);
  return {permissions->address & ~(bytes - 1), bytes};
}

}  // namespace

void WalkerPool::invalidate(const InvalidationDescriptor& command) {
  ++counts_.invalidations;
  if (const auto* contexts = std::get_if<ContextCacheInvalidation>(&command)) {
    caches_.invalidate(*contexts);
  } else if (const auto* entries = std::get_if<PasidCacheInvalidation>(&command)) {
    caches_.invalidate(*entries);
  } else if (const auto* pages = std::get_if<IotlbInvalidation>(&command)) {
    caches_.invalidate(*pages);
  } else if (const auto* of_pasid = std::get_if<PasidIotlbInvalidation>(&command)) {
    caches_.invalidate(*of_pasid);
  } else if (const auto* permissions = std::get_if<PermissionInvalidation>(&command)) {
    permissions_.invalidate(*permissions);  // [SEC-05]
  }
  overtake_walks(pages_of(command));
}

void WalkerPool::invalidate_all() {
  caches_.invalidate_all();
  permissions_.invalidate_all();
  overtake_walks(PhysicalPages::all());
}

// What walks under way have read may be what software has just taken back.
void WalkerPool::overtake_walks(const PhysicalPages& pages) {
  for (Walker& walker : walkers_) {
    walker.is_overtaken = walker.is_busy;
    walker.is_shared = false;
  }
  for (TranslationClient* const client : clients_) {
    client->invalidated(pages);
  }
}

// Of a PASID whose entry is not known here, no domain is known either: then the page goes for all.
void WalkerPool::forget_page(Bdf function, Pasid pasid, std::uint64_t page) {
  if (const PasidEntry* const entry = caches_.find_pasid(function, pasid)) {
    caches_.invalidate_page(entry->domain(), pasid, page);
  } else {
    caches_.invalidate_page(page);
  }
}

bool WalkerPool::is_drained() const {
  return none_of(walkers_,
                 [](const Walker& walker) { return walker.is_busy && walker.is_overtaken; }) &&
         all_of(clients_, [](const TranslationClient* client) { return client->is_drained(); });
}

std::string WalkerPool::waiting(const char* at) const {
  return is_quiet() ? std::string()
                    : fmt::format("{}: {} walks under way, {} requests wait for one\n", at,
                                  walkers_.size() - idle_.size(), jobs_.open_count());
}

void WalkerPool::start_window(Time now) {
  ++window_number_;
  walker_waits_.start_window(now);
  walker_use_.start_window(now);
  walk_waits_.start_window(now);
}

std::vector<WaitResult> WalkerPool::waits(const char* at, Time now) const {
  WaitResult walkers = walker_waits_.result(
      {at, "walkers", ResourceRole::kServer, "up", "", "iommu.walkers", walkers_.size()});
  walkers.peak = walker_use_.peak();
  walkers.busy = walker_use_.mean(now) / static_cast<double>(walkers_.size());
  return {std::move(walkers),
          walk_waits_.result({at, "pending_walks", ResourceRole::kQueue, "up"})};
}

}  // namespace flitwise
