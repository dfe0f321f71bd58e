// SPDX-License-Identifier: Apache-2.0
// Registers of a root port; requests, completions, timeouts.
#include "host/host_port.h"

#include "config_space/functions.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

// How often the end of a reset, or of a link's training, is looked for.
constexpr Time kResetPoll = Time::from_ns(100);

}  // namespace

// The link of a port above a switch cannot be disabled. [LNK-N.1]
HostPort::HostPort(PortSurroundings& host, unsigned index, DownstreamPort& port,
                   const LinkPreset& preset, Facts facts)
    : wire(port),
      dvsec(DhiCapability{true, kMaxHandleBits}),
      space(port_space(cfg::pcie::PortType::kRootPort,
                       {preset.generation, preset.lanes, facts.can_be_disabled}, 0,
                       facts.has_siblings, 0, facts.completes)),
      host_(host),
      index_(index) {
  space.add(dhi_capability(dvsec));
}

void HostPort::message(const Packet& packet) {
  const std::uint8_t code = packet.tlp.message_code;
  if (code == msg::kErrCor || code == msg::kErrNonFatal || code == msg::kErrFatal) {
    note_error_message(space, code, packet.tlp.requester_id);
  } else if (host_.agent != nullptr) {
    host_.agent->receive(packet);
  }
}

void HostPort::report(cfg::aer::Uncorrectable error, const Packet& packet) {
  report({error, received_header(packet), is_advisory(error, packet.tlp)});
}

// As if the port had sent itself the message.
void HostPort::tell_root(std::optional<std::uint8_t> message_code) {
  if (message_code) {
    note_error_message(space, *message_code, host_.routes->port_bdf(index_));
  }
}

void HostPort::write(const CfgAccess& access) {
  const WriteEffect effect = space.write(access.offset, access.value, access.byte_enables);
  if (!effect.any()) {
    return;
  }
  const Bridge bridge = decode_bridge(space);
  host_.routes->update_downstream(index_, bridge);
  if (effect.command_changed) {
    wire.set_bus_master(bridge.bus_master);
  }
  if (effect.bus_numbers_changed) {
    wire.set_buses({bridge.secondary, bridge.subordinate});
  }
  if (effect.ecrc_control_changed) {
    wire.set_ecrc(ecrc_control(space));
  }
  if (effect.dhi_control_changed) {
    host_.handles.negotiate(dvsec);
  }
  if (effect.secondary_bus_reset && below.reset) {
    host_.handles.begin_reset(dvsec);
    below.reset();
    end_hot_reset();
  }
  if (effect.link_disable_changed && below.take_down) {
    link_disable_written();
  }
}

// Uses that are on the link already find their entries; after them the host's end is cleared too.
// [DHI D4]
void HostPort::end_hot_reset() {
  if (!below.is_reset_over()) {
    host_.software.after(kResetPoll, [this] { end_hot_reset(); });
  } else if (is_up()) {  // else it is not over until the link comes up
    host_.handles.end_reset(dvsec);
  }
}

std::uint16_t HostPort::link_control() const {
  return static_cast<std::uint16_t>(space.find(cfg::kCapPcie).value() + cfg::pcie::kLinkControl);
}

// [LNK-10.4] [LNK-10.8]
void HostPort::link_disable_written() {
  const bool is_disabled = (space.read(link_control()) & cfg::pcie::kLinkDisable) != 0;
  if (!is_disabled && state_ == LinkState::kDisabled) {
    state_ = LinkState::kDraining;
    if (!is_polled_) {
      train_link();
    }
  } else if (is_disabled) {
    const bool is_down_already = state_ == LinkState::kDraining;
    state_ = LinkState::kDisabled;
    if (is_down_already) {
      return;
    }
    space.set(link_control(), cfg::pcie::kLinkActive, 0);
    host_.handles.begin_reset(dvsec);
    below.take_down();
    host_.requests.refuse_requests_of(*this);
  }
}

// Until it is up, or disabled again. What came over the link before is over first, so that nothing
// is taken for an answer of afterwards. [LNK-10.7] [LNK-10.8] [DHI D4]
void HostPort::train_link() {
  if (state_ == LinkState::kDraining && below.may_come_up()) {
    host_.handles.end_reset(dvsec);
    below.bring_up();
    state_ = LinkState::kTraining;
  } else if (state_ == LinkState::kTraining && below.is_up()) {
    space.set(link_control(), cfg::pcie::kLinkActive, cfg::pcie::kLinkActive);
    state_ = LinkState::kUp;
  }
  is_polled_ = state_ == LinkState::kDraining || state_ == LinkState::kTraining;
  if (is_polled_) {
    host_.software.after(kResetPoll, [this] { train_link(); });
  }
}

HostRequestTable::HostRequestTable(const HostConfig& config, PacketPool& pool, HostAccess& software,
                                   Wakeup& wakeup, std::map<std::string, std::uint64_t>& errors)
    : mmio_(config.timing.mmio),
      step_(config.timing.software_step),
      completion_timeout_(config.timing.completion_timeout),
      pool_(pool),
      software_(software),
      wakeup_(wakeup),
      errors_(errors),
      outstanding_(256) {}

