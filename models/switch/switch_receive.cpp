// SPDX-License-Identifier: Apache-2.0
// The switch: what comes in, and what becomes of it.
#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "config_space/registers.h"
#include "dhi/dhi_message.h"
#include "switch/switch.h"
#include "tlp/splitter.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr const char* kReasons[] = {
    "?",         "no_window",           "back_to_sender", "no_bus",          "no_handle",
    "no_device", "bus_master_disabled", "egress_blocked", "atomics_blocked", "wrong_direction"};

}  // namespace

tlm::tlm_sync_enum Switch::receive(int index, Packet& packet, tlm::tlm_phase& /*phase*/,
                                   sc_core::sc_time& /*delay*/) {
  const std::uint16_t ingress = port_of(static_cast<std::size_t>(index));
  const bool is_held = accept(ingress, packet);
  if (packet.tlp.type == TlpType::kMWr) {
    PostedBytes& posted = at(ingress).posted;
    posted.in += packet.payload_bytes;
    posted.dropped += is_held ? 0 : packet.payload_bytes;
  }
  return is_held ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
}

bool Switch::accept(std::uint16_t ingress, Packet& packet) {
  packet.answers_io_or_cfg_write = false;  // the wire does not say it [LNK-9.6]
  TlpLimits limits = limits_;
  limits.is_below = ingress == kUpstreamPort;
  const std::optional<TlpViolation> violation =
      packet.malformed ? packet.malformed : check_tlp(packet.tlp, limits);
  if (violation && is_malformed(*violation)) {
    // Dropped without an answer, and a fatal error. [LNK-9.17]
    count_error("malformed_tlp", name_of(*violation), packet);
    return false;
  }
  if (ingress != kUpstreamPort) {
    // Does the request bear an identity that belongs behind this port? [DHI D23] [DHI S1]
    const SourceVerdict verdict =
        check_source(packet.tlp, routing_.downstream(ingress), mode_, form_, at(ingress).handles);
    if (verdict == SourceVerdict::kForeignBus) {
      ++errors_["acs_violation"];
      return refuse(ingress, packet, CplStatus::kCA);  // as ACS answers what it blocks
    }
    if (verdict == SourceVerdict::kForeignHandle) {
      ++errors_["foreign_handle"];
      return refuse(ingress, packet, CplStatus::kUR);
    }
    unchecked_handles_ += verdict == SourceVerdict::kUncheckedHandle ? 1 : 0;
    learn(ingress, packet);
  }
  return dispatch(ingress, packet);
}

// By kind, and by kind and detail where there is one.
void Switch::count_error(const char* kind, const char* detail, const Packet& packet) {
  ++errors_[kind];
  if (*detail != '\0') {
    ++errors_[std::string(kind) + "." + detail];
  }
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), name(), kind, detail, &packet});
  }
}

// Whose the handles behind a port are, in case the switch has to answer for one. [DHI D23]
void Switch::learn(std::uint16_t ingress, const Packet& packet) {
  Port& port = at(ingress);
  if (mode_ != SwitchMode::kHandleAware || port.handles.empty() || !is_dhi_message(packet.tlp)) {
    return;
  }
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  const Bdf sender = packet.tlp.requester_id;
  if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
    if (alloc->identity.bdf == sender) {  // else the host refuses it [DHI S1]
      port.handles.learn(alloc->dhi, sender, true);
    }
  } else if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
    if (dealloc->scope == DeallocScope::kOne) {
      port.handles.learn(dealloc->dhi, sender, false);
    } else {
      port.handles.forget_all(sender);  // model: a handle without owner is answered as it stands
    }
  } else if (std::holds_alternative<DeallocDone>(message)) {
    port.handles.forget_all(sender);  // what of them, the host knows [DHI D15]
  }
}

