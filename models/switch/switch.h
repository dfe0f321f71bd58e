// SPDX-License-Identifier: Apache-2.0
/// A switch: one upstream port and several downstream ones, store and forward. Its rules are in
/// src/routing; docs/switch.md says what is modelled.
#pragma once

#include <systemc>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "config_space/config_space.h"
#include "config_space/registers.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"
#include "routing/egress_queue.h"
#include "routing/request_rules.h"
#include "routing/routing_table.h"
#include "tlp/tlp_check.h"

namespace flitwise {

class Switch : public ComponentModule {
 public:
  /// The upstream link, and handles as below the switch; the downstream links.
  /// REQUIRES: downstream is not empty.
  Switch(const sc_core::sc_module_name& name, const SystemConfig& config, const LinkConfig& link,
         unsigned handle_bits, const std::vector<LinkConfig>& downstream, PacketPool& pool);

  /// Sockets towards the Link of a port: a downstream port, or kUpstreamPort.
  LinkTarget<Switch>& from_link(std::uint16_t port) { return *at(port).from_link; }
  LinkInitiator<Switch>& to_link(std::uint16_t port) { return *at(port).to_link; }

  /// A write to the configuration space of a port's own function, as a request that has come to it.
  void configure(std::uint16_t port, std::uint16_t offset, std::uint32_t value,
                 std::uint8_t byte_enables = 0xf);
  const ConfigSpace& config_space(std::uint16_t port) const { return at(port).space; }
  /// Of the port's own function, as software has numbered the buses.
  Bdf bdf_of(std::uint16_t port) const;
  const RoutingTable& routing() const { return routing_; }
  /// What a device below a port was given. None until called. [DHI D6, D23]
  void add_handles(std::uint16_t port, BusRange buses, HandleRange range);

  SwitchMode mode() const { return mode_; }
  unsigned downstream_ports() const { return routing_.ports(); }
  /// Nothing waits inside.
  bool is_quiet() const override;
  void start_window() override;
  /// What waits to go up, and to go down, until the link of its egress port takes it.
  std::vector<WaitResult> waits() const override;
  /// Payload of MWr at one port since the start. Unit: byte.
  struct PostedBytes {
    std::uint64_t in = 0;       ///< from its link
    std::uint64_t out = 0;      ///< to its link
    std::uint64_t dropped = 0;  ///< of `in`: refused and counted as an error
  };
  PostedBytes posted_bytes(std::uint16_t port) const { return at(port).posted; }
  std::vector<CheckResult> checks() const override;
  /// Counted by kind: what was refused, dropped, or passed with a handle that nobody looked at.
  std::map<std::string, std::uint64_t> errors() const override;
  std::string waiting() const override;
  void observe(const Observer& observer) override { observer_ = &observer; }
  /// `watch` is told of each TLP that goes across to a peer or is refused, but for malformed ones,
  /// and of the port that it came through.
  using FateWatch = std::function<void(const Packet&, std::uint16_t port, TlpFate)>;
  void watch_fates(FateWatch watch) { fate_watch_ = std::move(watch); }

 private:
  struct Port {
    Port(const std::string& name, ConfigSpace config_space, const IdentityForm& form,
         unsigned queue_depth);

    std::unique_ptr<LinkTarget<Switch>> from_link;
    std::unique_ptr<LinkInitiator<Switch>> to_link;
    ConfigSpace space;
    EgressQueue egress;
    unsigned queue_depth;                // of the link
    std::array<bool, kFcClasses> takes;  // the link has not refused since it last made room
    HandleOwners handles;                // downstream ports
    PostedBytes posted;
    bool has_gathered = false;  // a message that waits for those of the other ports
  };
  struct Broadcast {
    PacketRef packet;
    unsigned copies = 0;  // still inside
  };

  // Indices: 0 is the upstream port, i + 1 the downstream port i.
  static std::size_t index_of(std::uint16_t port) {
    return port == kUpstreamPort ? 0 : std::size_t{port} + 1;
  }
  static std::uint16_t port_of(std::size_t index) {
    return index == 0 ? kUpstreamPort : static_cast<std::uint16_t>(index - 1);
  }
  Port& at(std::uint16_t port) { return *ports_[index_of(port)]; }
  const Port& at(std::uint16_t port) const { return *ports_[index_of(port)]; }
  void add_port(const std::string& name, cfg::pcie::PortType type, const LinkConfig& link,
                bool has_siblings);

  // What comes in (switch_receive.cpp). Each returns true where the receive buffer stays in use.
  tlm::tlm_sync_enum receive(int index, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  bool accept(std::uint16_t ingress, Packet& packet);
  void learn(std::uint16_t ingress, const Packet& packet);
  Route route_of(const Tlp& tlp, std::uint16_t ingress) const;
  bool dispatch(std::uint16_t ingress, Packet& packet);
  bool forward(std::uint16_t ingress, Packet& packet, const Route& route);
  bool broadcast(std::uint16_t ingress, Packet& packet);
  bool gather(std::uint16_t ingress, Packet& packet);
  bool end_here(std::uint16_t ingress, Packet& packet, std::uint16_t port);
  bool refuse(std::uint16_t ingress, Packet& packet, CplStatus status);
  void count_error(const char* kind, const char* detail, const Packet& packet);
  void tell(TlpFate fate, std::uint16_t ingress, const Packet& packet);
  bool access_config_space(std::uint16_t ingress, Packet& packet, std::uint16_t port);
  void answer(std::uint16_t ingress, Packet& request, PacketRef completion);
  PacketRef make_completion(std::uint16_t ingress, const Packet& request, Bdf completer,
                            CplStatus status) const;
  PacketRef copy_of(const Packet& packet, const Tlp& tlp) const;

  // What goes out.
  void queue(std::uint16_t egress, PacketRef packet, HeldBuffer held);
  void work();
  void drain(Port& port, Time now);
  void let_go(const HeldBuffer& held);
  tlm::tlm_sync_enum link_has_room(int index, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);

  const SwitchMode mode_;
  const Time forward_, clock_;
  const IdentityForm form_;
  const TlpLimits limits_;
  PacketPool& pool_;
  RoutingTable routing_;
  std::vector<std::unique_ptr<Port>> ports_;
  Wakeup wakeup_;
  std::vector<Broadcast> broadcasts_;
  std::uint64_t unchecked_handles_ = 0;
  std::array<std::uint64_t, 2> redirected_{};  // requests and completions for a peer [LNK-13.2]
  std::map<std::string, std::uint64_t> errors_;
  FateWatch fate_watch_;
  const Observer* observer_ = nullptr;
};

}  // namespace flitwise
