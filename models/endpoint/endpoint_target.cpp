// SPDX-License-Identifier: Apache-2.0
// What comes to a device unasked, and what software does to it: each to the part that it is for.
#include "config_space/ats_capability.h"
#include "config_space/registers.h"
#include "endpoint/endpoint.h"

namespace flitwise {

void Endpoint::ecrc_controlled(const EcrcControl& control) {
  sizer_.set_ecrc(control.generates);
  shell_.check_ecrc(control.checks);
}

void Endpoint::negotiated(const Negotiated& outcome, bool is_software_managed) {
  dhi().negotiated(outcome, is_software_managed);
}

void Endpoint::function_level_reset(unsigned function) {
  begin_reset(function, ResetKind::kFunctionLevel);
}

void Endpoint::begin_reset(unsigned function, ResetKind kind) {
  resets_.start(function, kind, now());
  if (functions_.are_apart()) {
    reset_begun_(function);
    const unsigned last = function == 0 ? functions_.count() : function + 1U;
    for (unsigned f = function; f < last; ++f) {
      requests_.drop(f, now());
    }
  }
}

void Endpoint::controlled(const DeviceControl& control) {
  control_ = {control.mps, control.mrrs,
              config_.device.dma.relaxed_ordering && control.relaxed_ordering,
              config_.device.dma.id_based_ordering && control.id_based_ordering,
              config_.device.dma.no_snoop && control.no_snoop};
  requests_.set_tag_bits(control.tag_bits);
  if (shell_.raw() != nullptr) {
    shell_.raw()->controlled(control);
  }
  translation_written(0);  // MRRS bounds what a function asks for [ATR-09]
}

void Endpoint::receive(Packet& packet, Time t) {
  if (is_dhi_message(packet.tlp)) {
    took_message(packet);
    if (const char* const kind = handles_.receive(packet)) {
      refuse(packet, kind);
    }
    shell_.pump(t);
    return;
  }
  if (is_message(packet.tlp.type)) {
    receive_message(packet, t);
    return;
  }
  if (target_.receive(PacketRef(&packet), t)) {
    shell_.wake_at(t + config_.device.timing.pipeline);
  }
}

// A message is for the function behind its handle, and its context, else for the one it names.
// [DHI D22]
void Endpoint::receive_message(Packet& packet, Time t) {
  const WireIdentity identity = flitwise::identity_of(packet.tlp, config_.form());
  unsigned function = packet.tlp.routing == MsgRouting::kById ? function_of(identity.full.bdf) : 0U;
  std::optional<DeviceIdentity> behind_handle;
  if (identity.handle) {
    const DhiAgent::Addressee addressee = dhi().find_addressee(*identity.handle);
    t += addressee.latency;
    if (addressee.entry) {
      behind_handle = addressee.entry->identity;
      packet.resolved_context = addressee.entry->context;
      function = function_of(behind_handle->bdf);
    } else if (packet.tlp.message_code == msg::kPrgResponse && translations_ != nullptr) {
      function = 0;  // its index tells whom it answers
    } else {
      report(0, "invalid_handle", cfg::aer::Uncorrectable::kUnsupportedRequest, packet, t);
      return;
    }
  }
  const bool is_ours = function < functions_.count();
  if (translations_ != nullptr && is_ours &&
      translations_->receive(packet, function, behind_handle ? &*behind_handle : nullptr, t)) {
    return;
  }
  target_.receive(PacketRef(&packet), t, is_ours ? function : 0U);
  shell_.wake_at(t + config_.device.timing.pipeline);
}

void Endpoint::serve(Time t) {
  if (target_.is_quiet()) {
    return;
  }
  target_.work(t);
  drain_target(t);
  const Time again = target_.next_work(t);
  if (again != Time::never()) {
    shell_.wake_at(again);
  }
}

void Endpoint::link_has_room(Time t) {
  if (translations_ != nullptr) {
    translations_->look_again(t);
  }
  if (target_waits_) {
    drain_target(t);
  }
}

// Answers may be refused and messages behind them taken. [LNK-9.20]
void Endpoint::drain_target(Time t) {
  target_waits_ = false;
  target_.drain(t, [this](Packet& packet) {
    const bool is_taken = shell_.offer(packet);
    target_waits_ |= !is_taken;
    return is_taken;
  });
}

bool Endpoint::do_duties(Time t) {
  if (handles_.is_draining() && handles_.drain(t)) {
    registers_.handle_registers().finish(HandleStatus::kOk);
  }
  const bool resets_go_on = resets_.do_duties(t);
  return resets_go_on || handles_.is_draining();
}

Time Endpoint::next_duty(Time t) const {
  return translations_ != nullptr ? translations_->unit().parked.next_time(t) : Time::never();
}

void Endpoint::report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
                      const Packet& packet, Time t) {
  target_.report(function, kind, error, packet, t);
  shell_.wake_at(t + config_.device.timing.pipeline);
}

void Endpoint::timed_out(unsigned function, Time t) {
  target_.report_timeout(function, t);
  shell_.wake_at(t + config_.device.timing.pipeline);
}

void Endpoint::replay_num_rolled_over() {
  target_.report(0, cfg::aer::Correctable::kReplayNumRollover, now());
  shell_.wake_at(now() + config_.device.timing.pipeline);
}

void Endpoint::refuse(const Packet& packet, const char* kind) {
  count(kind);
  tell(kind, packet);
}

