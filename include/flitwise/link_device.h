// SPDX-License-Identifier: Apache-2.0
/// A device of a library user at a link. It stands between the link and the functions of the device
/// that the configuration has there: these keep configuration space, BARs and what software brings
/// up, and everything else may be its own. Given to System by Attachments; docs/library.md has an
/// example.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>

#include "flitwise/ids.h"
#include "flitwise/link_socket.h"
#include "flitwise/packet.h"

namespace flitwise {

/// What a device needs to make packets of its own.
struct DeviceSite {
  Bdf function;                       ///< its first function, as software has numbered it
  PacketPool* pool = nullptr;         ///< of all packets
  std::function<void(Packet&)> size;  ///< fills in what the packet takes on the wire
};

class LinkDevice : public sc_core::sc_module {
 public:
  /// To and from the link, and to and from the functions: bound by System.
  LinkInitiator<LinkDevice> to_link{"to_link"}, to_functions{"to_functions"};
  LinkTarget<LinkDevice> from_link{"from_link"}, from_functions{"from_functions"};

  /// Software has brought the machine up, and devices begin. Calls begin().
  void start(const DeviceSite& site);
  bool has_unsent() const { return !unsent_.empty(); }
  std::uint64_t sent_tlps() const { return sent_tlps_; }
  std::uint64_t posted_bytes() const { return posted_bytes_; }  ///< payload of MWr, sent

  /// All of its work has been sent and answered: the run may end.
  virtual bool is_done() const = 0;
  /// What it waits for, in a report of a run that does not get on; empty where for nothing.
  virtual std::string waits_for() const { return {}; }

 protected:
  explicit LinkDevice(const sc_core::sc_module_name& name);

  /// May send from now on.
  virtual void begin() {}
  /// A TLP has come from the link. True: it was for this device; false: it goes on to the
  /// functions, as configuration requests should.
  virtual bool take(const Packet& packet) = 0;
  /// Sends a TLP as it stands, as soon as the link takes it; TLPs leave in the order of the calls.
  void send(PacketRef packet);
  const DeviceSite& site() const { return site_; }

 private:
  tlm::tlm_sync_enum link_sends(int id, Packet& packet, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
  tlm::tlm_sync_enum functions_send(int id, Packet& packet, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  tlm::tlm_sync_enum functions_have_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay);
  bool hand_over_first();

  DeviceSite site_;
  std::deque<PacketRef> unsent_;  // the link was full
  std::uint64_t sent_tlps_ = 0, posted_bytes_ = 0;
};

}  // namespace flitwise
