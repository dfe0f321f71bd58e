// SPDX-License-Identifier: Apache-2.0
// Whose a D2H Req is.
#include "cxl/line_gate.h"

#include <algorithm>
#include <utility>

namespace flitwise {

// What a form does not say, the link does: all that comes by it is of the device below. [CXL-7.4]
void LineGate::find_domain(const Packet& packet, Time now, Verdict& verdict) {
  const CxlDomainField::Named named = field_.named_by(packet.cxl->identity);
  const BusRange buses = port_.buses();
  if (!named.handle) {
    verdict.domain = named.full.value_or(DeviceIdentity(Bdf::of(buses.secondary, 0, 0)));
    if (checks_requester_ && !buses.contains(verdict.domain.bdf)) {
      verdict.refusal = "foreign_requester";
    } else if (handles_.checks_grants() && !handles_.is_granted(verdict.domain)) {
      verdict.refusal = "not_granted";
    }
    verdict.standing.capabilities = handles_.granted_capabilities(verdict.domain.bdf);
    return;
  }
  constexpr std::uint64_t kWidest = 0xffff;
  const Dhi handle{static_cast<std::uint16_t>(std::min(*named.handle, kWidest))};
  const HostHandles::Lookup lookup = handles_.resolve_line(packet, handle, buses, now, answers_);
  verdict.latency = lookup.latency;
  for (PacketRef& answer : answers_) {
    answer->request = packet.request;
    port_.send(std::move(answer), lookup.latency);
  }
  answers_.clear();
  if (!lookup.resolution) {
    verdict.refusal = "invalid_handle";
    verdict.domain = DeviceIdentity(Bdf::of(buses.secondary, 0, 0));
    verdict.is_disabled = !handles_.is_enabled(buses);
    return;
  }
  verdict.domain = lookup.resolution->identity;
  verdict.standing = {lookup.resolution->is_trusted, lookup.resolution->capabilities};
}

LineGate::Verdict LineGate::check(const Packet& packet, Time now) {
  Verdict verdict;
  find_domain(packet, now, verdict);
  if (verdict.refusal != nullptr) {
    return verdict;
  }
  // Its address is one of the host: it is translated. [DHI D20]
  if (checks_capabilities_ && (verdict.standing.capabilities & kCapabilityTranslated) == 0) {
    verdict.refusal = "capability_missing";
  } else if (rules_.checks_windows()) {
    verdict.refusal =
        rules_.window_refusal_of(packet.cxl->address, kCxlLineBytes, verdict.standing);
  }
  return verdict;
}

WalkRequest LineGate::permission_request(const Verdict& verdict, std::uint64_t address,
                                         LineRights needed) {
  WalkRequest request;
  request.source = verdict.domain.bdf;
  request.pasid = verdict.domain.pasid;
  request.address = address;
  request.kind = WalkKind::kTranslated;
  request.wish.read = needed.may_read;
  request.wish.write = needed.may_write;
  request.is_trusted = verdict.standing.is_trusted;
  return request;
}

}  // namespace flitwise
