// SPDX-License-Identifier: Apache-2.0
/// A switch between links that are nothing but a record: each side sends at will, and refuses what
/// a test tells it to.
#pragma once

#include <gmock/gmock.h>

#include <array>

#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "routing/routing_table.h"
#include "switch/switch.h"
#include "tlp/wire_size.h"

namespace flitwise {

/// What stands at a port instead of a link.
class FakeLink : public sc_core::sc_module {
 public:
  LinkInitiator<FakeLink> to_port{"to_port"};
  LinkTarget<FakeLink> from_port{"from_port"};

  explicit FakeLink(const sc_core::sc_module_name& name) : sc_module(name) {
    from_port.register_nb_transport_fw(this, &FakeLink::taken, 0);
    to_port.register_nb_transport_bw(this, &FakeLink::freed, 0);
  }

  /// Hands a packet to the port; true: its receive buffer is free at once.
  bool send(const PacketRef& packet) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    packet->size = wire_size_of(packet->tlp, packet->payload_bytes);
    const auto answer = to_port->nb_transport_fw(*packet, phase, delay);
    EXPECT_NE(answer, tlm::TLM_ACCEPTED);
    return answer == tlm::TLM_COMPLETED;
  }
  /// Takes all classes again and says so.
  void open() {
    refuses = {};
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    from_port->nb_transport_bw(*any, phase, delay);
  }
  std::vector<TlpType> types() const {
    std::vector<TlpType> types;
    for (const PacketRef& packet : got) {
      types.push_back(packet->tlp.type);
    }
    return types;
  }

  std::vector<PacketRef> got;
  std::vector<Time> times;
  std::vector<const Packet*> freed_packets;
  std::array<bool, kFcClasses> refuses{};
  PacketRef any;  ///< for open()

 private:
  tlm::tlm_sync_enum taken(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                           sc_core::sc_time& /*delay*/) {
    any = PacketRef(&packet);
    if (refuses[static_cast<std::size_t>(fc_class(packet.tlp.type))]) {
      return tlm::TLM_ACCEPTED;
    }
    got.emplace_back(&packet);
    times.push_back(now());
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum freed(int /*id*/, Packet& packet, tlm::tlm_phase& phase,
                           sc_core::sc_time& /*delay*/) {
    EXPECT_EQ(phase, tlm::END_RESP);
    freed_packets.push_back(&packet);
    return tlm::TLM_COMPLETED;
  }
};

/// Switch sw0 below bus 1, with two devices: on buses 3 and 4, handles 0..15 and 16..31.
class SwitchBench {
 public:
  explicit SwitchBench(Config config = handle_config())
      : sw("sw0", config.system, config.link, config.device.dhi.bits, {LinkConfig{}, LinkConfig{}},
           pool) {
    connect(up, kUpstreamPort);
    connect(*down[0], 0);
    connect(*down[1], 1);
    set_up = set_up_switch(sw, 1, {{1, 1 << 16}, {1, 1 << 16}}, access_control(config.system.acs));
    sw.add_handles(0, {3, 3}, {Dhi{0}, Dhi{15}});
    sw.add_handles(1, {4, 4}, {Dhi{16}, Dhi{31}});
  }

  static Config handle_config() {
    Config config;
    config.system.topology = Topology::kSwitch;
    config.link.identity = Identity::kDhi;
    config.link.dhi_form = DhiForm::kRidFabric;
    return config;
  }

  PacketRef make(TlpType type, Bdf requester = Bdf::of(3, 0, 0)) {
    PacketRef packet = pool.make(PacketKind::kTlp);
    Tlp& tlp = packet->tlp;
    tlp.type = type;
    tlp.requester_id = requester;
    if (is_memory_request(type)) {
      tlp.address = 0x1000;
      tlp.length_dw = 1;
      tlp.first_be = 0xf;
    }
    if (has_data(type)) {
      tlp.length_dw = 1;
      packet->payload.assign(4, 0x5a);
      packet->payload_bytes = 4;
    }
    if (is_completion(type)) {
      tlp.byte_count = 4;
    }
    return packet;
  }
  PacketRef with_handle(TlpType type, std::uint16_t handle) {
    PacketRef packet = make(type, Bdf{handle});
    packet->tlp.id_is_handle = true;
    return packet;
  }
  PacketRef configuration(TlpType type, Bdf target, std::uint16_t offset, std::uint32_t value = 0) {
    PacketRef packet = make(type, Bdf{});
    packet->tlp.completer_id = target;
    packet->tlp.register_offset = offset;
    packet->tlp.length_dw = 1;
    packet->tlp.first_be = 0xf;
    for (unsigned byte = 0; byte < packet->payload.size(); ++byte) {
      packet->payload[byte] = static_cast<std::uint8_t>(value >> (8 * byte));
    }
    return packet;
  }
  static void run(Time span = Time::from_ns(200)) { sc_core::sc_start(to_sc_time(span)); }

  PacketPool pool;
  Switch sw;
  FakeLink up{"up"};
  std::array<std::unique_ptr<FakeLink>, 2> down = {std::make_unique<FakeLink>("down0"),
                                                   std::make_unique<FakeLink>("down1")};
  SwitchSetUp set_up;

 private:
  void connect(FakeLink& link, std::uint16_t port) {
    link.to_port.bind(sw.from_link(port));
    sw.to_link(port).bind(link.from_port);
  }
};

}  // namespace flitwise