void Endpoint::tell(const char* what, const Packet& packet) const {
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), name(), what, "", &packet});
  }
}

void Endpoint::wake() {
  handles_.look_again();
  if (translations_ != nullptr) {
    translations_->look_again(now());
  }
  shell_.ask_engines();
  shell_.wake_at(now());
}

void Endpoint::set_bus_master(bool is_enabled) {
  functions_.set_bus_master(is_enabled);
  if (is_enabled) {
    wake();
  }
}

void Endpoint::enable_vfs() {
  target_.enable_vfs();
  functions_.enable_vfs();
  wake();
}

void Endpoint::command_written(unsigned function) {
  const bool is_enabled = target_.space(function).bus_master_enabled();
  if (function == 0) {
    set_bus_master(is_enabled);
  } else if (functions_.enable_vf(function, is_enabled)) {
    wake();
  } else if (functions_.are_apart() && !functions_.is_running(function)) {
    requests_.drop(function, now());
    wake();
  }
}

// Software's registers act as if the message had come from the link. [DHI D12, D15]
void Endpoint::execute(const HandleCommand& command) {
  if (const auto* alloc = std::get_if<AllocMessage>(&command)) {
    registers_.handle_registers().finish(handles_.install(*alloc));
  } else {
    handles_.deallocate(std::get<DeallocMessage>(command));
  }
  shell_.pump(now());
}

void Endpoint::link_going_down() {
  functions_.set_bus_master(false);
  target_.discard();
  hot_reset();
}

void Endpoint::link_lost() {
  requests_.link_lost(now());
  shell_.link_lost(now());
}

bool Endpoint::is_clear(unsigned function) const {
  return requests_.is_clear(function) && !shell_.has_unsent([&](const Packet& packet) {
    return function_of(packet.identity.bdf) == function;
  });
}

bool Endpoint::has_unsent(DomainId domain) const {
  return shell_.has_unsent([domain](const Packet& packet) { return packet.domain == domain; });
}

// All of it goes back to its reset values; function 0 takes all others with it.
void Endpoint::forget(unsigned function, ResetKind kind) {
  if (function != 0) {
    dhi().reset_function(functions_.bdf_of(function));
  }
  registers_.reset(function);
  target_.reset(function, kind);
  const unsigned last = function == 0 ? functions_.count() : function + 1U;
  for (unsigned f = function; translations_ != nullptr && f < last; ++f) {
    translations_->forget(f);
  }
  if (function == 0 && reset_more_) {
    reset_more_();
  }
}

std::optional<DeviceIdentity> Endpoint::context_to_stop() const {
  const std::optional<ContextStop> order = registers_.context_stop();
  return order ? std::optional<DeviceIdentity>({order->function, order->pasid}) : std::nullopt;
}

void Endpoint::context_stopped(std::optional<DomainId> domain, Time t) {
  if (domain) {
    if (config_.device.dhi.management == HandleManagement::kDevice) {
      handles_.end_context(*domain);  // software gives up what it manages itself [DHI D12]
    }
    if (translations_ != nullptr) {
      translations_->end_context(*domain, true, t);
    }
  }
  registers_.context_stopped();
}

// Registers of the PF count for all. [CFG-07] [CFG-12]
void Endpoint::translation_written(unsigned function) {
  if (translations_ == nullptr) {
    return;
  }
  AtsUnit& unit = translations_->unit();
  const PasidControl pasid = pasid_control(target_.space(0));
  unit.set_pasid(pasid.is_enabled);
  for (unsigned f = 0; f < functions_.count(); ++f) {
    if (f != function && (function != 0 || !unit.knows(f))) {
      continue;
    }
    const AtsControl ats = ats_control(target_.space(f), f == 0 ? nullptr : &target_.space(0));
    TranslationSettings settings;
    settings.is_enabled = ats.is_enabled;
    settings.is_page_aligned = ats.is_page_aligned;
    settings.stu = ats.stu;
    settings.has_pasid = pasid.is_enabled;
    settings.has_execute = pasid.has_execute;
    settings.has_privileged = pasid.has_privileged;
    settings.rcb_bytes = static_cast<unsigned>(config_.link.rcb);
    settings.mrrs_bytes = control_.mrrs;
    translations_->configure(f, settings);
  }
  unit.pages_written(now());
  wake();
}

void Endpoint::set_up_translation(bool enables_ats) {
  if (translations_ == nullptr) {
    return;
  }
  const auto configure = [this](unsigned function, const std::vector<CfgAccess>& accesses) {
    for (const CfgAccess& access : accesses) {
      target_.configure(function, access);
    }
  };
  const auto start_of = [this](unsigned function, std::uint16_t id) {
    return target_.space(function).find_extended(id);
  };
  if (const auto start = start_of(0, cfg::kExtPasid)) {
    configure(0, pasid_accesses(base(), *start, {true, false, false, 0}));
  }
  for (unsigned f = 0; enables_ats && f < functions_.count(); ++f) {
    configure(f, ats_accesses(base(), *start_of(f, cfg::kExtAts), config_.device.atc.stu, true));
  }
  const auto pages = start_of(0, cfg::kExtPri);
  if (enables_ats && pages) {
    configure(0, pri_accesses(base(), *pages, config_.device.pri.allocation, true));
  }
}

}  // namespace flitwise
