// SPDX-License-Identifier: Apache-2.0
// Handles in a device's stream of packets.
#include "endpoint/handle_path.h"

namespace flitwise {

HandlePath::HandlePath(const EndpointConfig& config, const Surroundings& surroundings)
    : config_(config), s_(surroundings), agent_(config.device, surroundings.pool) {}

[[gnu::flatten]] DhiAgent::Answer HandlePath::acquire(const Transfer& transfer,
                                                      const DeviceIdentity& identity, Op op,
                                                      std::size_t free_tags, Time t) {
  const bool are_used = config_.link.identity == Identity::kDhi && agent_.is_active() &&
                        op != Op::kMsi &&
                        (config_.link.dhi_form != DhiForm::kTag || op == Op::kWrite);
  if (!are_used) {
    return {};
  }
  const UseKind use = op == Op::kRead ? UseKind::kNonPosted : UseKind::kPosted;
  const bool can_flush = free_tags > (use == UseKind::kNonPosted ? 1U : 0U);
  const DhiAgent::Answer handle = agent_.acquire(transfer.domain, identity, use, can_flush, first_);
  if (!first_.empty()) {
    send_first(transfer, identity, t, handle.latency);
  }
  stall_.set(handle.outcome == DhiAgent::Outcome::kWait, t);
  return handle;
}

// Handle messages and flushes go out ahead of the TLP that needs them. [DHI D8]
// The local entry is written before any of them leaves.
void HandlePath::send_first(const Transfer& cause, const DeviceIdentity& identity, Time t,
                            Time latency) {
  for (PacketRef& packet : first_) {
    packet->counts = cause.counts;
    packet->identity = identity;
    packet->domain = cause.domain;
    packet->stamp(Hop::kIssue, t);
    if (packet->purpose == HandlePurpose::kFlush) {
      packet->tlp.address = cause.address & ~std::uint64_t{3};
      packet->tlp.is_4dw = cause.address >> 32 != 0;
      apply_identity(packet->tlp,
                     {Identity::kBdfPasid, config_.link.dhi_form, config_.device.dhi.bits},
                     identity, std::nullopt);
      s_.requests.open_read(*packet, HandlePin{}, t);
    }
    s_.sizer.size(*packet);
    s_.output.send(std::move(packet), t + config_.device.timing.pipeline + latency, {});
  }
  first_.clear();
}

void HandlePath::request_ended(const OutstandingRequest& request, TransferStatus status) {
  let_go(request, status == TransferStatus::kTimeout);
  const Packet& packet = *request.request;
  const bool is_flush = packet.purpose == HandlePurpose::kFlush;
  if (status == TransferStatus::kDone) {
    const bool ordered = !packet.tlp.relaxed_ordering && !packet.tlp.id_based_ordering;
    if (is_flush) {
      agent_.flush_done(request.posted_serial);
    } else if (ordered) {
      agent_.pushed_through(request.posted_serial);
    }
  } else if (is_flush) {
    s_.events.refuse(packet, "flush_failed");
    agent_.flush_failed(status != TransferStatus::kTimeout);
  }
}

// A switch may hold the request still, and lets a later ALLOC pass it. Without one the link keeps
// both in order. A conventional reset has handles negotiated anew. [DHI S2]
void HandlePath::let_go(const OutstandingRequest& request, bool is_given_up) {
  if (!request.pin) {
    return;
  }
  if (!is_given_up || !config_.has_switch || s_.functions.is_in_conventional_reset()) {
    agent_.nonposted_done(request.pin);
  } else if (agent_.nonposted_given_up(request.pin)) {
    s_.events.refuse(*request.request, "handle_kept");
  }
}

void HandlePath::note_draining() {
  is_draining_ = is_draining_ || agent_.is_draining();
  if (is_draining_) {
    s_.output.begin_duties();
  }
}

void HandlePath::end_context(DomainId domain) {
  agent_.end_context(domain);
  note_draining();
}

void HandlePath::context_stopped(DomainId domain) {
  if (config_.device.dhi.management == HandleManagement::kDevice) {
    end_context(domain);
  }
}

// What the host orders comes from the host.
const char* HandlePath::receive(const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  const auto* const order = std::get_if<DeallocOrder>(&message);
  const char* refusal = nullptr;
  if (order == nullptr) {
    refusal = agent_.receive(message);
  } else if (packet.tlp.requester_id != kRootComplexId) {
    refusal = "foreign_handle_order";
  } else {
    const Bdf addressed{static_cast<std::uint16_t>(packet.tlp.message_dw2 >> 16)};
    refusal = s_.functions.index_of(addressed) < s_.functions.count()
                  ? agent_.take(*order, addressed, s_.functions.base())
                  : "unsupported_request";
  }
  note_draining();
  return refusal;
}

HandleStatus HandlePath::install(const AllocMessage& message) {
  const std::optional<DomainId> domain = s_.functions.domain_of(message.identity);
  return domain ? agent_.install(*domain, message) : HandleStatus::kFunctionNotGranted;
}

void HandlePath::deallocate(const DeallocMessage& message) {
  agent_.deallocate(message);
  is_draining_ = has_dealloc_command_ = true;
  s_.output.begin_duties();
}

bool HandlePath::drain(Time t) {
  if (agent_.is_draining()) {
    const bool can_flush = s_.requests.free_tags(0) > 0 && s_.functions.is_running(0);
    const std::size_t orders = agent_.orders();
    if (!s_.functions.is_in_reset(0)) {  // which sends nothing, and forgets them
      agent_.answer_orders(first_);
    }
    agent_.drain(s_.functions.base(), can_flush, first_);
    if (agent_.orders() < orders) {
      s_.output.wake_at(t);  // a transfer that waits for a handle can have one
    }
    Transfer cause;
    cause.address = config_.buffer_base;
    cause.counts = false;
    send_first(cause, DeviceIdentity(s_.functions.base()), t, Time{});
  }
  is_draining_ = agent_.is_draining();
  const bool is_done = !is_draining_ && has_dealloc_command_;
  has_dealloc_command_ = has_dealloc_command_ && !is_done;
  return is_done;
}

void HandlePath::start_contexts(std::uint32_t count, bool counts, Time t) {
  const bool comes_with_context = config_.device.dhi.allocate_at == AllocateAt::kContextCreation ||
                                  config_.device.dhi.management == HandleManagement::kSoftware;
  if (config_.link.identity != Identity::kDhi || !agent_.is_active() || !comes_with_context) {
    return;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    Transfer cause;
    cause.domain = DomainId{index};
    cause.address = config_.buffer_base;
    cause.counts = counts;
    const DeviceIdentity& identity = s_.functions.identity_of(cause.domain);
    const Time latency = agent_.start_context(cause.domain, identity, first_);
    send_first(cause, identity, t, latency);
  }
  s_.output.wake_at(t);
}

void HandlePath::start_window(Time t) {
  agent_.start_window();
  window_stall_ = stall_.so_far(t);
}

DhiResult HandlePath::result(const std::string& device, Time t) const {
  DhiResult result = agent_.result(device);
  result.stall = stall(t).time;
  return result;
}

}  // namespace flitwise