// What goes down by a handle finds its way by the ranges of the ports, since the handle is nobody's
// BDF: a completion that echoes one, and a message of a domain. [DHI D16] [DHI D21] [DHI D23]
Route Switch::route_of(const Tlp& tlp, std::uint16_t ingress) const {
  const bool goes_by_handle =
      tlp.id_is_handle && ingress == kUpstreamPort && mode_ == SwitchMode::kHandleAware &&
      form_.identity == Identity::kDhi && form_.dhi_form == DhiForm::kRidFabric;
  const OptionalId<Dhi> handle = !goes_by_handle ? OptionalId<Dhi>()
                                 : is_completion(tlp.type)
                                     ? OptionalId<Dhi>(static_cast<Dhi>(tlp.requester_id.value))
                                 : is_message(tlp.type) ? handle_of(tlp, form_)
                                                        : OptionalId<Dhi>();
  if (!handle) {
    return routing_.route(tlp, ingress);
  }
  for (std::size_t index = 1; index < ports_.size(); ++index) {
    if (ports_[index]->handles.contains(*handle)) {
      return {Where::kDown, port_of(index)};
    }
  }
  return {Where::kNone, kUpstreamPort, false, NoRoute::kNoHandle};
}

bool Switch::dispatch(std::uint16_t ingress, Packet& packet) {
  const Route route = route_of(packet.tlp, ingress);
  switch (route.where) {
    case Where::kUp:
      if (route.is_redirected) {
        ++redirected_[is_completion(packet.tlp.type) ? 1 : 0];
      }
      return forward(ingress, packet, route);
    case Where::kDown:
      if (ingress != kUpstreamPort) {
        tell(TlpFate::kAcross, ingress, packet);
      }
      return forward(ingress, packet, route);
    case Where::kLocal: return end_here(ingress, packet, route.port);
    case Where::kBroadcast: return broadcast(ingress, packet);
    case Where::kGather: return gather(ingress, packet);
    case Where::kNone: break;
  }
  if (route.reason == NoRoute::kEgressBlocked) {  // [LNK-13.6]
    ++errors_["acs_violation"];
    return refuse(ingress, packet, CplStatus::kCA);
  }
  const bool is_held = refuse(ingress, packet, CplStatus::kUR);
  count_error(is_completion(packet.tlp.type) ? "unexpected_completion" : "unsupported_request",
              kReasons[static_cast<std::size_t>(route.reason)], packet);
  return is_held;
}

bool Switch::forward(std::uint16_t ingress, Packet& packet, const Route& route) {
  PacketRef out = route.to_type0 ? copy_of(packet, as_type0(packet.tlp)) : PacketRef(&packet);
  queue(route.port, std::move(out), {PacketRef(&packet), ingress, false});
  return true;
}

bool Switch::broadcast(std::uint16_t ingress, Packet& packet) {
  if (packet.tlp.message_code == msg::kPmeTurnOff) {  // older answers do not count [LNK-12.4]
    for (const auto& port : ports_) {
      port->has_gathered = false;
    }
  }
  broadcasts_.push_back({PacketRef(&packet), routing_.ports()});
  for (unsigned port = 0; port < routing_.ports(); ++port) {
    queue(static_cast<std::uint16_t>(port), copy_of(packet, packet.tlp),  // each link marks its own
          {PacketRef(&packet), ingress, true});
  }
  return true;
}

// One goes up when every downstream port has sent one.
bool Switch::gather(std::uint16_t ingress, Packet& packet) {
  at(ingress).has_gathered = true;
  if (!std::all_of(ports_.begin() + 1, ports_.end(),
                   [](const auto& port) { return port->has_gathered; })) {
    return false;
  }
  for (const auto& port : ports_) {
    port->has_gathered = false;
  }
  return forward(ingress, packet, {Where::kUp, kUpstreamPort});
}

