// SPDX-License-Identifier: Apache-2.0
// One root port: what goes down, and the counting of what is refused.
#include <algorithm>

#include "root_complex/root_port.h"
#include "tlp/completion.h"
#include "tlp/splitter.h"

namespace flitwise {

PacketRef RootPort::make_completion(const Packet& request, std::size_t payload_bytes) const {
  PacketRef packet = pool_.make(PacketKind::kTlp, payload_bytes);
  packet->domain = request.domain;
  packet->request = request.request;
  packet->purpose = request.purpose;
  packet->counts = request.counts;
  packet->is_raw = request.is_raw;
  Tlp& tlp = packet->tlp;
  start_completion(tlp, request.tlp);
  // Completions always go to the BDF in full; a handle that names no domain is echoed. [DHI D16]
  if (request.resolved) {
    tlp.requester_id = request.resolved->bdf;
  }
  tlp.id_is_handle = handle_is_requester_id_ && request.tlp.id_is_handle && !request.resolved;
  return packet;
}

void RootPort::answer_read(const MemoryTransaction& transaction, Time when) {
  const Packet& request = *transaction.packet;
  if (completions_to_drop_ > 0) {
    --completions_to_drop_;
    ++errors_["completion_dropped_by_fault"];
    return;
  }
  CompletionSplitter splitter(request.tlp, static_cast<std::uint32_t>(config_.link.mps),
                              static_cast<std::uint32_t>(config_.link.rcb));
  const std::uint32_t lead = lower_address_of(request.tlp) % 4U;
  const bool is_flush = is_zero_length_read(request.tlp);
  CompletionPiece piece;
  const bool has_bytes = config_.workload.real_payload;
  while (splitter.next(piece)) {
    PacketRef packet = make_completion(request, has_bytes ? std::size_t{piece.length_dw} * 4 : 0);
    packet->tlp.type = TlpType::kCplD;
    packet->tlp.length_dw = piece.length_dw;
    packet->tlp.byte_count = piece.byte_count;
    packet->tlp.lower_address = piece.lower_address;
    if (breaks_completion_) {
      packet->tlp.byte_count = static_cast<std::uint16_t>(piece.byte_count + 4U);  // [LNK-9.12]
      breaks_completion_ = false;
    }
    packet->payload_bytes = is_flush ? 0 : piece.bytes;
    packet->length_only = !has_bytes;
    if (is_flush) {
      std::fill(packet->payload.begin(), packet->payload.end(), std::uint8_t{0});
    } else {
      // Whole DWs travel; the bytes around the asked ones come along.
      const std::size_t from = (lead + piece.offset) & ~std::size_t{3};
      std::copy_n(transaction.data.begin() + from, packet->payload.size(), packet->payload.begin());
    }
    sizer_.size(*packet);
    send(completions_, std::move(packet), when + config_.host.timing.root_port);
  }
}

// Non-posted requests get a Cpl with the status; posted ones are dropped and counted. [LNK-9.19]
void RootPort::refuse(Packet& packet, CplStatus status, const char* kind, Time delay) {
  const bool is_abort = status == CplStatus::kCA;
  drop(packet, kind, is_abort ? "completer_abort" : "unsupported_request");
  report(is_abort ? cfg::aer::Uncorrectable::kCompleterAbort
                  : cfg::aer::Uncorrectable::kUnsupportedRequest,
         packet);
  answer_refused(packet, status, delay);
}

// [LNK-9.23] [LNK-12.12]
void RootPort::refuse_poisoned(Packet& packet) {
  drop(packet, "poisoned_tlp", "poisoned_tlp");
  report(cfg::aer::Uncorrectable::kPoisonedTlp, packet);
  answer_refused(packet, CplStatus::kUR, config_.host.timing.root_port);
}

void RootPort::answer_refused(const Packet& packet, CplStatus status, Time delay) {
  if (fc_class(packet.tlp.type) != FcClass::kNonPosted) {
    return;
  }
  ++counters_.answered;
  PacketRef answer = make_completion(packet);
  end_without_data(answer->tlp, packet.tlp, status);
  sizer_.size(*answer);
  send(completions_, std::move(answer), now() + delay + config_.host.timing.root_port);
}

// Dropped without an answer, and a fatal error. [LNK-9.17]
void RootPort::refuse_malformed(const Packet& packet, TlpViolation violation) {
  ++errors_[std::string("malformed_tlp.") + name_of(violation)];
  drop(packet, "malformed_tlp", "malformed_tlp", name_of(violation));
  report(cfg::aer::Uncorrectable::kMalformedTlp, packet);
}

void RootPort::drop(const Packet& packet, const char* kind, const char* what) {
  drop(packet, kind, what, kind);
}

void RootPort::drop(const Packet& packet, const char* kind, const char* what, const char* detail) {
  ++counters_.refused;
  settle(packet);
  counters_.dropped_bytes += packet.tlp.type == TlpType::kMWr ? packet.payload_bytes : 0;
  ++errors_[kind];
  observe(what, detail, packet);
}

void RootPort::report(cfg::aer::Uncorrectable error, const Packet& packet) {
  if (hooks_.error) {
    hooks_.error(error, packet);
  }
}

void RootPort::replay_num_rolled_over() {
  if (hooks_.corrected) {
    hooks_.corrected(cfg::aer::Correctable::kReplayNumRollover);
  }
}

// What devices ask for on their own account, to get at the requests of an engine, is not counted.
void RootPort::settle(const Packet& packet) {
  const bool is_own_account =
      packet.purpose != HandlePurpose::kNone || packet.tlp.at == AddressType::kTranslationRequest;
  const bool is_request = !is_completion(packet.tlp.type) && !is_message(packet.tlp.type);
  counters_.settled += is_request && !is_own_account ? 1 : 0;
}

void RootPort::observe(const char* what, const char* detail, const Packet& packet) const {
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), name(), what, detail, &packet});
  }
}

