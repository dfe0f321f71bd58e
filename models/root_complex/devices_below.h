// SPDX-License-Identifier: Apache-2.0
/// The devices below a root port: whose a request is, by the identity or the handle that it
/// carries, and what the host lets that one do.
#pragma once

#include <vector>

#include "root_complex/host_handles.h"
#include "root_complex/port_seams.h"
#include "routing/host_rules.h"

namespace flitwise {

class DevicesBelow {
 public:
  struct Device {
    BusRange buses;
    HostHandles* handles = nullptr;  ///< the host's end of its handles
    bool wants_alloc_ack = false;    ///< [DHI D8]
    unsigned stu = 0;                ///< smallest translation unit of its functions [CFG-05]
  };

  /// Until set() is called, all that is below is one device.
  DevicesBelow(const RootPortConfig& config, HostHandles& handles);
  /// REQUIRES: not empty.
  void set(std::vector<Device> devices);
  /// Buses below the port, as software has set them.
  void set_buses(BusRange buses) { buses_ = buses; }
  BusRange buses() const { return buses_; }

  struct Verdict {
    const char* refusal = nullptr;   ///< why it cannot be served; null: it can
    bool is_invalid_handle = false;  ///< that is why
    bool is_disabled = false;        ///< ... and the host's end of handles is not enabled
    DomainStanding standing;
    Time latency{};  ///< of the look-up
  };
  /// Finds the domain of a request; a handle leaves it in the packet. What has to go down in
  /// answer is appended. [DHI D16] [DHI D17]
  Verdict resolve(Packet& packet, Time now, std::vector<PacketRef>& answers) const;
  /// Named in full, or by a handle. REQUIRES: resolve() found no fault. [DHI D17]
  DeviceIdentity domain_behind(const Packet& packet) const;
  unsigned stu_of(Bdf function) const { return of(function).stu; }
  bool is_foreign(Bdf requester) const { return checks_requester_ && !buses_.contains(requester); }

  /// A DHI message; returns how long the table takes for it.
  Time receive(const Packet& packet, Time now, std::vector<PacketRef>& answers) const;

  /// A message that goes down to a domain carries its handle, where no switch has to find the way
  /// by the BDF. False: the domain has none, and the message is not sent. delay: grows by the
  /// search. [DHI D21]
  bool name_domain(Tlp& tlp, Time& delay) const;

 private:
  const Device& of(Bdf requester) const;
  const char* identity_refusal_of(const Tlp& tlp, const DeviceIdentity& identity) const;

  const IdentityForm form_;
  const bool checks_requester_, checks_capabilities_, sends_full_identity_;
  BusRange buses_{0, 255};
  std::vector<Device> devices_;
  bool checks_grants_;  // of requests that name their domain in full
};

}  // namespace flitwise