// For a port of the switch itself: configuration is answered, messages end, and completions have
// come astray, since the switch asks for nothing.
bool Switch::end_here(std::uint16_t ingress, Packet& packet, std::uint16_t port) {
  if (is_configuration(packet.tlp.type)) {
    return access_config_space(ingress, packet, port);
  }
  if (is_completion(packet.tlp.type)) {
    tell(TlpFate::kRefused, ingress, packet);
    count_error("unexpected_completion", "", packet);
  }
  return false;
}

bool Switch::access_config_space(std::uint16_t ingress, Packet& packet, std::uint16_t port) {
  const Tlp& tlp = packet.tlp;
  PacketRef completion = make_completion(ingress, packet, tlp.completer_id, CplStatus::kSC);
  if (tlp.type == TlpType::kCfgWr0 || tlp.type == TlpType::kCfgWr1) {
    const std::uint32_t value =
        packet.payload.size() < 4 ? 0U : boost::endian::load_little_u32(packet.payload.data());
    configure(port, tlp.register_offset, value, tlp.first_be);
  } else {
    const std::uint32_t value = at(port).space.read(tlp.register_offset);
    completion->tlp.type = TlpType::kCplD;
    completion->tlp.length_dw = 1;
    completion->payload_bytes = 4;
    completion->payload.resize(4);
    boost::endian::store_little_u32(completion->payload.data(), value);
  }
  answer(ingress, packet, std::move(completion));
  return true;
}

// Non-posted requests get a Cpl with the status; everything else is dropped. [LNK-9.19]
bool Switch::refuse(std::uint16_t ingress, Packet& packet, CplStatus status) {
  tell(TlpFate::kRefused, ingress, packet);
  if (fc_class(packet.tlp.type) != FcClass::kNonPosted) {
    return false;
  }
  PacketRef completion = make_completion(ingress, packet, bdf_of(ingress), status);
  answer(ingress, packet, std::move(completion));
  return true;
}

void Switch::tell(TlpFate fate, std::uint16_t ingress, const Packet& packet) {
  if (fate_watch_) {
    fate_watch_(packet, ingress, fate);
  }
}

// The buffer of the request is in use until its answer has left: nobody makes the switch keep more
// than it has advertised.
void Switch::answer(std::uint16_t ingress, Packet& request, PacketRef completion) {
  completion->size = wire_size_of(completion->tlp, completion->payload_bytes);
  queue(ingress, std::move(completion), {PacketRef(&request), ingress, false});
}

PacketRef Switch::make_completion(std::uint16_t ingress, const Packet& request, Bdf completer,
                                  CplStatus status) const {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->domain = request.domain;
  packet->counts = request.counts;
  packet->purpose = request.purpose;
  packet->is_raw = request.is_raw;
  packet->answers_io_or_cfg_write = is_io_or_cfg_write(request.tlp.type);
  Tlp& tlp = packet->tlp;
  start_completion(tlp, request.tlp);
  end_without_data(tlp, request.tlp, status);
  tlp.completer_id = completer;
  // To the BDF behind the handle; an unknown handle is echoed. [DHI D16]
  const Port& port = at(ingress);
  const bool reads_handles = mode_ == SwitchMode::kHandleAware;
  tlp.requester_id = completion_target(request.tlp, form_, reads_handles ? &port.handles : nullptr);
  tlp.id_is_handle = request.tlp.id_is_handle && tlp.requester_id == request.tlp.requester_id &&
                     form_.identity == Identity::kDhi && is_in_requester_id(form_.dhi_form);
  return packet;
}

PacketRef Switch::copy_of(const Packet& packet, const Tlp& tlp) const {
  PacketRef copy = pool_.make(PacketKind::kTlp);
  const std::uint64_t uid = copy->uid;
  static_cast<PacketFields&>(*copy) = packet;
  copy->uid = uid;
  copy->tlp = tlp;
  copy->write = packet.write;
  copy->payload = packet.payload;
  copy->stamps = packet.stamps;
  return copy;
}

}  // namespace flitwise
