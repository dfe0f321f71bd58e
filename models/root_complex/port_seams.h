// SPDX-License-Identifier: Apache-2.0
/// What a root port takes from a configuration, and what it, the host around it and its link ask of
/// each other: small interfaces, so that each can be tested with others in the place of its
/// neighbours.
#pragma once

#include <functional>

#include "config_space/capabilities.h"
#include "config_space/registers.h"
#include "dhi/handle_types.h"
#include "faults/broken_rules.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "tlp/identity.h"
#include "tlp/splitter.h"

namespace flitwise {

struct RootPortConfig {
  HostConfig host;
  LinkConfig link;
  MessageConfig message;
  unsigned handle_bits = 0;      ///< of the device below
  bool wants_alloc_ack = false;  ///< it does [DHI D8]
  unsigned stu = 0;              ///< of its functions [CFG-05]
  unsigned reply_split = 0;      ///< IommuConfig::reply_split
  bool real_payload = true;
  /// May change a completion of a read; false: the read has no answer. Empty: it changes none.
  std::function<bool(CompletionPiece&)> completion_hook;

  static RootPortConfig of(const Config& config) {
    return {config.host,
            config.link,
            config.message,
            config.device.dhi.bits,
            config.device.dhi.alloc_order == AllocOrder::kAck,
            config.device.atc.stu,
            config.iommu.reply_split,
            config.workload.real_payload,
            broken_completions(config.faults)};
  }
  IdentityForm form() const { return {link.identity, link.dhi_form, handle_bits}; }
};

/// What goes on to the host beside memory accesses. Implemented by HostBridge.
class PortHost {
 public:
  virtual void message(const Packet& packet) = 0;  ///< other than a DHI message
  /// For a request that the host sent; false: none waits for it.
  virtual bool complete(const PacketRef& packet, Time when) = 0;
  /// The port has found something wrong with a packet from below. [LNK-12.11]
  virtual void report(cfg::aer::Uncorrectable error, const Packet& packet) = 0;
  virtual void report(cfg::aer::Correctable error) = 0;

 protected:
  ~PortHost() = default;
};

/// What software and its registers do with a port. Implemented by RootPort.
class DownstreamPort {
 public:
  /// Who hears of what comes up; it outlives the port's last use.
  virtual void set_host(PortHost& host) = 0;
  /// A request of the host to go down; its fields are complete, tag included.
  virtual void send(PacketRef packet, Time delay) = 0;
  /// Buses below the port, as software has set them.
  virtual void set_buses(BusRange buses) = 0;
  virtual BusRange buses() const = 0;
  /// Bus Master Enable of the port's own function: are requests from below let in? They are until
  /// called.
  virtual void set_bus_master(bool is_enabled) = 0;
  /// As software has set it at the port. [LNK-12.6]
  virtual void set_ecrc(const EcrcControl& control) = 0;

 protected:
  ~DownstreamPort() = default;
};

/// Both directions of the link below. Implemented by RootPort.
class PortWire {
 public:
  /// The packet may leave at `ready`; false: refused for now.
  virtual bool give(Packet& packet, Time ready) = 0;
  /// The receive buffer of the packet is free.
  virtual void release(Packet& packet) = 0;

 protected:
  ~PortWire() = default;
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

}  // namespace flitwise
