// SPDX-License-Identifier: Apache-2.0
// The device's use of handles.
#include "endpoint/dhi_agent.h"

#include <algorithm>

#include "tlp/wire_size.h"

namespace flitwise {

DhiAgent::DhiAgent(const DeviceConfig& device, PacketPool& pool) : config_(device), pool_(pool) {}

void DhiAgent::negotiated(const Negotiated& outcome) {
  if (!outcome.is_active()) {
    table_.reset();
    store_.reset();
    return;
  }
  table_ = std::make_unique<DeviceHandleTable>(
      DeviceHandleTableConfig::from(config_, outcome.range, outcome.epoch));
  store_ = std::make_unique<HandleStore>(config_.dhi.storage, outcome.range);
  unapplied_.clear();
  covered_by_flush_ = 0;
}

DhiAgent::Answer DhiAgent::acquire(DomainId domain, const DeviceIdentity& identity, UseKind kind,
                                   bool can_flush, std::vector<PacketRef>& first) {
  can_flush_ = can_flush;
  const std::optional<Dhi> dhi = table_->find(domain);
  if (waiting_domain_ != domain) {
    table_->record_lookup(dhi.has_value());
  }
  // What was allocated while a flush was out needs one of its own.
  if (!unapplied_.empty() && config_.dhi.alloc_order == AllocOrder::kFlush) {
    request_flush(identity.bdf, first);
  }
  Answer answer = dhi ? hit(*dhi, kind) : miss(domain, identity, kind, first);
  waiting_domain_ = answer.outcome == Outcome::kWait ? domain : DomainId{0xffff'ffff};
  return answer;
}

DhiAgent::Answer DhiAgent::hit(Dhi dhi, UseKind kind) {
  Answer answer;
  answer.outcome = Outcome::kHandle;
  answer.dhi = dhi;
  answer.pin = table_->pin(dhi, kind);
  answer.must_keep_order = !table_->is_applied(dhi);
  answer.latency = store_->search_by_domain(dhi);
  return answer;
}

DhiAgent::Answer DhiAgent::miss(DomainId domain, const DeviceIdentity& identity, UseKind kind,
                                std::vector<PacketRef>& first) {
  const Choice choice = table_->choose();
  switch (choice.outcome) {
    case MissOutcome::kFreeHandle:
    case MissOutcome::kVictimReady: {
      allocate(domain, identity, first);
      return hit(*table_->find(domain), kind);
    }
    case MissOutcome::kWaitForSend:
    case MissOutcome::kWaitForCompletion:
    case MissOutcome::kWaitForPush:
    case MissOutcome::kNotHere:
      break;
  }
  return wait_or_bypass(choice.outcome, identity, first);
}

// No handle can be had now: the message goes in full, or it waits. [DHI D9]
DhiAgent::Answer DhiAgent::wait_or_bypass(MissOutcome outcome, const DeviceIdentity& identity,
                                          std::vector<PacketRef>& first) {
  Answer answer;
  if (outcome == MissOutcome::kNotHere || config_.dhi.on_miss == OnMiss::kBypass) {
    ++bypasses_;
    answer.latency = store_->search_by_domain(std::nullopt);
    return answer;
  }
  answer.outcome = Outcome::kWait;
  if (outcome == MissOutcome::kWaitForPush) {
    request_flush(identity.bdf, first);
  }
  return answer;
}

// The local table first, then the messages. [DHI D8, D11]
void DhiAgent::allocate(DomainId domain, const DeviceIdentity& identity,
                        std::vector<PacketRef>& first) {
  const Allocation allocation = table_->allocate(domain, identity, false, 0);
  if (allocation.needs_dealloc_message) {
    ++deallocs_;
    DeallocMessage dealloc;
    dealloc.dhi = allocation.dhi;
    dealloc.epoch = table_->epoch();
    PacketRef packet = pool_.make(PacketKind::kTlp);
    write_dealloc(*packet, identity.bdf, dealloc);
    first.push_back(std::move(packet));
  }
  PacketRef packet = pool_.make(PacketKind::kTlp);
  write_alloc(*packet, identity.bdf, allocation.message);
  first.push_back(std::move(packet));
  switch (config_.dhi.alloc_order) {
    case AllocOrder::kNone:
      table_->mark_applied(allocation.dhi, allocation.residency);
      break;
    case AllocOrder::kAck:
      unapplied_.push_back({allocation.dhi, allocation.residency});
      break;
    case AllocOrder::kFlush:
      unapplied_.push_back({allocation.dhi, allocation.residency});
      request_flush(identity.bdf, first);
      break;
  }
}

// A zero-length read; with `flush` it covers every ALLOC sent before it (with `ack` only the answer
// of the host counts). One is out at a time.
void DhiAgent::request_flush(Bdf bdf, std::vector<PacketRef>& first) {
  if (flush_is_out_ || !can_flush_) {
    return;
  }
  PacketRef flush = pool_.make(PacketKind::kTlp);
  flush->purpose = HandlePurpose::kFlush;
  flush->tlp.type = TlpType::kMRd;
  flush->tlp.requester_id = bdf;
  flush->tlp.length_dw = 1;
  first.push_back(std::move(flush));
  flush_is_out_ = true;
  covered_by_flush_ = config_.dhi.alloc_order == AllocOrder::kFlush ? unapplied_.size() : 0;
  ++flushes_;
}

void DhiAgent::pushed_through(std::uint64_t serial) {
  if (table_) {
    table_->pushed_through(serial);
  }
}

void DhiAgent::flush_done(std::uint64_t serial) {
  if (!table_) {
    return;
  }
  flush_is_out_ = false;
  pushed_through(serial);
  const auto covered = unapplied_.begin() + static_cast<std::ptrdiff_t>(covered_by_flush_);
  std::for_each(unapplied_.begin(), covered,
                [this](const Unapplied& one) { table_->mark_applied(one.dhi, one.residency); });
  unapplied_.erase(unapplied_.begin(), covered);
  covered_by_flush_ = 0;
}

void DhiAgent::end_context(DomainId domain) {
  if (table_) {
    table_->end_context(domain);
  }
}

void DhiAgent::receive(const DhiMessage& message) {
  if (!table_) {
    return;
  }
  if (const auto* ack = std::get_if<AllocAckMessage>(&message)) {
    const auto one = std::find_if(unapplied_.begin(), unapplied_.end(),
                                  [&](const Unapplied& u) { return u.dhi == ack->dhi; });
    if (one == unapplied_.end()) {
      return;
    }
    ++acks_;
    if (ack->status == HandleStatus::kOk) {
      table_->mark_applied(one->dhi, one->residency);
    } else {
      ++refused_;
      table_->invalidate(one->dhi);
    }
    unapplied_.erase(one);
  } else if (const auto* error = std::get_if<HandleErrorMessage>(&message)) {
    ++refused_;
    if (table_->range().contains(error->dhi) && error->epoch == table_->epoch()) {
      table_->invalidate(error->dhi);
    }
  }
}

void DhiAgent::start_window() {
  if (table_) {
    table_->reset_statistics();
  }
  window_deallocs_ = deallocs_;
  window_bypasses_ = bypasses_;
  window_flushes_ = flushes_;
  window_acks_ = acks_;
  window_refused_ = refused_;
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
  result.deallocs = deallocs_ - window_deallocs_;
  result.bypasses = bypasses_ - window_bypasses_;
  result.flushes = flushes_ - window_flushes_;
  result.acks = acks_ - window_acks_;
  result.rejected = refused_ - window_refused_;
  return result;
}

}  // namespace flitwise
