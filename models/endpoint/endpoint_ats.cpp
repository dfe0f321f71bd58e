// SPDX-License-Identifier: Apache-2.0
// The function shell: which TLP goes out translated, which has to wait for a translation, and what
// comes back for those that asked. Messages are in endpoint_ats_messages.cpp.
#include "endpoint/endpoint.h"
#include "tlp/identity.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

// Why a reply brings nothing, for the errors of the run; null where it is one. [TCP-04] to [TCP-08]
const char* problem_of(TranslationVerdict verdict) {
  switch (verdict) {
    case TranslationVerdict::kPartial:
    case TranslationVerdict::kLast:
      return nullptr;
    case TranslationVerdict::kUnsupported:
      return "translation_unsupported";
    case TranslationVerdict::kAborted:
      return "translation_aborted";
    case TranslationVerdict::kMalformed:
    case TranslationVerdict::kIllegal:
    case TranslationVerdict::kLostFirst:
    case TranslationVerdict::kTooMany:
    case TranslationVerdict::kInconsistent:
      break;
  }
  return "bad_translation_completion";
}

}  // namespace

AtsAccess Endpoint::access_of(const Transfer& transfer, const DeviceIdentity& identity) const {
  AtsAccess access;
  access.function = function_of(identity.bdf);
  const bool has_pasid = ats_->has_pasid() && (form_.identity == Identity::kBdfPasid ||
                                               form_.identity == Identity::kDhi);
  if (has_pasid) {
    access.tag = {identity.pasid, identity.pasid.has_value() && identity.privileged_mode_requested};
  }
  access.address = piece_.address;
  access.dws = piece_.length_dw;
  if (transfer.op != Op::kRead) {
    access.kind = AccessKind::kWrite;
  } else if (piece_.bytes == 0) {
    access.kind = AccessKind::kZeroLengthRead;
  } else {
    access.kind =
        has_pasid && identity.execute_requested ? AccessKind::kExecute : AccessKind::kRead;
  }
  const unsigned hinted = config_.device.atc.hinted_domains;
  access.counts = transfer.counts;
  access.has_hint = hinted == 0 || to_int(transfer.domain) < hinted;
  return access;
}

// An interrupt passes nothing, so that what it tells of is there.
Tlp Endpoint::shape_of(const Transfer& transfer, const AtsAccess& access) const {
  const bool is_interrupt = transfer.op == Op::kMsi;
  Tlp shape;
  shape.type = transfer.op == Op::kRead ? TlpType::kMRd : TlpType::kMWr;
  shape.relaxed_ordering = relaxed_ordering_ && !is_interrupt;
  shape.id_based_ordering = id_based_ordering_ && !is_interrupt;
  shape.requester_id = Bdf{static_cast<std::uint16_t>(base_.value + access.function)};
  shape.has_pasid = access.tag.pasid.has_value();
  shape.pasid = access.tag.pasid.value_or(Pasid{});
  return shape;
}

bool Endpoint::may_go_now(const Transfer& transfer, const AtsAccess& access) const {
  const ParkedTransfers& parked = ats_->parked;
  if (current_slot_) {
    return parked.may_pass_all_before(*current_slot_);
  }
  return parked.empty() || parked.may_pass_all(shape_of(transfer, access));
}

// How the next TLP of the present transfer goes: into route_ where it goes now, else the transfer
// is parked, or has to be tried again. Interrupts are never translated. [ATR-27]
Endpoint::Step Endpoint::route_piece(const Transfer& transfer, const DeviceIdentity& identity,
                                     Time t) {
  routed_ = access_of(transfer, identity);
  route_ = AtsRoute{};
  if (transfer.op != Op::kMsi) {
    const ParkedTransfer* const waited = current_slot_ ? &ats_->parked.at(*current_slot_) : nullptr;
    route_ = ats_->route(routed_, waited, is_routed_);
    is_routed_ = true;
  }
  if (route_.kind == AtsRoute::Kind::kAsk) {
    return ask_for_translation(transfer, identity, routed_, t);
  }
  if (route_.kind == AtsRoute::Kind::kRefused) {
    if (ats_->can_ask_for_pages()) {
      return ask_for_page(transfer, identity, routed_, t);
    }
    route_.kind = AtsRoute::Kind::kUntranslated;  // The agent says what is wrong.
  }
  if (may_go_now(transfer, routed_)) {
    return Step::kGo;
  }
  park(transfer, routed_, ParkedState::kReady);
  return Step::kParked;
}