void RootPort::queue_answers(const Packet& request, Time latency) {
  for (PacketRef& packet : answers_) {
    packet->request = request.request;
    sizer_.size(*packet);
    send(std::move(packet), config_.host.timing.root_port + latency);
  }
  answers_.clear();
}

// A message that goes down to a domain carries its handle, where no switch has to find the way by
// the BDF. False: the domain has none, and the message is not sent. [DHI D21]
bool RootPort::name_domain(Packet& packet, Time& delay) {
  Tlp& tlp = packet.tlp;
  const bool has_form = form_.dhi_form == DhiForm::kRidDirect || form_.dhi_form == DhiForm::kPrefix;
  if (form_.identity != Identity::kDhi || !has_form || !may_carry_handle(tlp) || tlp.id_is_handle) {
    return true;
  }
  const DeviceIdentity identity = identity_of(tlp, form_).full;
  const HostHandles::Name name = device_of(identity.bdf).handles->find(identity);
  delay += name.latency;
  if (name.dhi) {
    tlp.has_pasid = tlp.privileged_mode_requested = tlp.execute_requested = false;
    tlp.pasid = Pasid{};
    apply_identity(tlp, form_, identity, name.dhi);
    return true;
  }
  if (config_.host.dhi.unknown_domain == UnknownDomain::kFullIdentity) {
    return true;
  }
  ++errors_["unknown_domain"];
  observe("unknown_domain", "", packet);
  return false;
}

void RootPort::send(PacketRef packet, Time delay) {
  if (is_message(packet->tlp.type) && !name_domain(*packet, delay)) {
    return;
  }
  const bool is_posted = fc_class(packet->tlp.type) == FcClass::kPosted;
  if (packet->size.total() == 0) {
    sizer_.size(*packet);
  }
  send(is_posted ? posted_ : nonposted_, std::move(packet), now() + delay);
}

void RootPort::send(Outbox& outbox, PacketRef packet, Time ready) {
  outbox.send({std::move(packet), ready, {}}, [this](const Outbox::Entry& entry) {
    return hand_over(to_link, *entry.packet, entry.ready);
  });
}

}  // namespace flitwise