void HostRequestTable::send(Request request) {
  if (!request.port->is_up()) {
    ++errors_["link_down"];  // [LNK-10.5]
    refuse(std::move(request.done));
    return;
  }
  if (!tags_.has_free()) {
    request.since = now();
    waiting_.push_back(std::move(request));
    return;
  }
  const std::uint16_t tag = tags_.take();
  request.packet->tlp.tag = tag;
  Outstanding& out = outstanding_[tag];
  out.reassembly = Reassembly(request.packet->tlp, kMaxRead);
  out.answer = HostAnswer();
  out.serial = ++last_serial_;
  ++in_flight_;
  deadlines_.push_back({now() + completion_timeout_, tag, out.serial});
  wakeup_.at(deadlines_.front().when);
  out.request = std::move(request);
  out.request.port->wire.send(out.request.packet, mmio_);
}

bool HostRequestTable::completed(const HostPort& port, const PacketRef& packet, Time when) {
  const Tlp& tlp = packet->tlp;
  if (tlp.tag >= outstanding_.size() || outstanding_[tlp.tag].serial == 0 ||
      tlp.requester_id != kRootComplexId || outstanding_[tlp.tag].request.port != &port) {
    return false;
  }
  Outstanding& out = outstanding_[tlp.tag];
  const CompletionFit fit = out.reassembly.check(tlp);
  if (!fits(fit)) {
    return false;
  }
  out.answer.status = tlp.status;
  if (fit == CompletionFit::kPartial || fit == CompletionFit::kLast) {
    const auto lead = static_cast<std::ptrdiff_t>(tlp.lower_address % 4);
    const auto count = static_cast<std::ptrdiff_t>(out.reassembly.bytes_in(tlp));
    if (!packet->payload.empty() && tlp.type == TlpType::kCplD &&
        packet->payload.size() >= static_cast<std::size_t>(lead + count)) {
      out.answer.data.insert(out.answer.data.end(), packet->payload.begin() + lead,
                             packet->payload.begin() + lead + count);
    }
    out.reassembly.accept(tlp);
    out.answer.is_poisoned |= has_poisoned_data(tlp);
  }
  if (fit != CompletionFit::kPartial) {
    if (out.answer.is_poisoned) {
      out.answer.data.clear();
    }
    finish(tlp.tag, when - now() + mmio_);
  }
  return true;
}

// The answer reaches software `delay` from now; a configuration request that was put off is
// repeated.
void HostRequestTable::finish(std::uint16_t tag, Time delay) {
  Outstanding& out = outstanding_[tag];
  HostAnswer answer = std::move(out.answer);
  Request request = std::exchange(out.request, {});
  out.serial = 0;
  tags_.give(tag);
  --in_flight_;
  if (answer.status == CplStatus::kRRS && is_configuration(request.packet->tlp.type)) {
    software_.after(delay + step_, [this, request] {
      PacketRef again = pool_.make(PacketKind::kTlp);
      again->counts = false;
      again->tlp = request.packet->tlp;
      again->payload = request.packet->payload;
      again->payload_bytes = request.packet->payload_bytes;
      send({std::move(again), request.port, request.done});
    });
  } else {
    software_.after(delay,
                    [done = std::move(request.done), answer = std::move(answer)] { done(answer); });
  }
  while (!waiting_.empty() && tags_.has_free()) {
    Request next = std::move(waiting_.front());
    waiting_.pop_front();
    tag_waits.add(next.since, now());
    send(std::move(next));
  }
}

void HostRequestTable::refuse_requests_of(const HostPort& port) {
  for (std::size_t tag = 0; tag < outstanding_.size(); ++tag) {
    if (outstanding_[tag].serial != 0 && outstanding_[tag].request.port == &port) {
      ++errors_["link_down"];
      outstanding_[tag].answer = HostAnswer::failed(CplStatus::kUR);
      finish(static_cast<std::uint16_t>(tag), mmio_);
    }
  }
}

// [LNK-9.18]
void HostRequestTable::check_timeouts() {
  for (; !deadlines_.empty(); deadlines_.pop_front()) {
    const Deadline first = deadlines_.front();
    Outstanding& out = outstanding_[first.tag];
    if (out.serial != first.serial) {
      continue;
    }
    if (first.when > now()) {
      wakeup_.at(first.when);
      return;
    }
    ++errors_["completion_timeout"];
    if (observer != nullptr && *observer) {
      (*observer)({now(), place, "completion_timeout", "", &*out.request.packet});
    }
    out.request.port->report(FoundError{cfg::aer::Uncorrectable::kCompletionTimeout});
    out.answer = HostAnswer();
    out.answer.is_timeout = true;
    finish(first.tag, mmio_);
  }
}

}  // namespace flitwise
