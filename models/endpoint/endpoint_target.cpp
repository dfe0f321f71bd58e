// SPDX-License-Identifier: Apache-2.0
// The function shell: what software does to it. Answers come from the target unit.
#include <algorithm>

#include "endpoint/endpoint.h"
#include "workload/workload.h"

namespace flitwise {

TargetUnit::Hooks Endpoint::target_hooks() {
  TargetUnit::Hooks hooks;
  hooks.numbered = [this](std::uint8_t bus) { set_base(Bdf::of(bus, 0, 0)); };
  hooks.command_written = [this](unsigned function) { command_written(function); };
  hooks.controlled = [this](const DeviceControl& control) {
    mps_ = control.mps;
    mrrs_ = control.mrrs;
    outstanding_.set_tag_bits(control.tag_bits);
    relaxed_ordering_ = config_.device.dma.relaxed_ordering && control.relaxed_ordering;
    id_based_ordering_ = config_.device.dma.id_based_ordering && control.id_based_ordering;
    if (raw_ != nullptr) {
      raw_->controlled(control);
    }
    if (ats_ != nullptr) {
      translation_written(0);  // MRRS bounds what a function asks for [ATR-09]
    }
  };
  hooks.ecrc_controlled = [this](const EcrcControl& control) {
    sizer_.set_ecrc(control.generates);
    checks_ecrc_ = control.checks;
  };
  hooks.negotiated = [this](const Negotiated& outcome, bool is_software_managed) {
    dhi_.negotiated(outcome, is_software_managed);
  };
  hooks.flr = [this](unsigned function) { start_reset(function, ResetKind::kFunctionLevel); };
  hooks.is_in_reset = [this](unsigned function) {
    return functions_[function] == FunctionState::kInReset;
  };
  hooks.translation_written = [this](unsigned function) { translation_written(function); };
  hooks.misused = [this](const char* kind) { ++errors_[kind]; };
  hooks.handle_command = [this](const HandleCommand& command) { execute(command); };
  hooks.refused = [this](const Packet& packet, const char* kind) { refuse(packet, kind); };
  hooks.bar_written = [this](unsigned function, std::uint64_t offset,
                             const std::vector<std::uint8_t>& bytes) {
    written(function, offset, bytes);
  };
  return hooks;
}

void Endpoint::receive_request(Packet& packet, Time t) {
  if (is_dhi_message(packet.tlp)) {
    if (observer_ != nullptr && *observer_) {
      (*observer_)({t, name(), "message", "", &packet});
    }
    if (const char* const kind = receive_handle_message(packet)) {
      refuse(packet, kind);
    }
    is_draining_ = is_draining_ || dhi_.is_draining();
    has_duties_ = has_duties_ || is_draining_;
    pump(t);
    return;
  }
  if (is_message(packet.tlp.type)) {
    receive_message(packet, t);
    return;
  }
  target_.receive(PacketRef(&packet), t);
  wakeup_.at(t + config_.device.timing.pipeline);
}

// Returns nullptr, or why it changes nothing. What the host orders comes from the host.
const char* Endpoint::receive_handle_message(const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  const auto* const order = std::get_if<DeallocOrder>(&message);
  if (order == nullptr) {
    return dhi_.receive(message);
  }
  const Bdf addressed{static_cast<std::uint16_t>(packet.tlp.message_dw2 >> 16)};
  if (packet.tlp.requester_id != kRootComplexId) {
    return "foreign_handle_order";
  }
  return function_of(addressed) < config_.device.functions.count
             ? dhi_.take(*order, addressed, base_)
             : "unsupported_request";
}

// A message is for the function behind its handle, else for the one it names. [DHI D22]
void Endpoint::receive_message(Packet& packet, Time t) {
  const WireIdentity identity = flitwise::identity_of(packet.tlp, form_);
  unsigned function = packet.tlp.routing == MsgRouting::kById ? function_of(identity.full.bdf) : 0U;
  Time latency{};
  std::optional<DeviceIdentity> behind_handle;
  if (identity.handle) {
    const DhiAgent::Addressee addressee = dhi_.find_addressee(*identity.handle);
    if (!addressee.entry) {
      target_.report(0, "invalid_handle", cfg::aer::Uncorrectable::kUnsupportedRequest, packet, t);
      wakeup_.at(t + config_.device.timing.pipeline);
      return;
    }
    function = function_of(addressee.entry->identity.bdf);
    latency = addressee.latency;
    behind_handle = addressee.entry->identity;
  }
  const bool is_ours = function < config_.device.functions.count;
  if (ats_ != nullptr && is_ours &&
      receive_ats_message(packet, function, behind_handle ? &*behind_handle : nullptr,
                          t + latency)) {
    return;
  }
  target_.receive(PacketRef(&packet), t + latency, is_ours ? function : 0U);
  wakeup_.at(t + latency + config_.device.timing.pipeline);
}

void Endpoint::serve_target(Time t) {
  if (target_.is_quiet()) {
    return;
  }
  target_.work(t);
  drain_target(t);
  const Time again = target_.next_work(t);
  if (again != Time::never()) {
    wakeup_.at(again);
  }
}

void Endpoint::replay_num_rolled_over() {
  target_.report(0, cfg::aer::Correctable::kReplayNumRollover, now());
  wakeup_.at(now() + config_.device.timing.pipeline);
}

void Endpoint::drain_target(Time t) {
  target_.drain(t, [this](Packet& packet) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const bool is_accepted = is_taken(to_link->nb_transport_fw(packet, phase, delay));
    target_waits_ = !is_accepted;
    return is_accepted;
  });
}

