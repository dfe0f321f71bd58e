// SPDX-License-Identifier: Apache-2.0
// The device's use of handles.
#include "endpoint/dhi_agent.h"

#include <algorithm>
#include <utility>

#include "tlp/identity.h"

namespace flitwise {

void DhiAgent::negotiated(const Negotiated& outcome, bool is_software_managed) {
  is_active_ = outcome.is_active();
  unapplied_.clear();
  failed_flushes_ = 0;
  orders_.clear();
  holders_.clear();
  if (table_ && (!is_active_ || is_software_managed == is_software_managed_)) {
    table_->reset(is_active_ ? outcome.range : table_->range(), outcome.epoch);
  } else if (is_active_) {
    const auto& dhi = config_.device.dhi;
    table_ = std::make_unique<DeviceHandleTable>(DeviceHandleTableConfig{
        outcome.range, dhi.victim, dhi.prefer_ended, dhi.prefer_idle, dhi.dealloc,
        is_software_managed ? HandleManagement::kSoftware : HandleManagement::kDevice,
        outcome.epoch});
    is_software_managed_ = is_software_managed;
  }
  if (is_active_) {
    store_ = std::make_unique<HandleStore>(config_.device.dhi.storage, outcome.range);
  }
  look_again();
}

[[gnu::flatten]] Handles::Answer DhiAgent::acquire(const Transfer& transfer,
                                                   const DeviceIdentity& identity, Op op,
                                                   std::size_t free_tags, Time t) {
  const bool is_tag_free = op == Op::kWrite && transfer.steering_tag == kNoSteeringTag;
  const bool are_used = config_.link.identity == Identity::kDhi && is_active_ && op != Op::kMsi &&
                        (config_.link.dhi_form != DhiForm::kTag || is_tag_free);
  if (!are_used) {
    return {};
  }
  const UseKind kind = op == Op::kRead ? UseKind::kNonPosted : UseKind::kPosted;
  can_flush_ = free_tags > (kind == UseKind::kNonPosted ? 1U : 0U);
  return ask(tlps_, transfer, identity, kind, t);
}

// ALLOC and flush need the function's way to the link. Without handles there is nothing to wait
// for. [CXL-7.8]
Handles::Answer DhiAgent::acquire_for_line(const Transfer& transfer, Time t) {
  const DeviceIdentity& identity = s_.functions.identity_of(transfer.domain);
  if (!is_active_) {
    return wait_or_bypass(lines_, MissOutcome::kNotHere, identity);
  }
  const unsigned function = s_.functions.index_of(identity.bdf);
  can_flush_ = s_.functions.may_send(identity.bdf) && requests_.free_tags(function) > 0;
  return ask(lines_, transfer, identity, UseKind::kNonPosted, t);
}

void DhiAgent::line_over(HandlePin pin, Time t) {
  table_->completed(pin);
  if (is_draining()) {
    s_.output.begin_duties();
  }
  if (is_draining() || tlps_.stall.is_running()) {
    s_.output.wake_at(t);
  }
}

Handles::Answer DhiAgent::ask(Asker& asker, const Transfer& transfer,
                              const DeviceIdentity& identity, UseKind kind, Time t) {
  const DomainId domain = s_.functions.holder_of(transfer.domain);
  const OptionalId<Dhi> dhi = table_->find(domain);
  if (asker.waiting_domain != domain) {
    table_->record_lookup(dhi.has_value());
  }
  // What was allocated while a flush was out needs one of its own.
  if (!unapplied_.empty() && config_.device.dhi.alloc_order == AllocOrder::kFlush) {
    request_flush(identity.bdf);
  }
  const Answer answer = dhi ? use(asker, *dhi, kind, identity, store_->search_by_domain(dhi))
                            : miss(asker, domain, identity, kind);
  const bool waits = answer.outcome == Outcome::kWait;
  asker.waiting_domain = waits ? domain : DomainId{0xffff'ffff};
  if (!first_.empty()) {
    send_first(transfer, identity, t, answer.latency);
  }
  asker.stall.set(waits, t);
  return answer;
}

// What tells that the host has the entry is on its way, or has failed. Who has room for the full
// identity does not wait for it. [CXL-7.4] [CXL-7.8]
[[gnu::noinline]] Handles::Answer DhiAgent::wait_for_host(const Asker& asker,
                                                          const DeviceIdentity& identity,
                                                          Time latency) {
  if (config_.device.dhi.alloc_order == AllocOrder::kFlush && flushes_fail()) {
    return wait_or_bypass(asker, MissOutcome::kNotHere, identity);
  }
  Answer answer;
  answer.latency = latency;
  if (config_.device.dhi.on_miss == OnMiss::kBypass) {
    ++counts_.bypasses;
    return answer;
  }
  answer.outcome = Outcome::kWait;
  return answer;
}

[[gnu::noinline]] Handles::Answer DhiAgent::miss(const Asker& asker, DomainId domain,
                                                 const DeviceIdentity& identity, UseKind kind) {
  Holder& one = holder(domain);
  if (one.has_refusal) {
    return wait_or_bypass(asker, MissOutcome::kNotHere, identity);
  }
  if (asker.is_for_lines && !s_.functions.may_send(identity.bdf)) {
    return {Outcome::kWait, {}, {}, false, {}};  // it sends no ALLOC
  }
  const Choice choice =
      table_->is_held(identity.bdf) ? Choice{MissOutcome::kWaitForOrder, {}} : table_->choose();
  if (is_software_managed_ || config_.device.dhi.allocate_at == AllocateAt::kContextCreation) {
    // A handle comes with the context or not at all. [DHI D12, D13]
    const bool is_new = !std::exchange(one.has_started, true);
    if (is_new && is_software_managed_) {
      software_.context_started(domain);
    }
    if (!is_new || is_software_managed_ || choice.outcome != MissOutcome::kFreeHandle) {
      return wait_or_bypass(asker, MissOutcome::kNotHere, identity);
    }
  }
  if (choice.outcome == MissOutcome::kFreeHandle || choice.outcome == MissOutcome::kVictimReady) {
    const Time latency = store_->search_by_domain(std::nullopt) + allocate(domain, identity);
    return use(asker, *table_->find(domain), kind, identity, latency);
  }
  return wait_or_bypass(asker, choice.outcome, identity);
}

// No handle can be had now: the message goes in full, or it waits. A D2H Req has room for its
// identity with `bypass` alone. [DHI D9] [CXL-7.4]
Handles::Answer DhiAgent::wait_or_bypass(const Asker& asker, MissOutcome outcome,
                                         const DeviceIdentity& identity) {
  Answer answer;
  if (outcome == MissOutcome::kWaitForPush) {
    // Else a victim with posted uses alone would never be known to be idle. [DHI D10]
    request_flush(identity.bdf);
  }
  const bool is_hopeless = flushes_fail() && (outcome == MissOutcome::kWaitForPush ||
                                              outcome == MissOutcome::kWaitForOrder);
  if (outcome == MissOutcome::kNotHere || is_hopeless ||
      config_.device.dhi.on_miss == OnMiss::kBypass) {
    answer.latency = store_ ? store_->search_by_domain(std::nullopt) : Time{};
    if (asker.is_for_lines && config_.device.dhi.on_miss != OnMiss::kBypass) {
      answer.outcome = Outcome::kUnnamed;
      return answer;
    }
    ++counts_.bypasses;
    return answer;
  }
  answer.outcome = Outcome::kWait;
  return answer;
}

// The local table first, then the messages. Returns how long the entry takes to be written.
// [DHI D8, D11]
Time DhiAgent::allocate(DomainId domain, const DeviceIdentity& identity) {
  const Allocation allocation = table_->allocate(
      domain, identity, config_.device.dhi.trusted,
      static_cast<std::uint16_t>(config_.device.dhi.capabilities), s_.functions.context_of(domain));
  if (allocation.needs_dealloc_message) {
    send_dealloc(allocation.dhi, identity.bdf);
  }
  write_dhi_message(add(), identity.bdf, allocation.message);
  if (config_.device.dhi.alloc_order == AllocOrder::kNone) {
    table_->mark_applied(allocation.dhi, allocation.residency);
  } else {
    unapplied_.add(allocation.dhi, allocation.residency);
  }
  if (config_.device.dhi.alloc_order == AllocOrder::kFlush) {
    request_flush(identity.bdf);
  }
  return store_->access_by_handle(allocation.dhi);
}

void DhiAgent::send_dealloc(Dhi dhi, Bdf bdf) {
  ++counts_.deallocs;
  write_dhi_message(add(), bdf, DeallocMessage{DeallocScope::kOne, dhi, {}, {}, table_->epoch()});
}

// A zero-length read; with `flush` it covers every ALLOC sent before it (with `ack` only the answer
// of the host counts). One is out at a time.
void DhiAgent::request_flush(Bdf bdf) {
  if (flush_is_out_ || !can_flush_) {
    return;
  }
  Packet& flush = add();
  flush.purpose = HandlePurpose::kFlush;
  flush.tlp.type = TlpType::kMRd;
  flush.tlp.requester_id = bdf;
  flush.tlp.length_dw = 1;
  flush_is_out_ = true;
  unapplied_.flush_sent(config_.device.dhi.alloc_order == AllocOrder::kFlush);
  ++counts_.flushes;
}

DhiAgent::Holder& DhiAgent::holder(DomainId domain) {
  const std::size_t index = to_int(domain);
  holders_.resize(std::max(holders_.size(), index + 1));
  return holders_[index];
}

void DhiAgent::start_contexts(std::uint32_t count, bool counts, Time t) {
  const bool comes_with_context = config_.device.dhi.allocate_at == AllocateAt::kContextCreation ||
                                  config_.device.dhi.management == HandleManagement::kSoftware;
  if (!config_.uses_handles || !is_active_ || !comes_with_context) {
    return;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    Transfer cause;
    cause.domain = s_.functions.holder_of(DomainId{index});
    cause.address = config_.buffer_base;
    cause.counts = counts;
    const DeviceIdentity& identity = s_.functions.identity_of(cause.domain);
    if (std::exchange(holder(cause.domain).has_started, true)) {
      continue;
    }
    if (is_software_managed_) {
      software_.context_started(cause.domain);
    } else if (!table_->is_held(identity.bdf) &&
               table_->choose().outcome == MissOutcome::kFreeHandle) {
      can_flush_ = true;
      const Time latency = allocate(cause.domain, identity);
      send_first(cause, identity, t, latency);
    }
  }
  s_.output.wake_at(t);
}

// Handle messages and flushes go out ahead of the TLP that needs them. [DHI D8]
// The local entry is written before any of them leaves.
void DhiAgent::send_first(const Transfer& cause, const DeviceIdentity& identity, Time t,
                          Time latency) {
  for (PacketRef& packet : first_) {
    packet->counts = cause.counts;
    packet->identity = identity;
    packet->domain = cause.domain;
    packet->stamp(Hop::kIssue, t);
    if (packet->purpose == HandlePurpose::kFlush) {
      packet->tlp.address = cause.address & ~std::uint64_t{3};
      packet->tlp.is_4dw = cause.address >> 32 != 0;
      apply_identity(packet->tlp,
                     {Identity::kBdfPasid, config_.link.dhi_form, config_.device.dhi.bits},
                     identity, std::nullopt);
      requests_.open_read(*packet, HandlePin{}, t);
    }
    s_.sizer.size(*packet);
    s_.output.send(std::move(packet), t + config_.device.timing.pipeline + latency, {});
  }
  first_.clear();
}

HandleStatus DhiAgent::install(const AllocMessage& message) {
  const std::optional<DomainId> domain = s_.functions.domain_of(message.identity, message.context);
  if (!domain) {
    return HandleStatus::kFunctionNotGranted;
  }
  return is_active_ ? table_->install(*domain, message) : HandleStatus::kNotSoftwareManaged;
}

void DhiAgent::deallocate(const DeallocMessage& message) {
  if (is_active_) {
    table_->drain(message);
  }
  has_dealloc_command_ = true;
  s_.output.begin_duties();
}

bool DhiAgent::drain(Time t) {
  if (has_to_drain()) {
    const Bdf bdf = s_.functions.base();
    can_flush_ = requests_.free_tags(0) > 0 && s_.functions.is_running(0);
    const std::size_t orders = orders_.size();
    if (!s_.functions.is_in_reset(0)) {  // which sends nothing, and forgets them
      answer_orders();
    }
    while (const std::optional<Dhi> dhi = table_->drained()) {
      const bool is_at_host = table_->deallocate(*dhi);
      if (is_at_host && !is_software_managed_ &&
          config_.device.dhi.dealloc == DeallocMode::kExplicit) {
        send_dealloc(*dhi, bdf);
      }
    }
    if (has_to_drain() && !flushes_fail()) {
      // Posted uses are known to be at the host when a later read has come back. [DHI D10]
      request_flush(bdf);
    }
    if (orders_.size() < orders) {
      s_.output.wake_at(t);  // a transfer that waits for a handle can have one
    }
    Transfer cause;
    cause.address = config_.buffer_base;
    cause.counts = false;
    send_first(cause, DeviceIdentity(bdf), t, Time{});
    look_again();
  }
  return !has_to_drain() && std::exchange(has_dealloc_command_, false);
}

void DhiAgent::reset_function(Bdf bdf) {
  if (table_) {
    table_->reset_function(bdf);
    for (Holder& one : holders_) {
      one.has_refusal = false;  // its contexts start again; others ask once more
    }
    look_again();
  }
}

// A flush that was refused, or had no answer, says nothing. After some in a row nobody waits for
// one any more: a message that needs another's handle goes in full, whatever device.dhi.on_miss
// says. Each such message tries one flush, so that the device recovers.
void DhiAgent::request_ended(const OutstandingRequest& request, TransferStatus status) {
  let_go(request, status == TransferStatus::kTimeout);
  const Packet& packet = *request.request;
  const bool is_flush = packet.purpose == HandlePurpose::kFlush;
  const bool is_ordered = !packet.tlp.relaxed_ordering && !packet.tlp.id_based_ordering;
  const bool is_done = status == TransferStatus::kDone;
  if (is_done && (is_flush || is_ordered) && table_) {
    table_->pushed_through(request.posted_serial);
  }
  if (!is_flush) {
    look_again();
    return;
  }
  flush_is_out_ = false;
  if (is_done) {
    failed_flushes_ = 0;
    unapplied_.flush_done(
        [this](const UnappliedHandles::One& one) { table_->mark_applied(one.dhi, one.residency); });
  } else {
    s_.events.refuse(packet, "flush_failed");
    failed_flushes_ = status == TransferStatus::kTimeout ? kMostFailedFlushes : failed_flushes_ + 1;
  }
  look_again();
}

// A switch may hold the request still, and lets a later ALLOC pass it. Without one the link keeps
// both in order. A conventional reset has handles negotiated anew. [DHI S2]
void DhiAgent::let_go(const OutstandingRequest& request, bool is_given_up) {
  if (!request.pin) {
    return;
  }
  if (!is_given_up || !config_.has_switch || s_.functions.is_in_conventional_reset()) {
    table_->completed(request.pin);
  } else if (table_->given_up(request.pin)) {
    ++counts_.kept;
    s_.events.refuse(*request.request, "handle_kept");
  }
}

void DhiAgent::end_context(DomainId domain) {
  // A handle that contexts of a process share is there as long as the process.
  if (!is_active_ || (!s_.functions.are_processes() && !s_.functions.context_of(domain))) {
    return;
  }
  table_->end_context(domain);
  holder(domain) = {};
  if (is_software_managed_) {
    software_.context_ended(domain);
  } else if (config_.device.dhi.allocate_at == AllocateAt::kContextCreation) {
    if (const OptionalId<Dhi> dhi = table_->find(domain)) {
      table_->drain(*dhi);
    }
  }
  if (is_draining()) {
    s_.output.begin_duties();
  }
}

DhiAgent::Addressee DhiAgent::find_addressee(Dhi dhi) {
  if (!is_active_ || !table_->range().contains(dhi)) {
    return {};
  }
  return {table_->resolve_for_host(dhi), store_->access_by_handle(dhi)};
}

const char* DhiAgent::receive(const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  // What the host says and orders comes from the host, and from no peer. [DHI S1]
  const bool is_foreign = packet.tlp.requester_id != kRootComplexId;
  const char* refusal = "bad_handle_message";
  if (const auto* ack = std::get_if<AllocAckMessage>(&message)) {
    refusal = is_foreign ? "foreign_handle_answer" : acknowledged(*ack);
  } else if (const auto* error = std::get_if<HandleErrorMessage>(&message)) {
    refusal = is_foreign ? "foreign_handle_answer" : reported(*error);
  } else if (const auto* order = std::get_if<DeallocOrder>(&message)) {
    refusal = is_foreign
                  ? "foreign_handle_order"
                  : take(*order, Bdf{static_cast<std::uint16_t>(packet.tlp.message_dw2 >> 16)});
  }
  if (is_draining()) {
    s_.output.begin_duties();
  }
  look_again();
  return refusal;
}

// Answers come in the order of the ALLOCs, so that the oldest of a handle is meant. [DHI D8]
const char* DhiAgent::acknowledged(const AllocAckMessage& message) {
  const std::optional<UnappliedHandles::One> one = unapplied_.find(message.dhi);
  if (!is_active_ || config_.device.dhi.alloc_order != AllocOrder::kAck ||
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
    holder(domain).has_refusal = true;
  }
}

void DhiAgent::start_window(Time t) {
  if (table_) {
    table_->reset_statistics();
  }
  window_ = counts_;
  window_stall_ = stalls_so_far(t);
}

DhiResult DhiAgent::result(const std::string& device, Time t) const {
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
  result.stall = stall(t).time;
  return result;
}

// A DEALLOC of the host, taken whatever is under way. There is room for each tag, and nothing has
// to be sent for it. One that is used again before its answer is the seventeenth, or a mistake.
// [DHI D15]
const char* DhiAgent::take(const DeallocOrder& order, Bdf addressed) {
  if (s_.functions.index_of(addressed) >= s_.functions.count()) {
    return "unsupported_request";
  }
  if (!is_active_) {
    return "stale_handle_order";
  }
  const bool is_taken = std::any_of(orders_.begin(), orders_.end(),
                                    [&](const Order& one) { return one.order.tag == order.tag; });
  if (is_taken) {
    return "handle_order_tag_in_use";
  }
  HandleStatus status = table_->check(order.message);
  if (status == HandleStatus::kOk && order.message.scope == DeallocScope::kFunction &&
      s_.functions.index_of(order.message.function) >= s_.functions.count()) {
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
void DhiAgent::answer_orders() {
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
    write_dhi_message(add(), one->addressed,
                      DeallocDone{order.tag, one->status, order.message.epoch});
    one = orders_.erase(one);
  }
}

}  // namespace flitwise
