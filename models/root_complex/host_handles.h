// SPDX-License-Identifier: Apache-2.0
/// The host's use of handles at one root port: ALLOC and DEALLOC from the device, and the way back
/// from a handle to its domain. Several ports may share one. Rules: src/dhi.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dhi/dhi_message.h"
#include "dhi/grant_table.h"
#include "dhi/handle_store.h"
#include "dhi/host_handle_table.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
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

  struct Lookup {
    std::optional<Resolution> resolution;
    Time latency{};
  };
  /// The domain behind a handle; a handle without valid entry is counted and, where posted,
  /// reported. An entry of a device below another port is none. [DHI D16] [DHI S1]
  Lookup resolve(const Packet& packet, Dhi dhi, BusRange port, Time now,
                 std::vector<PacketRef>& answers);

  /// The handle for a message that goes down to a domain, if it has one. [DHI D21]
  struct Name {
    std::optional<Dhi> dhi;
    Time latency{};
  };
  Name find(const DeviceIdentity& identity);
  /// Some device on these buses may have handles here: the host's end is enabled. [DHI D5]
  bool is_enabled(BusRange buses) const;
  /// Capabilities that the function was granted. [DHI D20]
  std::uint16_t granted_capabilities(Bdf function) const { return grants_.capabilities(function); }

 private:
  void done(BusRange port, Bdf requester, const DeallocDone& message);
  Time store(Dhi dhi, Time now);
  Time wait_for_store(Dhi dhi, Time now) const;
  void report(Bdf device, const HandleErrorMessage& message, std::vector<PacketRef>& answers);
  std::optional<Bdf> sender_of(const Packet& packet, Dhi dhi, BusRange port) const;
  std::uint8_t epoch_of(Bdf function) const;

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
  Done done_;
  const AllocHook alloc_hook_;  // may be empty
};

}  // namespace flitwise
