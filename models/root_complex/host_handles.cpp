// SPDX-License-Identifier: Apache-2.0
// The host's use of handles; whose a request is.
#include "root_complex/host_handles.h"

#include <utility>

#include "common/ranges.h"
#include "tlp/message_use.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"

namespace flitwise {

HostHandles::HostHandles(const HandleHostConfig& config, DhiForm form, AllocHook hook,
                         PacketPool& pool)
    : config_(config),
      form_(form),
      pool_(pool),
      grants_(config.grant == GrantPolicy::kAny ? GrantTable(Grant::any()) : GrantTable()),
      table_(config.dealloc, grants_),
      store_(config.storage, HandleRange::of_bits(kMaxHandleBits)),
      alloc_hook_(std::move(hook)) {
  table_.on_gone([this](Dhi dhi) { handle_gone(dhi); });
}

void HostHandles::grant(Bdf first, unsigned count) {
  if (config_.grant == GrantPolicy::kAny) {
    return;
  }
  const auto& granted = config_.granted;
  Grant grant;
  grant.pasids = {{Pasid{granted.first_pasid}, Pasid{granted.last_pasid}}};
  grant.without_pasid = granted.without_pasid;
  grant.trusted = granted.trusted;
  grant.capabilities = static_cast<std::uint16_t>(granted.capabilities);
  grant.contexts = granted.contexts;
  for (unsigned i = 0; i < count; ++i) {
    grants_.set(Bdf{static_cast<std::uint16_t>(first.value + i)}, grant);
  }
}

Time HostHandles::receive(const Packet& packet, BusRange port, bool wants_ack, Time now,
                          std::vector<PacketRef>& answers) {
  DhiMessage message = parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  const Bdf requester = packet.tlp.requester_id;
  Time latency{};
  if (auto* alloc = std::get_if<AllocMessage>(&message)) {
    if (alloc_hook_) {
      alloc_hook_(*alloc);
    }
    const HandleStatus status = table_.allocate(port, requester, *alloc);
    if (status == HandleStatus::kOk) {
      latency = store(alloc->dhi, now);
    }
    if (wants_ack) {
      send(requester, AllocAckMessage{alloc->dhi, status, alloc->epoch}, answers);
    } else if (status != HandleStatus::kOk) {
      report(requester, {alloc->dhi, status, alloc->epoch}, answers);
    }
  } else if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
    table_.deallocate(port, requester, *dealloc);
  } else if (const auto* answer = std::get_if<DeallocDone>(&message)) {
    // Whether anybody waits for it, the one who gave the order knows. [DHI D14] [DHI D15]
    const HandleStatus status = table_.check_sender(port, requester, requester);
    if (status != HandleStatus::kOk) {
      table_.record_rejection(status, table_.sender(port, requester));
    } else if (done_) {
      done_(requester, *answer);
    }
  } else {
    table_.record_rejection(HandleStatus::kMalformed, table_.sender(port, requester));
  }
  return latency;
}

// The entry stands in the table at once; whoever asks for it before it is written waits. [DHI D3]
Time HostHandles::store(Dhi dhi, Time now) {
  const Time latency = store_.access_by_handle(dhi);
  const auto is_done = [now](const Store& one) { return one.done <= now; };
  stores_.erase(std::remove_if(stores_.begin(), stores_.end(), is_done), stores_.end());
  stores_.push_back({dhi, now + latency});
  stores_done_ = std::max(stores_done_, now + latency);
  return latency;
}

void HostHandles::send(Bdf device, const DhiMessage& message, std::vector<PacketRef>& answers) {
  PacketRef answer = pool_.make(PacketKind::kTlp);
  write_dhi_message(*answer, kRootComplexId, message, device);
  answers.push_back(std::move(answer));
}

bool HostHandles::is_enabled(BusRange buses) const {
  for (unsigned bus = buses.secondary; bus <= buses.subordinate; ++bus) {
    const std::optional<PartitionId> partition =
        table_.partition_of(Bdf::of(static_cast<std::uint8_t>(bus), 0, 0));
    if (partition && !(table_.range(*partition) == HandleRange::none())) {
      return true;
    }
  }
  return false;
}

HostHandles::Name HostHandles::name_for(const Tlp& message, const DeviceIdentity& identity) {
  const bool is_invalidation = message.message_code == msg::kInvalidateRequest;
  const NamedInvalidations::One one{identity.bdf, static_cast<std::uint8_t>(message.tag)};
  if (is_invalidation && invalidations_.has_to_go_in_full(one)) {
    invalidations_.sent(one, std::nullopt);
    return {std::nullopt, Time{}, true};
  }
  const std::optional<Dhi> dhi = table_.find(identity);
  if (is_invalidation) {
    invalidations_.sent(one, dhi);
  }
  return {dhi, store_.search_by_domain(dhi)};
}

// Whoever has been invalidated by it may have been another. [DHI D21]
void HostHandles::handle_gone(Dhi dhi) {
  if (invalidations_.empty()) {
    return;
  }
  for (const NamedInvalidations::One& one : invalidations_.strayed(dhi)) {
    if (strayed_) {
      strayed_(one.function, one.itag);
    }
  }
}

// Access by index; an entry that is being written is waited for, one of a device below another port
// is none.
void HostHandles::look_up(Lookup& lookup, const Packet& packet, Dhi dhi, BusRange port, Time now) {
  lookup.latency =
      store_.access_by_handle(Dhi{static_cast<std::uint16_t>(to_int(dhi) & kHandleMask)});
  if (now < stores_done_) {
    Time done = now;
    for (const Store& one : stores_) {
      done = one.dhi == dhi ? std::max(done, one.done) : done;
    }
    lookup.latency = lookup.latency + (done - now);
  }
  if (lookup.resolution && !port.contains(lookup.resolution->identity.bdf)) {
    lookup.resolution.reset();
  }
  if (lookup.resolution) {
    // Whose the message really is, the wire does not say; the packet knows, and this is where a
    // wrong answer shows. [DHI D8]
    const Resolution& found = *lookup.resolution;
    if (packet.has_identity &&
        (packet.identity != found.identity || packet.context != found.context)) {
      table_.record_wrong_domain(table_.partition_of(packet.identity.bdf));
    }
  }
}