void Endpoint::written(unsigned function, std::uint64_t offset,
                       const std::vector<std::uint8_t>& bytes) {
  if (tracks_contexts_ && function == 0 && offset == TargetUnit::kContextStop) {
    check_context_stop();
  }
  for (Engine* engine : engines_) {
    engine->on_mmio_write(function, offset, bytes, now());
  }
}

void Endpoint::set_bus_master(bool is_enabled) {
  is_bus_master_ = is_enabled;
  if (is_enabled) {
    wake();
  }
}

// Of an ID that is none of its functions nobody is asked.
bool Endpoint::may_send(std::optional<Bdf> requester) const {
  const unsigned function = requester ? function_of(*requester) : 0U;
  return !requester || function >= functions_.size() ||
         functions_[function] == FunctionState::kRunning;
}

// The PF has no state of its own for it: see is_bus_master_.
void Endpoint::stop_vfs() {
  std::fill(functions_.begin(), functions_.end(), FunctionState::kStopped);
  functions_[0] = FunctionState::kRunning;
  not_running_ = static_cast<unsigned>(functions_.size()) - 1U;
}

void Endpoint::enable_vfs() {
  target_.enable_vfs();
  for (std::size_t f = 1; f < functions_.size(); ++f) {
    if (functions_[f] == FunctionState::kStopped) {
      functions_[f] = FunctionState::kRunning;
      --not_running_;
    }
  }
  wake();
}

// A VF sends while its own enable is set and the PF's. [LNK-9.27]
void Endpoint::command_written(unsigned function) {
  const bool is_enabled = target_.space(function).bus_master_enabled();
  FunctionState& state = functions_[function];
  if (function == 0) {
    set_bus_master(is_enabled);
  } else if (is_enabled && state == FunctionState::kStopped) {
    state = FunctionState::kRunning;
    --not_running_;
    wake();
  } else if (!is_enabled && state == FunctionState::kRunning) {
    state = FunctionState::kStopped;
    ++not_running_;
  }
}

std::optional<DomainId> Endpoint::domain_of(const DeviceIdentity& identity) const {
  const std::optional<DomainId> domain = domains_.domain(function_of(identity.bdf), identity.pasid);
  return domain && to_int(*domain) < domain_ids(config_.workload) ? domain : std::nullopt;
}

// Software's registers act as if the message had come from the link. [DHI D12, D15]
void Endpoint::execute(const HandleCommand& command) {
  if (const auto* alloc = std::get_if<AllocMessage>(&command)) {
    const std::optional<DomainId> domain = domain_of(alloc->identity);
    target_.handle_registers().finish(domain ? dhi_.install(*domain, *alloc)
                                             : HandleStatus::kFunctionNotGranted);
    pump(now());
    return;
  }
  dhi_.deallocate(std::get<DeallocMessage>(command));
  has_dealloc_command_ = true;
  is_draining_ = has_duties_ = true;
  pump(now());
}

// What goes on beside the traffic, now and then.
void Endpoint::do_duties(Time t) {
  if (is_draining_) {
    drain_handles(t);
  }
  if (in_reset_ != 0) {
    check_resets(t);
  }
  if (is_stopping_) {
    check_context_stop();
  }
  has_duties_ = is_draining_ || in_reset_ != 0 || is_stopping_;
}

