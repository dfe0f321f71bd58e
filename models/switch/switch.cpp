// SPDX-License-Identifier: Apache-2.0
// The switch: ports, their configuration, and what goes out. What comes in is in
// switch_receive.cpp.
#include "switch/switch.h"

#include <fmt/format.h>

#include <utility>

#include "common/ranges.h"
#include "config_space/functions.h"
#include "link/transaction_queues.h"

namespace flitwise {
namespace {

constexpr std::array<bool, kFcClasses> kTakesAll = {true, true, true};

TlpLimits limits_of(const LinkConfig& link) {
  TlpLimits limits;
  limits.mps = static_cast<unsigned>(link.mps);
  limits.is_end = false;
  return limits;
}

}  // namespace

Switch::Port::Port(const std::string& name, ConfigSpace config_space, const IdentityForm& form,
                   unsigned depth)
    : from_link(std::make_unique<LinkTarget<Switch>>((name + "_from_link").c_str())),
      to_link(std::make_unique<LinkInitiator<Switch>>((name + "_to_link").c_str())),
      space(std::move(config_space)),
      egress(form),
      queue_depth(depth),
      takes(kTakesAll) {}

Switch::Switch(const sc_core::sc_module_name& name, const SystemConfig& config,
               const LinkConfig& link, unsigned handle_bits,
               const std::vector<LinkConfig>& downstream, PacketPool& pool)
    : ComponentModule(name),
      mode_(config.switch_mode),
      forward_(config.switch_timing.forward),
      clock_(link.timing.clock),
      form_{link.identity, link.dhi_form, handle_bits},
      limits_(limits_of(link)),
      pool_(pool),
      routing_(RoutingTable::Kind::kSwitch, static_cast<unsigned>(downstream.size())),
      wakeup_("work", link.timing.clock) {
  routing_.set_handle_is_requester_id(mode_ == SwitchMode::kHandleAware &&
                                      form_.identity == Identity::kDhi &&
                                      is_in_requester_id(form_.dhi_form));
  const bool has_siblings =
      RoutingTable::functions_per_device(RoutingTable::Kind::kSwitch, downstream_ports()) > 1;
  add_port("upstream", cfg::pcie::PortType::kUpstreamPort, link, false);
  for (std::size_t i = 0; i < downstream.size(); ++i) {
    add_port("downstream" + std::to_string(i), cfg::pcie::PortType::kDownstreamPort, downstream[i],
             has_siblings);
  }
  wakeup_.wakes("work_process", [this] { work(); });
}

void Switch::add_handles(std::uint16_t port, BusRange buses, HandleRange range) {
  at(port).handles.add(buses, range);
}

void Switch::add_port(const std::string& name, cfg::pcie::PortType type, const LinkConfig& link,
                      bool has_siblings) {
  const auto index = static_cast<int>(ports_.size());
  ConfigSpace space =
      port_space(type, {link.preset.generation, link.preset.lanes},
                 static_cast<std::uint8_t>(index), has_siblings, downstream_ports());
  ports_.push_back(std::make_unique<Port>(name, std::move(space), form_, link.queue_depth));
  ports_.back()->from_link->register_nb_transport_fw(this, &Switch::receive, index);
  ports_.back()->to_link->register_nb_transport_bw(this, &Switch::link_has_room, index);
}

void Switch::configure(std::uint16_t port, std::uint16_t offset, std::uint32_t value,
                       std::uint8_t byte_enables) {
  at(port).space.write(offset, value, byte_enables);
  const Bridge bridge = decode_bridge(at(port).space);
  port == kUpstreamPort ? routing_.update_upstream(bridge)
                        : routing_.update_downstream(port, bridge);
}

void Switch::queue(std::uint16_t egress, PacketRef packet, HeldBuffer held) {
  const Time ready = now() + forward_;
  at(egress).egress.push({std::move(packet), std::move(held), ready, 0});
  wakeup_.at(ready);
}

void Switch::work() {
  wakeup_.taken();
  const Time t = now();
  for (const auto& port : ports_) {
    drain(*port, t);
    const Time next = port->egress.next_ready(t);
    if (next != Time::never()) {
      wakeup_.at(next);
    }
  }
}

tlm::tlm_sync_enum Switch::link_has_room(int index, Packet& /*packet*/, tlm::tlm_phase& /*phase*/,
                                         sc_core::sc_time& /*delay*/) {
  Port& port = *ports_[static_cast<std::size_t>(index)];
  port.takes = kTakesAll;
  drain(port, now());
  return tlm::TLM_COMPLETED;
}

// Hands over what is ready and may go, until the link has refused every class that is left.
void Switch::drain(Port& port, Time t) {
  while (const std::optional<FcClass> fc = port.egress.choose(t, port.takes)) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    Packet& packet = *port.egress.front(*fc).packet;
    if (!is_taken((*port.to_link)->nb_transport_fw(packet, phase, delay))) {
      port.takes[static_cast<std::size_t>(*fc)] = false;
      continue;
    }
    const EgressQueue::Entry gone = port.egress.take(*fc);
    if (t - gone.ready >= clock_) {  // else the first edge of the clock took it
      port.egress.waits().add(next_edge(gone.ready, clock_), t);
    }
    if (packet.tlp.type == TlpType::kMWr) {
      port.posted.out += packet.payload_bytes;
    }
    let_go(gone.held);
  }
}