HostHandles::Lookup HostHandles::resolve_line(const Packet& packet, Dhi dhi, BusRange port,
                                              Time now, std::vector<PacketRef>& answers) {
  Lookup lookup{table_.resolve(dhi), {}};
  look_up(lookup, packet, dhi, port, now);
  if (!lookup.resolution) {
    const Bdf device = Bdf::of(port.secondary, 0, 0);
    const std::optional<PartitionId> partition = table_.partition_of(device);
    table_.record_rejection(HandleStatus::kNoValidEntry, partition);
    if (partition && to_int(dhi) <= kHandleMask) {
      report(device, {dhi, HandleStatus::kNoValidEntry, table_.epoch(*partition)}, answers);
    }
  }
  return lookup;
}

HostHandles::Lookup HostHandles::resolve(const Packet& packet, Dhi dhi, BusRange port, Time now,
                                         std::vector<PacketRef>& answers) {
  const bool keeps_requester_id = form_ == DhiForm::kTag || form_ == DhiForm::kPrefix;
  // Made in one place: copying it would cost each packet more than looking it up.
  Lookup lookup{
      keeps_requester_id ? table_.resolve(packet.tlp.requester_id, dhi) : table_.resolve(dhi), {}};
  look_up(lookup, packet, dhi, port, now);
  if (lookup.resolution) {
    return lookup;
  }
  const Bdf requester = packet.tlp.requester_id;
  table_.record_rejection(HandleStatus::kNoValidEntry, keeps_requester_id
                                                           ? table_.sender(port, requester)
                                                           : table_.sender(port, dhi));
  if (fc_class(packet.tlp.type) == FcClass::kPosted) {
    if (const std::optional<Bdf> device = sender_of(packet, dhi, port)) {
      const std::optional<PartitionId> partition = table_.partition_of(*device);
      const std::uint8_t epoch = partition ? table_.epoch(*partition) : std::uint8_t{0};
      report(*device, {dhi, HandleStatus::kNoValidEntry, epoch}, answers);
    }
  }
  return lookup;
}

// To whom an error goes: where the handle has the place of the Requester ID, to the first function
// of the one device below the port, or of the device that has the handle. [DHI D16]
std::optional<Bdf> HostHandles::sender_of(const Packet& packet, Dhi dhi, BusRange port) const {
  switch (form_) {
    case DhiForm::kRidDirect: return Bdf::of(port.secondary, 0, 0);
    case DhiForm::kRidFabric: return table_.owner(port, dhi);
    case DhiForm::kTag:
    case DhiForm::kPrefix: return packet.tlp.requester_id;
    case DhiForm::kOhc: break;
  }
  return std::nullopt;
}

DevicesBelow::DevicesBelow(const RootPortConfig& config, HostHandles& handles)
    : form_(config.form()),
      checks_requester_(config.host.requester_check),
      checks_capabilities_(config.host.dhi.check_capabilities),
      sends_full_identity_(config.host.dhi.unknown_domain == UnknownDomain::kFullIdentity),
      devices_{{{0, 255}, &handles, config.wants_alloc_ack, config.stu}},
      checks_grants_(handles.checks_grants()) {}

void DevicesBelow::set(std::vector<Device> devices) {
  devices_ = std::move(devices);
  checks_grants_ =
      any_of(devices_, [](const Device& device) { return device.handles->checks_grants(); });
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

DevicesBelow::Verdict DevicesBelow::resolve(Packet& packet, Time now,
                                            std::vector<PacketRef>& answers) const {
  Verdict verdict;
  const OptionalId<Dhi> handle = handle_of(packet.tlp, form_);
  if (!handle) {
    const DeviceIdentity full = identity_of(packet.tlp, form_).full;
    // The domain is its sender's. Interrupts and flushes touch no memory: their Requester ID alone
    // counts. [DHI S2] [DHI S3]
    if (is_foreign(full.bdf)) {
      verdict.refusal = "foreign_requester";
    } else if (checks_grants_ && !is_interrupt(packet.tlp) && !is_zero_length_read(packet.tlp) &&
               !of(full.bdf).handles->is_granted(full)) {
      verdict.refusal = "not_granted";
    }
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
  packet.resolved_context = lookup.resolution->context;
  return verdict;
}

Time DevicesBelow::receive(const Packet& packet, Time now, std::vector<PacketRef>& answers) const {
  const Device& device = of(packet.tlp.requester_id);
  return device.handles->receive(packet, buses_, device.wants_alloc_ack, now, answers);
}

bool DevicesBelow::name_domain(Tlp& tlp, Time& delay) const {
  if (!has_room_for_handle(tlp, form_) || tlp.id_is_handle) {
    return true;
  }
  const DeviceIdentity identity = identity_of(tlp, form_).full;
  const HostHandles::Name name = of(identity.bdf).handles->name_for(tlp, identity);
  delay += name.latency;
  if (!name.dhi) {
    return name.is_full || sends_full_identity_;
  }
  tlp.has_pasid = tlp.privileged_mode_requested = tlp.execute_requested = false;
  tlp.pasid = Pasid{};
  apply_identity(tlp, form_, identity, name.dhi);
  return true;
}

}  // namespace flitwise