// Handles that are given up wait for their last uses; a flush finds out. [DHI D10]
void Endpoint::drain_handles(Time t) {
  if (dhi_.is_draining()) {
    const DeviceIdentity identity(base_);
    const bool can_flush =
        outstanding_.free_tags(0) > 0 && functions_[0] == FunctionState::kRunning;
    const std::size_t orders = dhi_.orders();
    if (functions_[0] != FunctionState::kInReset) {  // which sends nothing, and forgets them
      dhi_.answer_orders(first_);
    }
    dhi_.drain(base_, can_flush, first_);
    if (dhi_.orders() < orders) {
      wake();  // who waits for a handle can have one
    }
    Transfer cause;
    cause.address = config_.workload.buffer_base;
    cause.counts = false;
    queue_first(cause, identity, t, Time{});
  }
  is_draining_ = dhi_.is_draining();
  if (!is_draining_ && has_dealloc_command_) {
    has_dealloc_command_ = false;
    target_.handle_registers().finish(HandleStatus::kOk);
  }
}

void Endpoint::start_contexts(std::uint32_t count, bool counts) {
  if (form_.identity != Identity::kDhi || !dhi_.is_active() ||
      (config_.device.dhi.allocate_at != AllocateAt::kContextCreation &&
       config_.device.dhi.management != HandleManagement::kSoftware)) {
    return;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    Transfer cause;
    cause.domain = DomainId{index};
    cause.address = config_.workload.buffer_base;
    cause.counts = counts;
    const DeviceIdentity identity = identity_of(cause.domain);
    const Time latency = dhi_.start_context(cause.domain, identity, first_);
    queue_first(cause, identity, now(), latency);
  }
  wake();
}

void Endpoint::hot_reset() {
  start_reset(0, ResetKind::kConventional);
}

void Endpoint::link_going_down() {
  is_bus_master_ = false;
  target_.discard();
  hot_reset();
}

void Endpoint::link_lost() {
  give_up_requests(Time::never(), "link_lost", now());
}

// Function 0 takes all others with it. What it has under way goes to its end first; then its
// handles are gone. [DHI D4]
void Endpoint::start_reset(unsigned function, ResetKind kind) {
  reset_kind_ = kind;
  has_duties_ = true;
  ++resets_;
  const std::size_t last = function == 0 ? functions_.size() : function + 1U;
  for (std::size_t f = function; f < last; ++f) {
    not_running_ += functions_[f] == FunctionState::kRunning ? 1 : 0;
    in_reset_ += functions_[f] != FunctionState::kInReset ? 1 : 0;
    functions_[f] = FunctionState::kInReset;
  }
  wake();
}

bool Endpoint::is_clear(unsigned function) const {
  return outstanding_.in_use(function) == 0 && !outbox_.has([&](const Packet& packet) {
    return function_of(packet.identity.bdf) == function;
  }) && !ends_.has([&](std::uint32_t slot) {
    return function_of(identity_of(active_[slot].transfer.domain).bdf) == function;
  });
}

void Endpoint::check_resets(Time /*t*/) {
  if (functions_[0] == FunctionState::kInReset) {
    // All of them, at once.
    if (outstanding_.size() == 0 && outbox_.empty() && ends_.empty()) {
      end_reset(0);
    }
    return;
  }
  for (unsigned f = 1; f < functions_.size(); ++f) {
    if (functions_[f] == FunctionState::kInReset && is_clear(f)) {
      end_reset(f);
    }
  }
}

void Endpoint::end_reset(unsigned function) {
  if (function != 0) {
    functions_[function] = FunctionState::kStopped;
    --in_reset_;
    dhi_.reset_function(Bdf{static_cast<std::uint16_t>(base_.value + function)});
  } else {
    // The PF's own enable holds all of them back; behind it each VF waits for its own.
    stop_vfs();
    in_reset_ = 0;
    is_bus_master_ = false;
  }
  target_.reset(function, reset_kind_);
  const std::size_t last = function == 0 ? functions_.size() : function + 1U;
  for (std::size_t f = function; ats_ != nullptr && f < last; ++f) {
    const auto index = static_cast<unsigned>(f);
    ats_->reset(index, Bdf{static_cast<std::uint16_t>(base_.value + index)});
  }
  const auto is_forgotten = [&](const EndedContext& one) {
    return function == 0 || function_of(identity_of(one.domain).bdf) == function;
  };
  ended_contexts_.erase(
      std::remove_if(ended_contexts_.begin(), ended_contexts_.end(), is_forgotten),
      ended_contexts_.end());
}

}  // namespace flitwise
