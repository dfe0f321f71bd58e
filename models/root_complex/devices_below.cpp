// SPDX-License-Identifier: Apache-2.0
// Whose a request is.
#include "root_complex/devices_below.h"

#include <algorithm>

#include "tlp/message_use.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"

namespace flitwise {

DevicesBelow::DevicesBelow(const RootPortConfig& config, HostHandles& handles)
    : form_(config.form()),
      checks_requester_(config.host.requester_check),
      checks_capabilities_(config.host.dhi.check_capabilities),
      sends_full_identity_(config.host.dhi.unknown_domain == UnknownDomain::kFullIdentity),
      devices_{{{0, 255}, &handles, config.wants_alloc_ack, config.stu}},
      checks_grants_(handles.checks_grants()) {}

void DevicesBelow::set(std::vector<Device> devices) {
  devices_ = std::move(devices);
  checks_grants_ = std::any_of(devices_.begin(), devices_.end(), [](const Device& device) {
    return device.handles->checks_grants();
  });
}

// Where the Requester ID is the handle, all devices below share one table, and any of them will do.
// [DHI D2]
const DevicesBelow::Device& DevicesBelow::of(Bdf requester) const {
  for (std::size_t i = 1; i < devices_.size(); ++i) {
    if (devices_[i].buses.contains(requester)) {
      return devices_[i];
    }
  }
  return devices_.front();
}

DeviceIdentity DevicesBelow::domain_behind(const Packet& packet) const {
  return packet.resolved ? *packet.resolved : identity_of(packet.tlp, form_).full;
}

// Why the domain that a request names in full is not its sender's, or nullptr. Interrupts and
// flushes touch no memory: their Requester ID alone counts. [DHI S2] [DHI S3]
const char* DevicesBelow::identity_refusal_of(const Tlp& tlp,
                                              const DeviceIdentity& identity) const {
  if (is_foreign(identity.bdf)) {
    return "foreign_requester";
  }
  if (checks_grants_ && !is_interrupt(tlp) && !is_zero_length_read(tlp) &&
      !of(identity.bdf).handles->is_granted(identity)) {
    return "not_granted";
  }
  return nullptr;
}

DevicesBelow::Verdict DevicesBelow::resolve(Packet& packet, Time now,
                                            std::vector<PacketRef>& answers) const {
  Verdict verdict;
  const OptionalId<Dhi> handle = handle_of(packet.tlp, form_);
  if (!handle) {
    const DeviceIdentity full = identity_of(packet.tlp, form_).full;
    verdict.refusal = identity_refusal_of(packet.tlp, full);
    if (checks_capabilities_) {
      verdict.standing.capabilities = of(full.bdf).handles->granted_capabilities(full.bdf);
    }
    return verdict;
  }
  HostHandles& handles = *of(packet.tlp.requester_id).handles;
  const HostHandles::Lookup lookup = handles.resolve(packet, *handle, buses_, now, answers);
  verdict.latency = lookup.latency;
  if (!lookup.resolution) {
    verdict.refusal = "invalid_handle";
    verdict.is_invalid_handle = true;
    verdict.is_disabled = !handles.is_enabled(buses_);
    return verdict;
  }
  verdict.standing = {lookup.resolution->is_trusted, lookup.resolution->capabilities};
  packet.resolved = lookup.resolution->identity;
  return verdict;
}

Time DevicesBelow::receive(const Packet& packet, Time now, std::vector<PacketRef>& answers) const {
  const Device& device = of(packet.tlp.requester_id);
  return device.handles->receive(packet, buses_, device.wants_alloc_ack, now, answers);
}

bool DevicesBelow::name_domain(Tlp& tlp, Time& delay) const {
  const bool has_form = form_.dhi_form == DhiForm::kRidDirect || form_.dhi_form == DhiForm::kPrefix;
  if (form_.identity != Identity::kDhi || !has_form || !may_carry_handle(tlp) || tlp.id_is_handle) {
    return true;
  }
  const DeviceIdentity identity = identity_of(tlp, form_).full;
  const HostHandles::Name name = of(identity.bdf).handles->find(identity);
  delay += name.latency;
  if (!name.dhi) {
    return sends_full_identity_;
  }
  tlp.has_pasid = tlp.privileged_mode_requested = tlp.execute_requested = false;
  tlp.pasid = Pasid{};
  apply_identity(tlp, form_, identity, name.dhi);
  return true;
}

}  // namespace flitwise
