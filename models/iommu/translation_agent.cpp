// SPDX-License-Identifier: Apache-2.0
// Translations: caches first, then a walker.
#include "iommu/translation_agent.h"

#include <algorithm>
#include <cstring>

#include "common/page.h"

namespace flitwise {
namespace {

constexpr std::size_t kFirstJobs = 64;  // room that grows when it is full

CacheShape shape_of(const CacheConfig& config) {
  return {config.entries, config.ways, config.policy};
}

TranslationCacheShapes shapes_of(const IommuConfig& config) {
  return {shape_of(config.context_cache), shape_of(config.pasid_cache), shape_of(config.iotlb),
          shape_of(config.paging_cache), shape_of(config.second_stage_cache)};
}

bool is_translated(const WalkRequest& request) {
  return request.kind == WalkKind::kTranslated;
}

/// Pass-through ends at the PASID entry: there is no page to be found in the IOTLB.
bool has_page(const Walk& walk) {
  return walk.has_pasid_entry() &&
         walk.pasid_entry().translation() != TranslationType::kPassThrough;
}

/// By the IOTLB: it has an address to be translated.
bool is_looked_up(const WalkRequest& request) {
  return request.kind == WalkKind::kUntranslated || request.kind == WalkKind::kTranslationRequest;
}

bool same_page(const WalkRequest& a, const WalkRequest& b) {
  return a.source == b.source && a.pasid == b.pasid && is_translated(a) == is_translated(b) &&
         a.address >> kPageBits == b.address >> kPageBits;
}

/// The same for two requests of same_page(), and for no others.
WaitingPages::Key key_of(const WalkRequest& request) {
  const std::uint64_t pasid = request.pasid ? std::uint64_t{1} << 32 | to_int(*request.pasid) : 0;
  const std::uint64_t is_known = is_translated(request) ? 1 : 0;
  return {request.address >> kPageBits,
          pasid << 17 | std::uint64_t{request.source.value} << 1 | is_known};
}

}  // namespace

IommuCapabilities capabilities_of(const IommuConfig& config) {
  IommuCapabilities offers;
  offers.host_address_bits = static_cast<std::uint8_t>(config.capabilities.host_address_bits);
  offers.pasid_bits = static_cast<std::uint8_t>(config.capabilities.pasid_bits);
  offers.first_stage_5_level = config.capabilities.first_stage_5_level;
  offers.second_stage_5_level = config.capabilities.second_stage_5_level;
  offers.guest_address_bits = config.capabilities.second_stage_5_level ? 57 : 48;
  offers.nested = config.capabilities.nested;
  offers.rid_pasid = config.capabilities.rid_pasid;
  offers.caching_mode = config.capabilities.caching_mode;
  offers.secure_ats = config.secure_ats;
  offers.fault_records = static_cast<std::uint16_t>(config.capabilities.fault_records);
  return offers;
}

TranslationAgent::TranslationAgent(const sc_core::sc_module_name& name, const Config& config,
                                   PacketPool& pool, MemoryPort& memory)
    : sc_module(name),
      config_(config.iommu),
      offers_(capabilities_of(config.iommu)),
      pool_(pool),
      memory_(memory),
      registers_(offers_),
      caches_(shapes_of(config.iommu), config.run.seed),
      permissions_(shape_of(config.iommu.permission_cache), config.run.seed + 5),
      walkers_(config.iommu.walkers),
      dues_(config.iommu.walkers, Time::never()),
      walked_(config.iommu.walkers),
      wakeup_("wakeup", config.iommu.timing.clock),
      queue_(config.iommu.reserved_tail_bit),
      device_tlbs_(kRootComplexId, config.iommu.timing.invalidate_timeout),
      handle_orders_(config.iommu.timing.invalidate_timeout),
      page_requests_(config.iommu.page_requests.overflow, config.iommu.page_requests.respond_pasid,
                     registers_, *this) {
  for (std::uint32_t i = config.iommu.walkers; i-- > 0;) {
    idle_.push_back(i);
  }
  jobs_.reserve(kFirstJobs);
  wakeup_.wakes("work_process", [this] { work(); });
}

// Hits pass requests that wait for walks; who cares about their order keeps it. [IOM-6.1]
void TranslationAgent::translate(TranslationClient& client, std::uint64_t ticket,
                                 const WalkRequest& request, std::uint32_t token, Time delay) {
  ++counts_.requests;
  counts_.translated_requests += is_translated(request) ? 1 : 0;
  translate_next(client, ticket, request, token, delay);
}

void TranslationAgent::translate_next(TranslationClient& client, std::uint64_t ticket,
                                      const WalkRequest& request, std::uint32_t token, Time delay) {
  ++asked_;
  Job job{&client, ticket, request, token, now() + delay, {}, kNone, 0, asked_};
  Walk walk(request, registers_.root_table(), offers_);
  Time latency{};
  if (look_up(walk, latency)) {
    counts_.iotlb_hits += is_looked_up(request) && has_page(walk) ? 1 : 0;
    deliver(job, walk.result(), job.arrival + latency);
    return;
  }
  Walker* const walker = walker_at(request);
  job.missed = count_miss(request, walker != nullptr);
  if (walker != nullptr) {
    push(walker->followers, job);
  } else if (idle_.empty()) {
    wait_for_walker(job);
  } else {
    start(take_idle(), job, walk, latency);
  }
}

// One behind another that has asked for the page, and has not got it, misses under that miss.
// Returns Job::missed.
std::uint32_t TranslationAgent::count_miss(const WalkRequest& request, bool is_at_walker) {
  if (!is_looked_up(request)) {
    return 0;
  }
  const bool is_under_miss = is_at_walker || is_waited_for(request);
  ++(is_under_miss ? counts_.iotlb_misses_under_miss : counts_.iotlb_misses);
  return is_under_miss ? 0 : window_number_;
}

// It waited for a walker, and the walk of another has brought what it needs: a PASID entry that
// passes it through, or a large page. So it was under that miss.
void TranslationAgent::count_without_walk(const Job& job) {
  if (job.missed == window_number_) {
    --counts_.iotlb_misses;
    ++counts_.iotlb_misses_under_miss;
  }
}

bool TranslationAgent::is_waited_for(const WalkRequest& request) const {
  return waiting_pages_.contains(key_of(request));
}

void TranslationAgent::wait_for_walker(const Job& job) {
  push(waiting_, job);
  waiting_pages_.push(key_of(job.request));
}

void TranslationAgent::push(JobQueue& queue, const Job& job) {
  if (free_jobs_.empty()) {
    jobs_.push_back(job);
    free_jobs_.first = free_jobs_.last = static_cast<std::uint32_t>(jobs_.size() - 1);
  }
  const std::uint32_t place = free_jobs_.first;
  free_jobs_.first = jobs_[place].next;
  jobs_[place] = job;
  jobs_[place].since = std::max(now(), job.arrival);
  jobs_[place].next = kNone;
  (queue.empty() ? queue.first : jobs_[queue.last].next) = place;
  queue.last = place;
  ++waiting_jobs_;
}

TranslationAgent::Job TranslationAgent::pop(JobQueue& queue, WaitBook& waits) {
  const std::uint32_t place = queue.first;
  const Job job = jobs_[place];
  waits.add(job.since, now());
  queue.first = job.next;
  jobs_[place].next = free_jobs_.first;
  free_jobs_.first = place;
  --waiting_jobs_;
  return job;
}

// True: the caches, or a walk of the same page that is over, end this one. Else it stands where
// memory has to be read. [IOM-6.1]
bool TranslationAgent::look_up(Walk& walk, Time& latency, const Walk* finished) {
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
  return use_iotlb(walk) || (finished != nullptr && use_page_of(*finished, walk));
}

bool TranslationAgent::use_page_of(const Walk& finished, Walk& walk) const {
  const std::optional<PageTranslation> page =
      has_page(finished) && !is_translated(finished.request())
          ? page_of(finished, offers_.caching_mode)
          : std::nullopt;
  return page && walk.use_page(*page);
}

// True: it has the page, and that grants what is wished. [IOM-6.3]
bool TranslationAgent::use_iotlb(Walk& walk) {
  const DomainTag tag = DomainTag::of(walk.pasid_entry(), walk.result().pasid);
  const PageTranslation* const page = caches_.find_page(tag, walk.request().address);
  return page != nullptr && walk.use_page(*page);
}

TranslationAgent::Walker* TranslationAgent::walker_at(const WalkRequest& request) {
  const std::uint64_t page = request.address >> kPageBits;
  for (std::size_t i = 0; i < walked_.size(); ++i) {
    if (walked_[i] == page && walkers_[i].is_busy && same_page(walkers_[i].job.request, request)) {
      return &walkers_[i];
    }
  }
  return nullptr;
}

void TranslationAgent::start(Walker& walker, const Job& job, const Walk& walk, Time latency) {
  ++counts_.walks;
  walker.walk = walk;
  walker.job = job;
  walker.is_busy = true;
  walker.is_overtaken = walker.is_shared = false;
  walker.has_looked_up = walker.walk.is_at_page_tables();
  if (walker.has_looked_up) {
    latency += use_paging_cache(walker.walk);
  }
  const auto index = static_cast<std::size_t>(&walker - walkers_.data());
  walked_[index] = job.request.address >> kPageBits;
  dues_[index] = std::max(now(), job.arrival) + latency;
  walker.has_failed = false;
  walker.bytes_wanted = false;
  wakeup_.at(dues_[index]);
}

// The walk starts at what is cached of the way. Returns what the look-up takes. [IOM-6.1]
Time TranslationAgent::use_paging_cache(Walk& walk) {
  const DomainTag tag = DomainTag::of(walk.pasid_entry(), walk.result().pasid);
  if (const TableStart* const table = caches_.find_table(tag, walk.request().address)) {
    walk.use_table(*table);
  }
  return config_.timing.paging_cache;
}

// Context and PASID entries have been read; the translation itself may be known all the same.
Time TranslationAgent::use_page_caches(Walk& walk) {
  return config_.timing.iotlb + (use_iotlb(walk) ? Time{} : use_paging_cache(walk));
}

// What is known of guest pages saves second-stage walks; returns how many.
unsigned TranslationAgent::use_second_stage_cache(Walk& walk) {
  unsigned hits = 0;
  std::optional<std::uint64_t> input = walk.second_stage_input();
  while (input) {
    const SecondStageLeaf* const leaf =
        caches_.find_second_stage(walk.pasid_entry().domain, *input);
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

// The walker's time has come: it takes in what memory gave, and asks for more or is done.
void TranslationAgent::step(Walker& walker) {
  if (walker.bytes_wanted) {
    walker.bytes_wanted = false;
    walk_progress_.step(walker.job.number, key_of(walker.job.request), false);
    if (walker.has_failed) {
      walker.walk.failed();
    } else {
      walker.walk.supply(walker.bytes.data());
    }
  }
  Time latency{};
  if (!walker.has_looked_up && walker.walk.is_at_page_tables()) {
    walker.has_looked_up = true;
    latency = use_page_caches(walker.walk);
  }
  latency += config_.timing.second_stage_cache * use_second_stage_cache(walker.walk);
  if (latency != Time{}) {
    const auto index = static_cast<std::size_t>(&walker - walkers_.data());
    dues_[index] = now() + latency;
    wakeup_.at(dues_[index]);
    return;
  }
  permissions_.advance(walker.walk);
  const std::optional<MemoryAccess> access = walker.walk.next();
  if (!access) {
    finish(walker);
    return;
  }
  counts_.walk_reads += access->kind == MemoryAccess::Kind::kRead ? 1 : 0;
  counts_.permission_reads += access->table == TableKind::kPermission ? 1 : 0;
  walker.bytes_wanted = true;
  read(static_cast<unsigned>(&walker - walkers_.data()), access->address, access->bytes);
}

// A read of the agent's own: the tag says who waits for it.
void TranslationAgent::read(unsigned reader, std::uint64_t address, unsigned bytes) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp.type = TlpType::kMRd;
  packet->tlp.address = address;
  packet->tlp.length_dw = static_cast<std::uint16_t>(bytes / 4);
  packet->tlp.first_be = packet->tlp.last_be = 0xf;
  packet->tlp.tag = static_cast<std::uint16_t>(reader);
  memory_.submit(*this, std::move(packet), Time{});
}

void TranslationAgent::memory_done(const MemoryTransaction& transaction, Time when) {
  const std::size_t reader = transaction.packet->tlp.tag;
  if (reader == tag_of(Reader::kQueue)) {
    queue_memory_done(transaction, when);
    return;
  }
  if (reader == tag_of(Reader::kPageRecord)) {
    page_records_.push_back({when, transaction.is_response_ok()});
    wakeup_.at(when);
    return;
  }
  Walker& walker = walkers_[reader];
  const std::optional<MemoryAccess> access = walker.walk.next();
  walker.has_failed = !transaction.is_response_ok();
  std::memcpy(walker.bytes.data(), transaction.data.data(), access->bytes);
  // Memory compares and sets the bits where the read takes effect: nobody comes in between.
  if (access->kind == MemoryAccess::Kind::kSetBits && !walker.has_failed &&
      load_u64(walker.bytes.data()) == access->expected) {
    std::array<std::uint8_t, 8> bytes{};
    for (unsigned i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>((access->expected | access->bits) >> 8 * i);
    }
    walker.has_failed = !memory_.poke(access->address, bytes.data(), bytes.size());
  }
  dues_[reader] = when;
  wakeup_.at(when);
}

void TranslationAgent::finish(Walker& walker) {
  walk_progress_.step(walker.job.number, key_of(walker.job.request), true);
  walker.is_busy = false;
  walker.is_shared = !walker.is_overtaken;
  if (!walker.is_overtaken) {
    caches_.keep(walker.walk, offers_);
    permissions_.keep(walker.walk);
  }
  deliver(walker.job, walker.walk.result(), now());
  hand_on(walker);
  settle();
}

void TranslationAgent::deliver(const Job& job, const WalkResult& result, Time when) {
  if (job.client == nullptr) {
    return;
  }
  ++answered_;
  if (result.fault != FaultReason::kNone) {
    report_fault(job, result);
  }
  if (offers_.secure_ats) {
    deliver_and_prefetch(job, result, when);
  } else {
    job.client->translated(job.ticket, result, when);
  }
}

// [IOM-9.1]
void TranslationAgent::report_fault(const Job& job, const WalkResult& result) {
  counts_.faults += result.outcome == WalkOutcome::kFault ? 1 : 0;
  if (!result.is_recorded) {
    return;
  }
  const AccessWish& wish = job.request.wish;
  FaultRecord record;
  record.code = config_.legacy_codes ? legacy_code(result.fault, wish.write)
                                     : static_cast<std::uint8_t>(result.fault);
  record.source = job.request.source;
  record.pasid = job.request.pasid;
  record.address = job.request.address & kPageAddress;
  record.type = fault_type_of(job.request);
  record.at = address_type_of(job.request.kind);
  record.is_privileged = job.request.pasid && wish.privileged;
  record.is_execute = job.request.pasid && wish.execute;
  for (const Hooks& hooks : hooks_) {
    if (hooks.fault) {
      hooks.fault(record, job.token);
    }
  }
  tell(faults_.report(record, registers_).interrupt);
}

// True: there is now what was not there when the request came. The walker shares what it has found
// even where no cache keeps it; what that grants is checked for each request. [IOM-6.10]
bool TranslationAgent::look_up_again(const Walker& walker, const Job& job, Walk& walk,
                                     Time& latency) {
  const bool is_shared = walker.is_shared && same_page(walker.job.request, job.request);
  if (!look_up(walk, latency, is_shared ? &walker.walk : nullptr)) {
    return false;
  }
  count_without_walk(job);
  deliver(job, walk.result(), std::max(now(), job.arrival) + latency);
  return true;
}

// A walk is over. Who waited for it is looked at anew, then who waits for a walker: the first that
// still misses gets it. Pages take turns.
void TranslationAgent::hand_on(Walker& walker) {
  while (!walker.followers.empty()) {
    const Job job = pop(walker.followers, walk_waits_);
    Walk walk(job.request, registers_.root_table(), offers_);
    Time latency{};
    if (look_up_again(walker, job, walk, latency)) {
      continue;
    }
    if (waiting_.empty()) {
      start(walker, job, walk, latency);
      return;
    }
    wait_for_walker(job);
  }
  while (!waiting_.empty()) {
    const Job job = pop(waiting_, walker_waits_);
    waiting_pages_.pop();
    if (Walker* const other = walker_at(job.request)) {
      push(other->followers, job);
      continue;
    }
    Walk walk(job.request, registers_.root_table(), offers_);
    Time latency{};
    if (!look_up_again(walker, job, walk, latency)) {
      start(walker, job, walk, latency);
      return;
    }
  }
  idle_.push_back(static_cast<std::uint32_t>(&walker - walkers_.data()));
  walker_use_.set(walkers_.size() - idle_.size(), now());
}

void TranslationAgent::work() {
  wakeup_.taken();
  const Time t = now();
  for (std::size_t i = 0; i < dues_.size(); ++i) {
    if (dues_[i] <= t) {
      dues_[i] = Time::never();
      step(walkers_[i]);
    }
  }
  if (queue_due_ <= t) {
    queue_due_ = Time::never();
    continue_queue();
  }
  while (!page_records_.empty() && page_records_.front().when <= t) {
    const bool is_ok = page_records_.front().is_ok;
    page_records_.pop_front();
    page_requests_.record_written(is_ok);
    settle();
  }
  expire_invalidations();
  Time next = std::min(queue_due_, next_timeout());
  if (!page_records_.empty()) {
    next = std::min(next, page_records_.front().when);
  }
  next = std::min(next, *std::min_element(dues_.begin(), dues_.end()));
  if (next != Time::never()) {
    wakeup_.at(next);
  }
}

}  // namespace flitwise
