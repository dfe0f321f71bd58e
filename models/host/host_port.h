// SPDX-License-Identifier: Apache-2.0
/// A root port as software sees it: a function of bus 0, and what its registers do to the link
/// below.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "config_space/capabilities.h"
#include "config_space/dhi_dvsec.h"
#include "flitwise/config.h"
#include "host/handle_blocks.h"
#include "host/host_access.h"
#include "host/host_request_table.h"
#include "iommu/translation_agent.h"
#include "root_complex/port_seams.h"
#include "routing/routing_table.h"

namespace flitwise {

/// What is around the ports of a host.
struct PortSurroundings {
  HostAccess& software;
  HostRequestTable& requests;
  HandleBlocks& handles;
  std::optional<RoutingTable> routes = {};
  TranslationAgent* agent = nullptr;
};

/// The link right below a port, and the device there. [LNK-10.4] to [LNK-10.8] [DHI D4]
struct LinkBelow {
  std::function<void()> reset;          ///< what a hot reset does there
  std::function<bool()> is_reset_over;  ///< and all that was sent before has arrived
  std::function<void()> take_down;      ///< Link Disable
  std::function<bool()> may_come_up;    ///< both ends are done with what came before
  std::function<void()> bring_up;
  std::function<bool()> is_up;
};

class HostPort final : public PortHost {
 public:
  struct Facts {
    bool can_be_disabled = true;  ///< nothing but a device is at the other end of its link
    bool has_siblings = false;    ///< other functions of the same device
  };
  HostPort(PortSurroundings& host, unsigned index, DownstreamPort& port, const LinkPreset& link,
           Facts facts);

  /// Software's write to its configuration space.
  void write(const CfgAccess& access);
  bool is_up() const { return state_ == LinkState::kUp; }
  /// [LNK-12.11]
  void report(const FoundError& found) { tell_root(report_error(space, found)); }

  // PortHost:
  void interrupt(const Packet& /*packet*/) override {}  // some core takes it
  void message(const Packet& packet) override;
  bool complete(const PacketRef& packet, Time when) override {
    return host_.requests.completed(*this, packet, when);
  }
  void report(cfg::aer::Uncorrectable error, const Packet& packet) override;
  void report(cfg::aer::Correctable error) override { tell_root(report_error(space, error)); }

  DownstreamPort& wire;
  DhiDvsec dvsec;
  ConfigSpace space;
  LinkBelow below;  ///< where there is nothing but a device

 private:
  enum class LinkState : std::uint8_t { kUp, kDisabled, kDraining, kTraining };

  void tell_root(std::optional<std::uint8_t> message_code);
  std::uint16_t link_control() const;
  void end_hot_reset();
  void link_disable_written();
  void train_link();

  PortSurroundings& host_;
  const unsigned index_;
  LinkState state_ = LinkState::kUp;
  bool is_polled_ = false;  // somebody will look whether it comes up
};

}  // namespace flitwise
