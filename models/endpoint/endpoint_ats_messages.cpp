// SPDX-License-Identifier: Apache-2.0
// The function shell: what the translation agent says unasked, and what software sets.
#include <algorithm>

#include "config_space/ats_capability.h"
#include "config_space/registers.h"
#include "endpoint/endpoint.h"
#include "tlp/tlp_check.h"

namespace flitwise {

// False: it is no message of the agent, or one that the target unit has to refuse. [PRI-04]
bool Endpoint::receive_ats_message(const Packet& packet, unsigned function,
                                   const DeviceIdentity* behind_handle, Time t) {
  const Tlp& tlp = packet.tlp;
  const bool is_request = tlp.message_code == msg::kInvalidateRequest;
  const bool is_response =
      tlp.message_code == msg::kPrgResponse && target_.page_requests() != nullptr;
  if ((!is_request && !is_response) || packet.malformed || tlp.is_poisoned ||
      check_tlp(tlp, TlpLimits()) || (is_request && packet.payload.size() < kInvalidateBodyBytes)) {
    return false;
  }
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), name(), "message", "", &packet});
  }
  if (functions_[function] == FunctionState::kInReset) {
    return true;  // [CFG-03]
  }
  if (is_request) {
    invalidate(packet, function, behind_handle, t);
  } else {
    take_prg_response(packet, t);
  }
  wakeup_.at(t + config_.device.timing.pipeline);
  return true;
}

// It takes effect at once, whatever else is under way. [INV-19] [INV-23] [INV-25]
void Endpoint::invalidate(const Packet& packet, unsigned function,
                          const DeviceIdentity* behind_handle, Time t) {
  InvalidateRequest request = invalidate_request_of(packet.tlp, packet.payload.data());
  request.function = Bdf{static_cast<std::uint16_t>(base_.value + function)};
  if (behind_handle != nullptr) {
    request.pasid = behind_handle->pasid;
  }
  invalidation_counts_ = packet.counts;
  switch (ats_->invalidate(function, request)) {
    case InvalidateVerdict::kAccept:
      send_invalidate_completions(function, t);
      break;
    case InvalidateVerdict::kUnsupportedRequest:
      target_.report(function, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest,
                     packet, t);
      break;
    case InvalidateVerdict::kBusyItag:
      refuse(packet, "itag_in_use");
      break;
  }
}

// Behind all writes, which stand in the outbox before them. [INV-07] [INV-08]
void Endpoint::send_invalidate_completions(unsigned function, Time t) {
  while (ats_->has_completion(function)) {
    const InvalidateCompletion completion = ats_->take_completion(function);
    send_ats_message(invalidate_completion_tlp(completion), completion.function,
                     invalidation_counts_, t);
  }
}

void Endpoint::send_ats_message(const Tlp& tlp, Bdf function, bool counts, Time t) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp = tlp;
  packet->identity = DeviceIdentity(function);
  packet->counts = counts;
  packet->stamp(Hop::kIssue, now());
  sizer_.size(*packet);
  queue(std::move(packet), t + config_.device.timing.pipeline);
}

// [PRI-08] [PRI-09] [PRI-11] [PRI-29]
void Endpoint::take_prg_response(const Packet& packet, Time t) {
  const PrgResponse response = prg_response_of(packet.tlp);
  const auto is_answered = [&](const ParkedTransfer& parked) {
    return parked.state == ParkedState::kAwaitsPage && parked.prg_index == response.prg_index;
  };
  const auto wants_page = [](const ParkedTransfer& parked) {
    return parked.state == ParkedState::kAwaitsPage || parked.state == ParkedState::kWantsPage;
  };
  switch (ats_->pages()->respond(response)) {
    case PrgOutcome::kSuccess:
      ats_->page_is_there(response.prg_index, t + config_.device.timing.pipeline);
      break;
    case PrgOutcome::kInvalidRequest:
      fail_parked(is_answered, TransferStatus::kUnsupportedRequest, t);
      break;
    case PrgOutcome::kFailure:
      fail_parked(wants_page, TransferStatus::kUnsupportedRequest, t);
      break;
    case PrgOutcome::kUnexpected:
      target_.report(0, "unexpected_prg_response", cfg::aer::Uncorrectable::kUnexpectedCompletion,
                     packet, t);
      break;
    case PrgOutcome::kIgnored:
      break;
  }
}

