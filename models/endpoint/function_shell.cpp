// SPDX-License-Identifier: Apache-2.0
// Sockets of a device, and turns between its engines.
#include "endpoint/function_shell.h"

#include <algorithm>

#include "tlp/tlp_check.h"

namespace flitwise {

FunctionShell::FunctionShell(Time clock, Time pipeline, const PacketSizer& sizer,
                             const DeviceFunctions& functions, DeviceContexts& contexts,
                             EndpointCounters& counters)
    : pipeline_(pipeline),
      sizer_(sizer),
      functions_(functions),
      contexts_(contexts),
      counters_(counters),
      wakeup_("work", clock),
      ends_wakeup_("ends", Time{1}) {
  from_link.register_nb_transport_fw(this, &FunctionShell::receive, 0);
  to_link.register_nb_transport_bw(this, &FunctionShell::link_has_room, 0);
  wakeup_.wakes("work_process", [this] { work(); });
  ends_wakeup_.wakes("ends_process", [this] {
    ends_wakeup_.taken();
    pump(now());
    ends_wakeup_.at(next_end_);
  });
}

void FunctionShell::work() {
  wakeup_.taken();
  const Time t = now();
  transfers_->check_timeouts(t);
  check_raw_timeouts(t);
  target_->serve(t);
  pump(t);
  wakeup_.at(target_->next_duty(t));
}

// [LNK-9.18]
void FunctionShell::check_raw_timeouts(Time t) {
  if (raw_ == nullptr) {
    return;
  }
  while (const PacketRef request = raw_->give_up_next(t, false)) {
    events_->refuse(*request, "completion_timeout");
    events_->timed_out(functions_.index_of(request->tlp.requester_id), t);
    ++counters_.settled;
  }
  wakeup_.at(raw_->next_timeout(t));
}

void FunctionShell::link_lost(Time t) {
  while (raw_ != nullptr && raw_->give_up_next(t, true)) {
    events_->count("link_lost");  // nobody sees the request fail
  }
}

tlm::tlm_sync_enum FunctionShell::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                          sc_core::sc_time& /*delay*/) {
  const Time t = now();
  if (packet.malformed && is_completion(packet.tlp.type)) {
    // Whatever it answers goes on waiting. [LNK-9.17]
    events_->report(0, "malformed_tlp", cfg::aer::Uncorrectable::kMalformedTlp, packet, t);
  } else if (packet.has_bad_ecrc && checks_ecrc_ && !packet.malformed) {
    events_->report(0, "ecrc_check_failed", cfg::aer::Uncorrectable::kEcrc, packet, t);
  } else if (is_completion(packet.tlp.type)) {
    if (!transfers_->complete(packet, t)) {
      // One of the raw engine, or an Unexpected Completion. A handle that no request has gone out
      // with names no function. [DHI D16]
      const Tlp& tlp = packet.tlp;
      const unsigned function =
          tlp.id_is_handle ? functions_.count() : functions_.index_of(tlp.requester_id);
      if (raw_ == nullptr || !raw_->complete(packet, t)) {
        events_->report(function, "unexpected_completion",
                        cfg::aer::Uncorrectable::kUnexpectedCompletion, packet, t);
      } else if (has_poisoned_data(tlp)) {
        events_->report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, t);
      }
    }
    pump(t);
  } else {
    target_->receive(packet, t);
  }
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum FunctionShell::link_has_room(int /*id*/, Packet& /*packet*/,
                                                tlm::tlm_phase& /*phase*/,
                                                sc_core::sc_time& /*delay*/) {
  const Time t = now();
  is_full_.fill(false);
  target_->link_has_room(t);
  outbox_.drain([this](const Outbox::Entry& entry) { return hand_over(entry); });
  pump(t);
  return tlm::TLM_COMPLETED;
}