// The receive buffer is free: its credits return to whoever sent the packet.
void Switch::let_go(const HeldBuffer& held) {
  if (!held.packet) {
    return;
  }
  if (held.is_broadcast) {
    const auto copies =
        find_if(broadcasts_, [&](const auto& one) { return one.packet == held.packet; });
    if (--copies->copies > 0) {
      return;
    }
    broadcasts_.erase(copies);
  }
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  (*at(held.port).from_link)->nb_transport_bw(*held.packet, phase, delay);
}

std::map<std::string, std::uint64_t> Switch::errors() const {
  std::map<std::string, std::uint64_t> all = errors_;
  for (const auto& [kind, count] : {std::pair("unchecked_handle", unchecked_handles_),
                                    std::pair("redirected_request", redirected_[0]),
                                    std::pair("redirected_completion", redirected_[1])}) {
    if (count > 0) {
      all[kind] = count;
    }
  }
  return all;
}

std::vector<CheckResult> Switch::checks() const {
  PostedBytes all;
  for (const auto& port : ports_) {
    all.in += port->posted.in;
    all.out += port->posted.out;
    all.dropped += port->posted.dropped;
  }
  return {{std::string(name()) + ": posted bytes went on or were dropped",
           all.in == all.out + all.dropped,
           fmt::format("{} in, {} out, {} dropped", all.in, all.out, all.dropped)}};
}

Bdf Switch::bdf_of(std::uint16_t port) const {
  return port == kUpstreamPort ? Bdf::of(routing_.upstream().primary, 0, 0)
                               : routing_.port_bdf(port);
}

bool Switch::is_quiet() const {
  return all_of(ports_, [](const auto& port) { return port->egress.empty(); });
}

void Switch::start_window() {
  for (const auto& port : ports_) {
    port->egress.waits().start_window(now());
  }
}

std::vector<WaitResult> Switch::waits() const {
  std::array<WaitBook, 2> books;
  std::array<std::uint64_t, 2> room{};
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    books[i == 0 ? 0 : 1].add(ports_[i]->egress.waits());
    room[i == 0 ? 0 : 1] += queue_room(ports_[i]->queue_depth);
  }
  const auto row = [&](std::size_t way, const char* direction) {
    return books[way].result(
        {name(), "egress", ResourceRole::kQueue, direction, "", "link.queue_depth", room[way]});
  };
  return {row(0, "up"), row(1, "down")};
}

std::string Switch::waiting() const {
  std::string text;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const EgressQueue& egress = ports_[i]->egress;
    if (!egress.empty()) {
      text += fmt::format(
          "{}: {} posted requests, {} non-posted requests and {} completions wait "
          "to leave by {}\n",
          name(), egress.size(FcClass::kPosted), egress.size(FcClass::kNonPosted),
          egress.size(FcClass::kCompletion),
          i == 0 ? "the upstream port" : fmt::format("downstream port {}", i - 1));
    }
  }
  return text;
}

}  // namespace flitwise