// The present transfer waits, where it stands; others go on.
void Endpoint::park(const Transfer& transfer, const AtsAccess& access, ParkedState state,
                    Slot awaited) {
  ParkedTransfers& parked = ats_->parked;
  if (!current_slot_) {
    ParkedTransfer one;
    one.transfer = current_;
    one.shape = shape_of(transfer, access);
    current_slot_ = parked.add(one);
  }
  ParkedTransfer& one = parked.at(*current_slot_);
  const bool is_granted = state == ParkedState::kReady && route_.entry != nullptr;
  one.is_hit = is_granted && (one.is_hit || !one.grant);
  if (is_granted) {
    one.grant = *route_.entry;
  }
  one.splitter = splitter_;
  one.piece = piece_;
  one.access = access;
  one.was_counted = is_routed_;
  one.request = awaited;
  one.prg_index = static_cast<std::uint16_t>(awaited);
  one.has_asked = one.has_asked || state != ParkedState::kReady;
  parked.set_state(*current_slot_, state);
  current_slot_.reset();
  has_current_ = false;
  is_routed_ = false;
}

// Who has waited goes before who comes.
bool Endpoint::resume_parked(Time t) {
  const std::optional<Slot> slot = ats_->parked.first_to_go(
      t, [this, t](const ParkedTransfer& parked) { return can_ask(parked, t); });
  if (!slot) {
    return false;
  }
  ats_->parked.set_state(*slot, ParkedState::kGoing);  // an answer to others is none to it
  const ParkedTransfer& one = ats_->parked.at(*slot);
  splitter_ = one.splitter;
  piece_ = one.piece;
  has_piece_ = true;
  current_ = one.transfer;
  current_slot_ = slot;
  is_routed_ = one.was_counted;
  has_current_ = true;
  return true;
}

bool Endpoint::can_ask(const ParkedTransfer& parked, Time t) {
  if (parked.state == ParkedState::kWantsPage) {
    // Where the interface is turned off or fails, none is in this state any more.
    return ats_->pages()->can_open(1) && !waits_for_stop_marker(parked.transfer);
  }
  const unsigned function = parked.access.function;
  return ats_->has_room_for_request(function, t) && outstanding_.free_tags(function) > 0 &&
         !is_full_[static_cast<std::size_t>(FcClass::kNonPosted)];
}

// The next TLP of the present transfer has not been looked at yet.
void Endpoint::piece_gone() {
  is_routed_ = false;
  if (!current_slot_) {
    return;
  }
  if (!has_piece_) {
    ats_->parked.remove(*current_slot_);
    current_slot_.reset();
    return;
  }
  ParkedTransfer& one = ats_->parked.at(*current_slot_);
  one.answer = AgentAnswer::kNone;
  one.has_asked = one.was_counted = false;
  if (one.is_hit) {
    one.grant.reset();
    one.is_hit = false;
  }
}

// Address, AT and IDO of a TLP; returns whether it names its PASID. [CFG-11] [LNK-3.8] [LNK-9.1]
bool Endpoint::follow_route(Tlp& tlp, unsigned function) {
  const bool is_translated = route_.kind == AtsRoute::Kind::kTranslated;
  tlp.at = is_translated ? AddressType::kTranslated : AddressType::kUntranslated;
  if (is_translated) {
    tlp.address = route_.address;
    tlp.is_4dw = route_.address >> 32 != 0;
    if (tlp.type == TlpType::kMWr) {
      ats_->write_sent(function);
    }
  }
  const bool always_names_pasid = config_.workload.at == At::kTranslatedPasid;
  if (ats_->has_pasid() && !always_names_pasid) {
    // model: none, as one domain goes with and without its PASID.
    tlp.id_based_ordering = false;
  }
  return ats_->has_pasid() && (!is_translated || always_names_pasid);
}