// What engines have given out until now belongs to the context that ends, what comes later to a new
// one of the same name. [PRI-06]
void Endpoint::end_context(const Transfer& transfer, Time t) {
  ended_contexts_.push_back({transfer.domain, ++contexts_ended_, transfer.counts});
  send_stop_markers(t);
}

// A transfer that is not sent as a whole is parked, or the present one.
bool Endpoint::may_still_ask(const EndedContext& context) const {
  const auto is_of_it = [&](std::uint32_t slot) {
    return active_[slot].transfer.domain == context.domain &&
           active_[slot].contexts_ended < context.number;
  };
  bool may_ask = has_current_ && is_of_it(current_);
  ats_->parked.for_each([&](Slot /*slot*/, const ParkedTransfer& parked) {
    may_ask = may_ask || is_of_it(parked.transfer);
  });
  return may_ask;
}

bool Endpoint::waits_for_stop_marker(std::uint32_t slot) const {
  const Active& active = active_[slot];
  return std::any_of(ended_contexts_.begin(), ended_contexts_.end(), [&](const EndedContext& one) {
    return one.domain == active.transfer.domain && one.number <= active.contexts_ended;
  });
}

void Endpoint::send_stop_markers(Time t) {
  for (std::size_t i = 0; i < ended_contexts_.size();) {
    if (may_still_ask(ended_contexts_[i])) {
      ++i;
      continue;
    }
    const EndedContext over = ended_contexts_[i];
    ended_contexts_.erase(ended_contexts_.begin() + static_cast<std::ptrdiff_t>(i));
    send_stop_marker(over, t);
  }
}

// All page requests of the process are before it. [PRI-06] [PRI-07]
void Endpoint::send_stop_marker(const EndedContext& context, Time t) {
  const DeviceIdentity& identity = identity_of(context.domain);
  const bool is_running = functions_[function_of(identity.bdf)] == FunctionState::kRunning;
  if (is_running && ats_->can_ask_for_pages() && ats_->has_pasid() && identity.pasid.has_value()) {
    send_ats_message(
        page_request_tlp(PageRequestInterface::stop_marker(identity.bdf, *identity.pasid)),
        identity.bdf, context.counts, t);
  }
}

TranslationSettings Endpoint::translation_settings(unsigned function) {
  const AtsControl ats =
      ats_control(target_.space(function), function == 0 ? nullptr : &target_.space(0));
  const PasidControl pasid = pasid_control(target_.space(0));
  TranslationSettings settings;
  settings.is_enabled = ats.is_enabled;
  settings.is_page_aligned = ats.is_page_aligned;
  settings.stu = ats.stu;
  settings.has_pasid = pasid.is_enabled;
  settings.has_execute = pasid.has_execute;
  settings.has_privileged = pasid.has_privileged;
  settings.rcb_bytes = static_cast<unsigned>(config_.link.rcb);
  settings.mrrs_bytes = mrrs_;
  return settings;
}

// Registers of the PF count for all. [CFG-07] [CFG-12]
void Endpoint::translation_written(unsigned function) {
  ats_->set_pasid(pasid_control(target_.space(0)).is_enabled);
  for (unsigned f = 0; f < functions_.size(); ++f) {
    if (f != function && (function != 0 || !ats_->knows(f))) {
      continue;
    }
    const TranslationSettings settings = translation_settings(f);
    if (settings.is_enabled || ats_->knows(f)) {
      ats_->configure(f, settings);
    }
  }
  if (ats_->pages() != nullptr) {
    ats_->pages_written(now());
  }
  wake();
}

void Endpoint::set_up_translation(bool enables_ats) {
  if (ats_ == nullptr) {
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
    configure(0, pasid_accesses(base_, *start, {true, false, false, 0}));
  }
  for (unsigned f = 0; enables_ats && f < functions_.size(); ++f) {
    configure(f, ats_accesses(base_, *start_of(f, cfg::kExtAts), config_.device.atc.stu, true));
  }
  const auto pages = start_of(0, cfg::kExtPri);
  if (enables_ats && pages) {
    configure(0, pri_accesses(base_, *pages, config_.device.pri.allocation, true));
  }
}

}  // namespace flitwise
