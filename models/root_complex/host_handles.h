// SPDX-License-Identifier: Apache-2.0
/// The host's use of handles at one root port: ALLOC and DEALLOC from the device, and the way back
/// from a handle to its domain. Several ports may share one. Rules: src/dhi.
// Longer than 150 lines: the table's end at the host, and whose requests are whose.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dhi/dhi_message.h"
#include "dhi/grant_table.h"
#include "dhi/handle_store.h"
#include "dhi/host_handle_table.h"
#include "dhi/named_invalidations.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "root_complex/port_seams.h"
#include "routing/request_rules.h"
#include "tlp/identity.h"

namespace flitwise {

using HandleHostConfig = decltype(HostConfig::dhi);

class HostHandles {
 public:
  /// May change an ALLOC that has come in.
  using AllocHook = std::function<void(AllocMessage&)>;
  HostHandles(const HandleHostConfig& config, DhiForm form, AllocHook hook, PacketPool& pool);

  /// Records the configured grant of `count` functions from `first` on; nothing where every
  /// function has any domain anyway. Until then, configured grants are none. [DHI S3]
  void grant(Bdf first, unsigned count);
  /// Grants are configured: messages that name their domain in full have to be checked.
  bool checks_grants() const { return config_.grant == GrantPolicy::kConfigured; }
  /// May the function have the domain that a message names in full? [DHI S2] [DHI S3]
  bool is_granted(const DeviceIdentity& identity) const {
    return grants_.check(identity) == HandleStatus::kOk;
  }
  HostHandleTable& table() { return table_; }
  const HostHandleTable& table() const { return table_; }

  /// A DHI message from the device below a port. What has to go down in answer is appended to
  /// `answers`. Returns how long the table takes for it: an entry counts from then on. [DHI D14]
  Time receive(const Packet& packet, BusRange port, bool wants_ack, Time now,
               std::vector<PacketRef>& answers);

  /// Who hears of DONE messages of devices below the ports. [DHI D15]
  using Done = std::function<void(Bdf requester, const DeallocDone&)>;
  void on_done(Done done) { done_ = std::move(done); }
  /// Who hears that the handle of an Invalidate Request has gone to another domain, or to none; the
  /// request may be over. [DHI D21]
  using Strayed = std::function<void(Bdf function, std::uint8_t itag)>;
  void on_strayed(Strayed strayed) { strayed_ = std::move(strayed); }
  /// The next Invalidate Request of this function and ITag goes down without a handle.
  void name_in_full(Bdf function, std::uint8_t itag) {
    invalidations_.name_in_full({function, itag});
  }

  struct Lookup {
    std::optional<Resolution> resolution;
    Time latency{};
  };
  /// The domain behind a handle; a handle without valid entry is counted and, where posted,
  /// reported. An entry of a device below another port is none. [DHI D16] [DHI S1]
  Lookup resolve(const Packet& packet, Dhi dhi, BusRange port, Time now,
                 std::vector<PacketRef>& answers);
  /// The same for a D2H Req, which is answered by its home: what is reported beside that goes to
  /// the first function of the port's device. [CXL-7.7]
  Lookup resolve_line(const Packet& packet, Dhi dhi, BusRange port, Time now,
                      std::vector<PacketRef>& answers);
  /// When all entries that have been stored so far are written. [DHI D3]
  Time stores_done() const { return stores_done_; }

  /// The handle for a message that goes down to a domain, if it has one. [DHI D21]
  struct Name {
    std::optional<Dhi> dhi;
    Time latency{};
    bool is_full = false;  ///< it has to go without
  };
  Name name_for(const Tlp& message, const DeviceIdentity& identity);
  /// Some device on these buses may have handles here: the host's end is enabled. [DHI D5]
  bool is_enabled(BusRange buses) const;
  /// Capabilities that the function was granted. [DHI D20]
  std::uint16_t granted_capabilities(Bdf function) const { return grants_.capabilities(function); }

 private:
  Time store(Dhi dhi, Time now);
  void look_up(Lookup& lookup, const Packet& packet, Dhi dhi, BusRange port, Time now);
  void handle_gone(Dhi dhi);
  void send(Bdf device, const DhiMessage& message, std::vector<PacketRef>& answers);
  void report(Bdf device, const HandleErrorMessage& message, std::vector<PacketRef>& answers) {
    if (config_.report_errors) {
      send(device, message, answers);
    }
  }
  std::optional<Bdf> sender_of(const Packet& packet, Dhi dhi, BusRange port) const;

  const HandleHostConfig config_;
  const DhiForm form_;
  PacketPool& pool_;
  GrantTable grants_;
  HostHandleTable table_;
  HandleStore store_;
  struct Store {
    Dhi dhi;
    Time done;
  };
  std::vector<Store> stores_;  // entries that are being written, and some that have been
  Time stores_done_{};         // the last of them
  NamedInvalidations invalidations_;
  Done done_;
  Strayed strayed_;
  const AllocHook alloc_hook_;  // may be empty
};

/// The devices below a root port: whose a request is, by the identity or the handle that it
/// carries, and what the host lets that one do.
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

  /// When the entries that were stored so far are written, of the device that a read comes from.
  Time stores_done(Bdf requester) const { return of(requester).handles->stores_done(); }
  /// A DHI message; returns how long the table takes for it.
  Time receive(const Packet& packet, Time now, std::vector<PacketRef>& answers) const;

  /// A message that goes down to a domain carries its handle, where the form has room. False: the
  /// domain has none, and the message is not sent. delay: grows by the search. [DHI D21]
  bool name_domain(Tlp& tlp, Time& delay) const;

 private:
  const Device& of(Bdf requester) const;

  const IdentityForm form_;
  const bool checks_requester_, checks_capabilities_, sends_full_identity_;
  BusRange buses_{0, 255};
  std::vector<Device> devices_;
  bool checks_grants_;  // of requests that name their domain in full
};

}  // namespace flitwise
