// SPDX-License-Identifier: Apache-2.0
// The device's use of handles.
#include "endpoint/dhi_agent.h"

#include <algorithm>

#include "tlp/wire_size.h"

namespace flitwise {
namespace {

bool is_in(const std::vector<bool>& domains, DomainId domain) {
  return to_int(domain) < domains.size() && domains[to_int(domain)];
}

void put(std::vector<bool>& domains, DomainId domain, bool is_in) {
  domains.resize(std::max<std::size_t>(domains.size(), to_int(domain) + std::size_t{1}));
  domains[to_int(domain)] = is_in;
}

}  // namespace

DhiAgent::DhiAgent(const DeviceConfig& device, PacketPool& pool) : config_(device), pool_(pool) {}

void DhiAgent::negotiated(const Negotiated& outcome, bool is_software_managed) {
  is_active_ = outcome.is_active();
  unapplied_.clear();
  failed_flushes_ = 0;
  orders_.clear();
  has_started_.clear();
  has_refusal_.clear();
  if (table_ && (!is_active_ || is_software_managed == is_software_managed_)) {
    table_->reset(is_active_ ? outcome.range : table_->range(), outcome.epoch);
  } else if (is_active_) {
    DeviceHandleTableConfig table =
        DeviceHandleTableConfig::from(config_, outcome.range, outcome.epoch);
    table.management =
        is_software_managed ? HandleManagement::kSoftware : HandleManagement::kDevice;
    table_ = std::make_unique<DeviceHandleTable>(table);
    is_software_managed_ = is_software_managed;
  }
  if (is_active_) {
    store_ = std::make_unique<HandleStore>(config_.dhi.storage, outcome.range);
  }
}

DhiAgent::Answer DhiAgent::acquire(DomainId domain, const DeviceIdentity& identity, UseKind kind,
                                   bool can_flush, std::vector<PacketRef>& first) {
  can_flush_ = can_flush;
  const OptionalId<Dhi> dhi = table_->find(domain);
  if (waiting_domain_ != domain) {
    table_->record_lookup(dhi.has_value());
  }
  // What was allocated while a flush was out needs one of its own.
  if (!unapplied_.empty() && config_.dhi.alloc_order == AllocOrder::kFlush) {
    request_flush(identity.bdf, first);
  }
  Answer answer =
      dhi ? use(*dhi, kind, store_->search_by_domain(dhi)) : miss(domain, identity, kind, first);
  waiting_domain_ = answer.outcome == Outcome::kWait ? domain : DomainId{0xffff'ffff};
  return answer;
}

DhiAgent::Answer DhiAgent::use(Dhi dhi, UseKind kind, Time latency) {
  return {Outcome::kHandle, dhi, table_->pin(dhi, kind), !table_->is_applied(dhi), latency};
}

DhiAgent::Answer DhiAgent::miss(DomainId domain, const DeviceIdentity& identity, UseKind kind,
                                std::vector<PacketRef>& first) {
  if (is_in(has_refusal_, domain)) {
    return wait_or_bypass(MissOutcome::kNotHere, identity, first);
  }
  const Choice choice =
      table_->is_held(identity.bdf) ? Choice{MissOutcome::kWaitForOrder, {}} : table_->choose();
  if (is_software_managed_ || config_.dhi.allocate_at == AllocateAt::kContextCreation) {
    // A handle comes with the context or not at all. [DHI D12, D13]
    const bool is_new = is_new_context(domain);
    if (is_new && is_software_managed_) {
      software_.context_started(domain);
    }
    if (!is_new || is_software_managed_ || choice.outcome != MissOutcome::kFreeHandle) {
      return wait_or_bypass(MissOutcome::kNotHere, identity, first);
    }
  }
  if (choice.outcome == MissOutcome::kFreeHandle || choice.outcome == MissOutcome::kVictimReady) {
    const Time latency = store_->search_by_domain(std::nullopt) + allocate(domain, identity, first);
    return use(*table_->find(domain), kind, latency);
  }
  return wait_or_bypass(choice.outcome, identity, first);
}

// No handle can be had now: the message goes in full, or it waits. [DHI D9]
DhiAgent::Answer DhiAgent::wait_or_bypass(MissOutcome outcome, const DeviceIdentity& identity,
                                          std::vector<PacketRef>& first) {
  Answer answer;
  if (outcome == MissOutcome::kWaitForPush) {
    // Else a victim with posted uses alone would never be known to be idle. [DHI D10]
    request_flush(identity.bdf, first);
  }
  const bool is_hopeless = flushes_fail() && (outcome == MissOutcome::kWaitForPush ||
                                              outcome == MissOutcome::kWaitForOrder);
  if (outcome == MissOutcome::kNotHere || is_hopeless || config_.dhi.on_miss == OnMiss::kBypass) {
    ++counts_.bypasses;
    answer.latency = store_->search_by_domain(std::nullopt);
    return answer;
  }
  answer.outcome = Outcome::kWait;
  return answer;
}

// The local table first, then the messages. Returns how long the entry takes to be written.
// [DHI D8, D11]
Time DhiAgent::allocate(DomainId domain, const DeviceIdentity& identity,
                        std::vector<PacketRef>& first) {
  const Allocation allocation = table_->allocate(
      domain, identity, config_.dhi.trusted, static_cast<std::uint16_t>(config_.dhi.capabilities));
  if (allocation.needs_dealloc_message) {
    send_dealloc(allocation.dhi, identity.bdf, first);
  }
  write_dhi_message(add(first), identity.bdf, allocation.message);
  if (config_.dhi.alloc_order == AllocOrder::kNone) {
    table_->mark_applied(allocation.dhi, allocation.residency);
  } else {
    unapplied_.add(allocation.dhi, allocation.residency);
  }
  if (config_.dhi.alloc_order == AllocOrder::kFlush) {
    request_flush(identity.bdf, first);
  }
  return store_->access_by_handle(allocation.dhi);
}

Packet& DhiAgent::add(std::vector<PacketRef>& first) {
  first.push_back(pool_.make(PacketKind::kTlp));
  return *first.back();
}

void DhiAgent::send_dealloc(Dhi dhi, Bdf bdf, std::vector<PacketRef>& first) {
  ++counts_.deallocs;
  DeallocMessage message;
  message.dhi = dhi;
  message.epoch = table_->epoch();
  write_dhi_message(add(first), bdf, message);
}

// A zero-length read; with `flush` it covers every ALLOC sent before it (with `ack` only the answer
// of the host counts). One is out at a time.
void DhiAgent::request_flush(Bdf bdf, std::vector<PacketRef>& first) {
  if (flush_is_out_ || !can_flush_) {
    return;
  }
  Packet& flush = add(first);
  flush.purpose = HandlePurpose::kFlush;
  flush.tlp.type = TlpType::kMRd;
  flush.tlp.requester_id = bdf;
  flush.tlp.length_dw = 1;
  flush_is_out_ = true;
  unapplied_.flush_sent(config_.dhi.alloc_order == AllocOrder::kFlush);
  ++counts_.flushes;
}

// True once for each context, until it ends.
bool DhiAgent::is_new_context(DomainId domain) {
  const bool is_new = !is_in(has_started_, domain);
  put(has_started_, domain, true);
  return is_new;
}

Time DhiAgent::start_context(DomainId domain, const DeviceIdentity& identity,
                             std::vector<PacketRef>& first) {
  if (!is_new_context(domain)) {
    return Time{};
  }
  if (is_software_managed_) {
    software_.context_started(domain);
  } else if (!table_->is_held(identity.bdf) &&
             table_->choose().outcome == MissOutcome::kFreeHandle) {
    can_flush_ = true;
    return allocate(domain, identity, first);
  }
  return Time{};
}

HandleStatus DhiAgent::install(DomainId domain, const AllocMessage& message) {
  return is_active_ ? table_->install(domain, message) : HandleStatus::kNotSoftwareManaged;
}

void DhiAgent::deallocate(const DeallocMessage& message) {
  if (is_active_) {
    table_->drain(message);
  }
}

void DhiAgent::drain(Bdf bdf, bool can_flush, std::vector<PacketRef>& first) {
  while (const std::optional<Dhi> dhi = table_->drained()) {
    const bool is_at_host = table_->deallocate(*dhi).is_at_host;
    if (is_at_host && !is_software_managed_ && config_.dhi.dealloc == DeallocMode::kExplicit) {
      send_dealloc(*dhi, bdf, first);
    }
  }
  if (is_draining() && !flushes_fail()) {
    // Posted uses are known to be at the host when a later read has come back. [DHI D10]
    can_flush_ = can_flush;
    request_flush(bdf, first);
  }
}

void DhiAgent::reset_function(Bdf bdf) {
  if (table_) {
    table_->reset_function(bdf);
    has_refusal_.clear();  // its contexts start again; others ask once more
  }
}

bool DhiAgent::nonposted_given_up(HandlePin pin) {
  const bool is_kept = table_->given_up(pin);
  counts_.kept += is_kept ? 1 : 0;
  return is_kept;
}

void DhiAgent::pushed_through(std::uint64_t serial) {
  if (table_) {
    table_->pushed_through(serial);
  }
}

void DhiAgent::flush_failed(bool was_answered) {
  flush_is_out_ = false;
  failed_flushes_ = was_answered ? failed_flushes_ + 1 : kMostFailedFlushes;
}

void DhiAgent::flush_done(std::uint64_t serial) {
  flush_is_out_ = false;
  failed_flushes_ = 0;
  if (!table_) {
    return;
  }
  pushed_through(serial);
  unapplied_.flush_done(
      [this](const UnappliedHandles::One& one) { table_->mark_applied(one.dhi, one.residency); });
}

void DhiAgent::end_context(DomainId domain) {
  if (!is_active_) {
    return;
  }
  table_->end_context(domain);
  put(has_refusal_, domain, false);
  put(has_started_, domain, false);
  if (is_software_managed_) {
    software_.context_ended(domain);
  } else if (config_.dhi.allocate_at == AllocateAt::kContextCreation) {
    if (const OptionalId<Dhi> dhi = table_->find(domain)) {
      table_->drain(*dhi);
    }
  }
}

DhiAgent::Addressee DhiAgent::find_addressee(Dhi dhi) {
  if (!is_active_ || !table_->range().contains(dhi)) {
    return {};
  }
  return {table_->resolve(dhi), store_->access_by_handle(dhi)};
}

const char* DhiAgent::receive(const DhiMessage& message) {
  if (const auto* ack = std::get_if<AllocAckMessage>(&message)) {
    return acknowledged(*ack);
  }
  if (const auto* error = std::get_if<HandleErrorMessage>(&message)) {
    return reported(*error);
  }
  return "bad_handle_message";
}

// Answers come in the order of the ALLOCs, so that the oldest of a handle is meant. [DHI D8]
const char* DhiAgent::acknowledged(const AllocAckMessage& message) {
  const std::optional<UnappliedHandles::One> one = unapplied_.find(message.dhi);
  if (!is_active_ || config_.dhi.alloc_order != AllocOrder::kAck ||
      message.epoch != table_->epoch() || !one) {
    return "stale_alloc_ack";
  }
  unapplied_.remove(message.dhi);
  ++counts_.acks;
  if (message.status == HandleStatus::kOk) {
    table_->mark_applied(one->dhi, one->residency);
    return nullptr;
  }
  ++counts_.refused;
  if (const auto domain = table_->owner(one->dhi, one->residency)) {
    refused(one->dhi, *domain, message.status);
  }
  return "alloc_refused";
}

// An ALLOC was refused, or a use of the handle found no entry. A use that fails while an ALLOC of
// the handle is under way is one from before it. [DHI D14, D16]
const char* DhiAgent::reported(const HandleErrorMessage& message) {
  if (!is_active_ || message.epoch != table_->epoch() || !table_->range().contains(message.dhi)) {
    return "stale_handle_error";
  }
  const std::optional<UnappliedHandles::One> one = unapplied_.find(message.dhi);
  const bool is_about_use = message.status == HandleStatus::kNoValidEntry;
  const std::optional<DeviceResolution> entry = table_->resolve(message.dhi);
  const std::optional<DomainId> owner = one     ? table_->owner(one->dhi, one->residency)
                                        : entry ? std::optional<DomainId>(entry->domain)
                                                : std::nullopt;
  if (!owner || (is_about_use && one)) {
    return "stale_handle_error";
  }
  if (one) {
    unapplied_.remove(message.dhi);
  }
  ++counts_.refused;
  refused(message.dhi, *owner, message.status);
  return is_about_use ? "handle_unknown_to_host" : "alloc_refused";
}

// What would be refused again is not asked for again: the domain goes in full until its context
// starts again or handles are negotiated anew. A handle that was in use, or that the host does not
// know, can be allocated once more. [DHI D9]
void DhiAgent::refused(Dhi dhi, DomainId domain, HandleStatus status) {
  table_->refused(dhi);
  if (status != HandleStatus::kHandleInUse && status != HandleStatus::kNoValidEntry) {
    put(has_refusal_, domain, true);
  }
}

void DhiAgent::start_window() {
  if (table_) {
    table_->reset_statistics();
  }
  window_ = counts_;
}

DhiResult DhiAgent::result(const std::string& device) const {
  DhiResult result;
  result.device = device;
  if (table_) {
    const DeviceHandleStatistics& statistics = table_->statistics();
    result.lookups = statistics.lookups;
    result.hits = statistics.hits;
    result.allocs = statistics.allocs;
    result.evictions = statistics.evictions;
    result.tlps_per_residency = statistics.uses_per_residency();
  }
  result.deallocs = counts_.deallocs - window_.deallocs;
  result.bypasses = counts_.bypasses - window_.bypasses;
  result.flushes = counts_.flushes - window_.flushes;
  result.acks = counts_.acks - window_.acks;
  result.rejected = counts_.refused - window_.refused;
  result.handles_kept = counts_.kept - window_.kept;
  return result;
}

// A DEALLOC of the host. There is room for each tag, and nothing has to be sent for it. One that is
// used again before its answer is the seventeenth, or a mistake.
const char* DhiAgent::take(const DeallocOrder& order, Bdf addressed, Bdf base) {
  if (!is_active_) {
    return "stale_handle_order";
  }
  const bool is_taken = std::any_of(orders_.begin(), orders_.end(),
                                    [&](const Order& one) { return one.order.tag == order.tag; });
  if (is_taken) {
    return "handle_order_tag_in_use";
  }
  HandleStatus status = table_->check(order.message);
  const unsigned function = static_cast<std::uint16_t>(order.message.function.value - base.value);
  if (status == HandleStatus::kOk && order.message.scope == DeallocScope::kFunction &&
      function >= config_.functions.count) {
    status = HandleStatus::kRequesterMismatch;
  }
  if (status == HandleStatus::kOk) {
    table_->hold(order.tag, order.message);
  }
  orders_.push_back({order, addressed, status});
  return nullptr;
}

// All handles of an order go at once, just before its DONE: what is allocated from then on is
// behind the DONE on the link, and not among what the host frees. [DHI D8]
void DhiAgent::answer_orders(std::vector<PacketRef>& first) {
  for (auto one = orders_.begin(); one != orders_.end();) {
    const DeallocOrder& order = one->order;
    const bool is_done = one->status == HandleStatus::kOk;
    if (is_done && !table_->is_drained(order.tag)) {
      ++one;
      continue;
    }
    if (is_done) {
      table_->release(order.tag);
    }
    write_dhi_message(add(first), one->addressed,
                      DeallocDone{order.tag, one->status, order.message.epoch});
    one = orders_.erase(one);
  }
}

}  // namespace flitwise