// In one piece, as all that each transfer goes through.
[[gnu::flatten]] void FunctionShell::pump(Time t) {
  if (next_end_ <= t) {
    transfers_->end_due(t);
    next_end_ = transfers_->next_end();
  }
  while (functions_.is_bus_master() && outbox_.empty()) {
    // One that is being sent, that goes on, or that an engine gives.
    const NextTransfer next = transfers_->next(t);
    if (next == NextTransfer::kFull || (next == NextTransfer::kNew && !begin_transfer(t)) ||
        !transfers_->send_next(t)) {
      break;
    }
  }
  if (raw_ != nullptr && (functions_.is_bus_master() || functions_.is_running(0))) {
    const auto may_request = [this](std::optional<Bdf> requester) {
      return functions_.may_send(requester);
    };
    for (PacketRef packet; outbox_.empty() && (packet = raw_->next(may_request));) {
      send_raw(std::move(packet), t + pipeline_, t);
      wakeup_.at(raw_->next_timeout(t));
    }
  }
  if (has_duties_) {
    has_duties_ = target_->do_duties(t);
  }
}

[[gnu::noinline]] void FunctionShell::send_raw(PacketRef packet, Time ready, Time t) {
  packet->is_raw = true;
  packet->stamp(Hop::kIssue, t);
  ++counters_.settled;
  counters_.posted_bytes += packet->tlp.type == TlpType::kMWr ? packet->payload_bytes : 0;
  send(std::move(packet), ready, {});
}

void FunctionShell::inject(PacketRef packet) {
  if (packet->size.total() == 0) {
    sizer_.size(*packet);
  }
  send_raw(std::move(packet), now(), now());
  wake_at(now());
}

bool FunctionShell::begin_transfer(Time t) {
  if (t >= idle_until_) {
    idle_until_ = Time::never();
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      Engine& engine = *engines_[(turn_ + i) % engines_.size()];
      const bool has_work = engine.next(t, transfer_);
      if (has_work && (!contexts_.are_tracked() || drop_stopped(engine, t))) {
        turn_ = (turn_ + i + 1) % engines_.size();
        transfers_->begin(engine, transfer_, t);
        transfer_ = Transfer{};
        idle_until_ = Time{};
        return true;
      }
      idle_until_ = std::min(idle_until_, engine.next_at());
    }
  }
  wakeup_.at(idle_until_);
  return false;
}

// What the engine gives out for a context that is over is never sent; false: that was all.
[[gnu::noinline]] bool FunctionShell::drop_stopped(Engine& engine, Time t) {
  while (contexts_.is_over(transfer_.domain)) {
    events_->count("context_over");
    engine.finished({transfer_.token, transfer_.op, TransferStatus::kContextEnded, t});
    if (!engine.next(t, transfer_)) {
      return false;
    }
  }
  contexts_.begin_transfer(transfer_.domain);
  return true;
}

bool FunctionShell::may_leave(FcClass fc, Time t) {
  if (is_full(fc)) {
    full_since_ = std::min(full_since_, t);
    return false;
  }
  outbox_.waits().add(full_since_, t);
  full_since_ = Time::never();
  return true;
}

[[gnu::flatten]] void FunctionShell::send(PacketRef packet, Time ready, HandlePin posted_pin) {
  outbox_.send({std::move(packet), ready, posted_pin},
               [this](const Outbox::Entry& entry) { return hand_over(entry); });
}

// Gives one packet to the link, to arrive there when it is ready.
bool FunctionShell::hand_over(const Outbox::Entry& entry) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  const Time t = now();
  sc_core::sc_time delay = entry.ready > t ? to_sc_time(entry.ready - t) : sc_core::SC_ZERO_TIME;
  const FcClass fc = fc_class(entry.packet->tlp.type);
  const tlm::tlm_sync_enum answer = to_link->nb_transport_fw(*entry.packet, phase, delay);
  is_full_[static_cast<std::size_t>(fc)] = answer != tlm::TLM_COMPLETED;
  if (!is_taken(answer)) {
    return false;
  }
  transfers_->sent(*entry.packet, entry.posted_pin);
  return true;
}

}  // namespace flitwise