// A request that is out may tell it all; else a new one goes, past whatever waits. [ATR-14]
// [ATR-22]
Endpoint::Step Endpoint::ask_for_translation(const Transfer& transfer,
                                             const DeviceIdentity& identity,
                                             const AtsAccess& access, Time t) {
  if (const std::optional<Slot> request = ats_->request_for(access)) {
    park(transfer, access, ParkedState::kAwaitsReply, *request);
    return Step::kParked;
  }
  const std::size_t free_tags = outstanding_.free_tags(access.function);
  if (!ats_->has_room_for_request(access.function, t) || free_tags == 0 ||
      is_full_[static_cast<std::size_t>(FcClass::kNonPosted)]) {
    park(transfer, access, ParkedState::kWantsRequest);
    return Step::kParked;
  }
  const DhiAgent::Answer handle = uses_handles(Op::kRead)
                                      ? acquire_handle(identity, UseKind::kNonPosted, free_tags, t)
                                      : DhiAgent::Answer{};
  if (handle.outcome == DhiAgent::Outcome::kWait) {
    return Step::kWait;
  }
  send_translation_request(transfer, identity, access, handle, t);
  return Step::kParked;
}

// [ATR-01] [ATR-02] [ATR-09] [ATR-10]
void Endpoint::send_translation_request(const Transfer& transfer, const DeviceIdentity& identity,
                                        const AtsAccess& access, const DhiAgent::Answer& handle,
                                        Time t) {
  const TranslationAsk ask = ats_->ask_for(access, route_.translations);
  TranslationAsk nameless = ask;  // who asks is written as the link's form of identity has it
  nameless.pasid.reset();
  PacketRef packet = pool_.make(PacketKind::kTlp);
  Tlp& tlp = packet->tlp;
  tlp = translation_request_tlp(nameless, ats_->settings(access.function), identity.bdf);
  const bool has_handle = handle.outcome == DhiAgent::Outcome::kHandle;
  apply_identity(tlp, form_, ats_->has_pasid() ? identity : DeviceIdentity(identity.bdf),
                 has_handle ? OptionalId<Dhi>(handle.dhi) : OptionalId<Dhi>());
  packet->domain = transfer.domain;
  packet->identity = identity;
  packet->has_identity = true;
  packet->request = current_;
  packet->counts = transfer.counts;
  packet->stamp(Hop::kIssue, t);
  const Time ready = t + route_.latency + handle.latency;
  packet->stamp(Hop::kHandle, ready);
  sizer_.size(*packet);
  const Slot slot = ats_->open_request(access.function, ask, tlp, transfer.counts);
  OutstandingRequest request;
  request.request = packet;
  request.pin = handle.pin;
  request.transfer = slot;
  request.deadline = t + config_.device.timing.completion_timeout;
  if (outstanding_.size() == 0) {
    wakeup_.at(request.deadline);
  }
  tlp.tag = outstanding_.open(access.function, std::move(request));
  queue(std::move(packet), ready + config_.device.timing.pipeline);
  park(transfer, access, ParkedState::kAwaitsReply, slot);
}

// It will never come to its data: what of it is out goes on alone.
void Endpoint::fail_parked(const std::function<bool(const ParkedTransfer&)>& which,
                           TransferStatus status, Time t) {
  ats_->parked.for_each([&](Slot slot, const ParkedTransfer& parked) {
    if (!which(parked)) {
      return;
    }
    const std::uint32_t transfer = parked.transfer;
    ats_->parked.remove(slot);
    Active& active = active_[transfer];
    active.status = status;
    active.all_sent = true;
    if (active.tlps_out == 0) {
      end_transfer_behind_pipeline(transfer, t);
    }
  });
  send_stop_markers(t);
}

