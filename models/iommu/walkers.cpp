// SPDX-License-Identifier: Apache-2.0
// Caches and walkers.
#include <algorithm>
#include <cstring>

#include "iommu/walker_pool.h"

namespace flitwise {

// True: the caches, or a walk of the same page that is over, end this one. Else it stands where
// memory has to be read. [IOM-6.1]
bool WalkerPool::look_up(Walk& walk, Time& latency, const Walk* finished) {
  const Bdf source = walk.request().source;
  if (walk.is_done()) {
    return true;
  }
  const ContextEntry* context = caches_.find_context(source);
  if (context == nullptr && finished != nullptr && finished->has_context()) {
    context = &finished->context();
  }
  if (context == nullptr) {
    return false;
  }
  latency += config_.timing.context_cache;
  walk.use_context(*context);
  const Pasid pasid = walk.result().pasid;
  if (walk.is_done()) {
    return true;
  }
  const PasidEntry* entry = caches_.find_pasid(source, pasid);
  if (entry == nullptr && finished != nullptr && finished->has_pasid_entry()) {
    entry = &finished->pasid_entry();
  }
  if (entry == nullptr) {
    return false;
  }
  latency += config_.timing.pasid_cache;
  walk.use_pasid_entry(*entry);
  if (walk.is_done()) {
    return true;
  }
  if (walk.is_at_permissions()) {
    latency += config_.timing.permission_cache;
    return (finished != nullptr && use_permission_of(*finished, walk)) ||
           permissions_.advance(walk);
  }
  latency += config_.timing.iotlb;
  if (use_iotlb(walk)) {
    return true;
  }
  if (finished == nullptr || !finished->has_page() || finished->request().is_translated()) {
    return false;
  }
  const std::optional<PageTranslation> page = page_of(*finished, offers_.caching_mode);
  return page && walk.use_page(*page);
}

// True: it has the page, and that grants what is wished. [IOM-6.3]
bool WalkerPool::use_iotlb(Walk& walk) {
  const DomainTag tag = DomainTag::of(walk.pasid_entry(), walk.result().pasid);
  const PageTranslation* const page = caches_.find_page(tag, walk.request().address);
  return page != nullptr && walk.use_page(*page);
}

// The walk starts at what is cached of the way. Returns what the look-up takes. [IOM-6.1]
Time WalkerPool::use_paging_cache(Walk& walk) {
  const DomainTag tag = DomainTag::of(walk.pasid_entry(), walk.result().pasid);
  if (const TableStart* const table = caches_.find_table(tag, walk.request().address)) {
    walk.use_table(*table);
  }
  return config_.timing.paging_cache;
}

// What is known of guest pages saves second-stage walks; returns how many.
unsigned WalkerPool::use_second_stage_cache(Walk& walk) {
  unsigned hits = 0;
  std::optional<std::uint64_t> input = walk.second_stage_input();
  while (input) {
    const SecondStageLeaf* const leaf =
        caches_.find_second_stage(walk.pasid_entry().domain(), *input);
    if (leaf == nullptr) {
      return hits;
    }
    walk.use_second_stage(*leaf);
    const std::optional<std::uint64_t> next = walk.second_stage_input();
    if (next == input) {
      return hits;
    }
    ++hits;
    input = next;
  }
  return hits;
}

WalkerPool::Walker* WalkerPool::walker_at(const WalkRequest& request) {
  const AtPage* const found = walked_pages_.find(WaitingPages::Key::of(request));
  return found == nullptr ? nullptr : &walkers_[found->first];
}

// It is busy no more.
void WalkerPool::leave_page(const Walker& walker) {
  const WaitingPages::Key page = walked_[number_of(walker)];
  AtPage& here = *walked_pages_.find(page);
  if (--here.walkers == 0) {
    walked_pages_.erase(page);
    return;
  }
  // A second one is rare: a request that a delivery brought on.
  while (!(walkers_[here.first].is_busy && walked_[here.first] == page)) {
    ++here.first;
  }
}

WalkerPool::Walker& WalkerPool::take_idle() {
  Walker& idle = walkers_[idle_.back()];
  idle_.pop_back();
  return idle;
}

void WalkerPool::start(Walker& walker, const Job& job, const Walk& walk, Time latency, Time now) {
  ++counts_.walks;
  walker.walk = walk;
  walker.job = job;
  walker.is_busy = true;
  walker.is_overtaken = walker.is_shared = false;
  walker.has_failed = walker.bytes_wanted = false;
  walker.has_looked_up = walker.walk.is_at_page_tables();
  if (walker.has_looked_up) {
    latency += use_paging_cache(walker.walk);
  }
  const std::uint16_t number = number_of(walker);
  walked_[number] = WaitingPages::Key::of(job.request);
  AtPage& here = walked_pages_[walked_[number]];
  ++here.walkers;
  here.first = std::min(here.first, number);
  const Time begin = std::max(now, job.arrival);
  walker_use_.take(begin, now);
  dues_.set(number, begin + latency);
  events_.wake_at(begin + latency);
}

void WalkerPool::work(Time now) {
  dues_.take(now, [&](std::size_t number) { step(walkers_[number], now); });
}

// The walker's time has come: it takes in what memory gave, and asks for more or is done.
void WalkerPool::step(Walker& walker, Time now) {
  const std::uint16_t number = number_of(walker);
  if (walker.bytes_wanted) {
    walker.bytes_wanted = false;
    walk_progress_.step(walker.job.number, walked_[number], false);
    if (walker.has_failed) {
      walker.walk.failed();
    } else {
      walker.walk.supply(walker.bytes.data());
    }
  }
  Time latency{};
  if (!walker.has_looked_up && walker.walk.is_at_page_tables()) {
    // Context and PASID entries have been read; the translation itself may be known all the same.
    walker.has_looked_up = true;
    latency =
        config_.timing.iotlb + (use_iotlb(walker.walk) ? Time{} : use_paging_cache(walker.walk));
  }
  latency += config_.timing.second_stage_cache * use_second_stage_cache(walker.walk);
  if (latency != Time{}) {
    dues_.set(number, now + latency);
    events_.wake_at(now + latency);
    return;
  }
  permissions_.advance(walker.walk);
  const std::optional<MemoryAccess> access = walker.walk.next();
  if (!access) {
    finish(walker, now);
    return;
  }
  counts_.walk_reads += access->kind == MemoryAccess::Kind::kRead ? 1 : 0;
  counts_.permission_reads += access->table == TableKind::kPermission ? 1 : 0;
  walker.bytes_wanted = true;
  memory_.read(number, access->address, access->bytes);
}

void WalkerPool::memory_done(std::uint16_t number, const std::uint8_t* bytes, Time when) {
  Walker& walker = walkers_[number];
  const std::optional<MemoryAccess> access = walker.walk.next();
  walker.has_failed = bytes == nullptr;
  if (bytes != nullptr) {
    std::memcpy(walker.bytes.data(), bytes, access->bytes);
  }
  // Memory compares and sets the bits where the read takes effect: nobody comes in between.
  if (access->kind == MemoryAccess::Kind::kSetBits && !walker.has_failed &&
      load_u64(walker.bytes.data()) == access->expected) {
    walker.has_failed = !memory_.set(access->address, access->expected | access->bits);
  }
  dues_.set(number, when);
  events_.wake_at(when);
}

void WalkerPool::finish(Walker& walker, Time now) {
  walk_progress_.step(walker.job.number, walked_[number_of(walker)], true);
  walker_use_.give(now);
  walker.is_busy = false;
  leave_page(walker);
  walker.is_shared = !walker.is_overtaken;
  if (!walker.is_overtaken) {
    caches_.keep(walker.walk, offers_);
    permissions_.keep(walker.walk);
  }
  deliver(walker.job, walker.walk.result(), now, now);
  hand_on(walker, now);
  events_.settle();
}

}  // namespace flitwise
