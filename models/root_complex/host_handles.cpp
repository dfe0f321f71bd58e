// SPDX-License-Identifier: Apache-2.0
// The host's use of handles.
#include "root_complex/host_handles.h"

namespace flitwise {
namespace {

// The root complex itself, in messages that it sends.
constexpr Bdf kRootComplex{};

}  // namespace

HostHandles::HostHandles(const Config& config, PacketPool& pool)
    : config_(config),
      pool_(pool),
      grants_(config.host.dhi.grant == GrantPolicy::kAny ? GrantTable(Grant::any()) : GrantTable()),
      table_(config.host.dhi.dealloc, grants_),
      store_(config.host.dhi.storage, HandleRange::of_bits(kMaxHandleBits)) {}

void HostHandles::grant(Bdf first, unsigned count) {
  if (config_.host.dhi.grant == GrantPolicy::kAny) {
    return;
  }
  const auto& granted = config_.host.dhi.granted;
  Grant grant;
  grant.pasids = {{Pasid{granted.first_pasid}, Pasid{granted.last_pasid}}};
  grant.without_pasid = granted.without_pasid;
  grant.trusted = granted.trusted;
  grant.capabilities = static_cast<std::uint16_t>(granted.capabilities);
  for (unsigned i = 0; i < count; ++i) {
    grants_.set(Bdf{static_cast<std::uint16_t>(first.value + i)}, grant);
  }
}

void HostHandles::receive(const Packet& packet, BusRange port, bool wants_ack,
                          std::vector<PacketRef>& answers) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  const Bdf requester = packet.tlp.requester_id;
  if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
    const AllocVerdict verdict = table_.allocate(port, requester, *alloc);
    if (verdict.status == HandleStatus::kOk) {
      store_.access_by_handle(alloc->dhi);
    }
    if (wants_ack) {
      PacketRef answer = pool_.make(PacketKind::kTlp);
      write_alloc_ack(*answer, kRootComplex, requester, {alloc->dhi, verdict.status, alloc->epoch});
      answers.push_back(std::move(answer));
    } else if (verdict.status != HandleStatus::kOk && config_.host.dhi.report_errors) {
      PacketRef answer = pool_.make(PacketKind::kTlp);
      write_error(*answer, kRootComplex, requester, {alloc->dhi, verdict.status, alloc->epoch});
      answers.push_back(std::move(answer));
    }
  } else if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
    table_.deallocate(port, requester, *dealloc);
  } else {
    table_.record_rejection(HandleStatus::kMalformed);
  }
}

HostHandles::Lookup HostHandles::resolve(const Packet& packet, const WireIdentity& identity,
                                         BusRange port, std::vector<PacketRef>& answers) {
  Lookup lookup;
  const Dhi dhi = *identity.handle;
  const bool keeps_requester_id =
      config_.link.dhi_form == DhiForm::kTag || config_.link.dhi_form == DhiForm::kPrefix;
  lookup.latency =
      store_.access_by_handle(Dhi{static_cast<std::uint16_t>(to_int(dhi) & kHandleMask)});
  lookup.resolution =
      keeps_requester_id ? table_.resolve(packet.tlp.requester_id, dhi) : table_.resolve(dhi);
  if (lookup.resolution && !port.contains(lookup.resolution->identity.bdf)) {
    lookup.resolution.reset();
  }
  if (lookup.resolution) {
    count_wrong_domain(packet, *lookup.resolution);
    return lookup;
  }
  table_.record_rejection(HandleStatus::kNoValidEntry);
  if (fc_class(packet.tlp.type) == FcClass::kPosted && config_.host.dhi.report_errors &&
      keeps_requester_id) {
    PacketRef answer = pool_.make(PacketKind::kTlp);
    write_error(*answer, kRootComplex, packet.tlp.requester_id,
                {dhi, HandleStatus::kNoValidEntry, 0});
    answers.push_back(std::move(answer));
  }
  return lookup;
}

// Whose the message really is, the wire does not say; the packet knows, and this is where a wrong
// answer shows. [DHI D8]
void HostHandles::count_wrong_domain(const Packet& packet, const Resolution& resolution) {
  if (packet.has_identity && packet.identity != resolution.identity) {
    ++wrong_domain_;
  }
}

}  // namespace flitwise