void Endpoint::close_translation(unsigned function, std::uint16_t tag,
                                 const OutstandingRequest& request, bool is_given_up) {
  let_handle_go(request, is_given_up);
  outstanding_.close(function, tag);
}

void Endpoint::fail_waiting_for(unsigned function, Slot request, TransferStatus status, Time t) {
  fail_parked(
      [&](const ParkedTransfer& parked) {
        return parked.state == ParkedState::kAwaitsReply && parked.access.function == function &&
               parked.request == request;
      },
      status, t);
}

// A Translation Completion. It needs no pushing: a translation has no order towards other requests.
// [ATR-14] [TCP-01] to [TCP-08]
void Endpoint::complete_translation(unsigned function, const Packet& packet,
                                    OutstandingRequest& request, Time t) {
  const Slot slot = request.transfer;
  const TranslationVerdict verdict =
      ats_->take_reply(function, slot, packet.tlp, packet.payload.data(), packet.payload.size());
  if (verdict == TranslationVerdict::kPartial) {
    return;
  }
  if (verdict == TranslationVerdict::kMalformed) {
    report(function, "malformed_tlp", cfg::aer::Uncorrectable::kMalformedTlp, packet, t);
  } else if (const char* const problem = problem_of(verdict)) {
    refuse(packet, problem);
  }
  if (has_poisoned_data(packet.tlp)) {  // [LNK-9.26]
    report(function, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, packet, t);
  }
  if (verdict == TranslationVerdict::kAborted) {  // [TCP-06]
    fail_waiting_for(function, slot, TransferStatus::kCompleterAbort, t);
  }
  const Time ready = t + config_.device.timing.pipeline;
  ats_->end_request(function, slot, verdict, ready);
  close_translation(function, packet.tlp.tag, request, false);
  wakeup_.at(ready);
}

// [ATR-25]
void Endpoint::give_up_translation(unsigned function, std::uint16_t tag,
                                   OutstandingRequest& request, Time t) {
  fail_waiting_for(function, request.transfer, TransferStatus::kTimeout, t);
  ats_->give_up_request(function, request.transfer);
  close_translation(function, tag, request, true);
}

// Whoever waits for the last use of a translation is answered now. [INV-04]
void Endpoint::read_over(unsigned function, std::uint16_t tag, const OutstandingRequest& request,
                         TransferStatus status, Time t) {
  const Tlp& tlp = request.request->tlp;
  const bool is_ordered = !tlp.relaxed_ordering && !tlp.id_based_ordering;
  ats_->read_ended(function, tag, is_ordered && status == TransferStatus::kDone);
  const bool is_in_reset = functions_[function] == FunctionState::kInReset;
  if (ats_->has_completion(function) && !is_in_reset) {  // a reset sends nothing [CFG-03] [CFG-04]
    send_invalidate_completions(function, t);
  }
}

// One page a group; who misses the same page waits with the first. A new process waits for the Stop
// Marker of the one that had its PASID. [PRI-01] [PRI-06] [PRI-12]
Endpoint::Step Endpoint::ask_for_page(const Transfer& transfer, const DeviceIdentity& identity,
                                      const AtsAccess& access, Time t) {
  const bool has_to_wait = waits_for_stop_marker(current_);
  const std::optional<std::uint16_t> group = ats_->group_for(access);
  if (group && !has_to_wait) {
    park(transfer, access, ParkedState::kAwaitsPage, *group);
  } else if (has_to_wait || !ats_->pages()->can_open(1)) {
    park(transfer, access, ParkedState::kWantsPage);
  } else {
    const PageRequest request = ats_->open_group(access, identity.bdf);
    send_ats_message(page_request_tlp(request), identity.bdf, transfer.counts, t + route_.latency);
    park(transfer, access, ParkedState::kAwaitsPage, request.prg_index);
  }
  return Step::kParked;
}

}  // namespace flitwise
