// SPDX-License-Identifier: Apache-2.0
/// Watches that both ends mean the same domain by a handle: it was allocated before its first use,
/// and the host finds behind it whom the sender meant. [DHI D8] [DHI D11] [DHI D16] [DHI S2]
#pragma once

#include <vector>

#include "dhi/handle_types.h"
#include "monitor/violation_log.h"
#include "tlp/identity.h"

namespace flitwise {

class HandleMonitor {
 public:
  HandleMonitor(Reporter reporter, const IdentityForm& form)
      : reporter_(reporter),
        form_(form),
        is_requester_id_(form.dhi_form == DhiForm::kRidDirect ||
                         form.dhi_form == DhiForm::kRidFabric),
        owners_(kHandleMask + 1U, nobody()) {}

  /// An ALLOC, DEALLOC or DONE goes on the wire for the first time.
  void told(const Packet& packet);
  /// A DEALLOC of the host does, the other way: what it covers ends with its DONE. [DHI D15]
  void ordered(const Packet& packet);
  /// The same as fits() where the handle stands in the Requester ID; false elsewhere.
  bool fits_plainly(const Packet& packet) const {
    return is_requester_id_ && is_of(packet, owners_[packet.tlp.requester_id.value & kHandleMask]);
  }
  /// Was the handle of a TLP that the model made allocated to whom it is meant for?
  bool fits(const Packet& packet) const { return is_of(packet, owners_[handle_in(packet.tlp)]); }
  /// Reports one that was not.
  void report(const Packet& packet, Time now) const;
  /// Has the root port found whom a TLP that the model made is meant for?
  static bool fits_resolution(const Packet& packet) {
    return !packet.resolved || !packet.has_identity ||
           (*packet.resolved == packet.identity && packet.resolved_context == packet.context);
  }
  /// Reports one where it has not.
  void report_resolution(const Packet& packet, Time now) const;

 private:
  struct Owner {
    DeviceIdentity identity;
    ContextId context{};
  };
  /// No function with a PASID of 20 bits.
  static Owner nobody() { return {{Bdf{0xffff}, Pasid{0xfff'ffff}}}; }
  static bool is_of(const Packet& packet, const Owner& owner) {
    return owner.identity == packet.identity && owner.context == packet.context;
  }
  std::size_t handle_in(const Tlp& tlp) const {
    const std::size_t handle = is_requester_id_ ? tlp.requester_id.value : handle_elsewhere(tlp);
    return handle & kHandleMask;
  }
  std::size_t handle_elsewhere(const Tlp& tlp) const;
  void forget(const DeallocMessage& message);
  void given_up(const DeallocDone& done, Bdf function);

  Reporter reporter_;
  IdentityForm form_;
  bool is_requester_id_;       // the handle stands there
  std::vector<Owner> owners_;  // by handle: whom its last ALLOC named
  struct Order {
    Bdf function;  // that it went to
    DeallocOrder order;
  };
  std::vector<Order> orders_;  // without DONE, one for each function and tag
};

}  // namespace flitwise
