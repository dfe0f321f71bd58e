// SPDX-License-Identifier: Apache-2.0
/// The host's use of handles at one root port: ALLOC and DEALLOC from the device, and the way back
/// from a handle to its domain. Several ports may share one. Rules: src/dhi.
#pragma once

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

class HostHandles {
 public:
  HostHandles(const Config& config, PacketPool& pool);

  /// Books the configured grant of `count` functions from `first` on; nothing where every function
  /// has any domain anyway. [DHI S3]
  void grant(Bdf first, unsigned count);
  HostHandleTable& table() { return table_; }
  const HostHandleTable& table() const { return table_; }

  /// A DHI message from the device below a port. What has to go down in answer is appended to
  /// `answers`. [DHI D14]
  void receive(const Packet& packet, BusRange port, bool wants_ack,
               std::vector<PacketRef>& answers);

  struct Lookup {
    std::optional<Resolution> resolution;
    Time latency{};
  };
  /// The domain behind a handle; a handle without valid entry is counted and, where posted,
  /// reported. An entry of a device below another port is none. [DHI D16] [DHI S1]
  Lookup resolve(const Packet& packet, const WireIdentity& identity, BusRange port,
                 std::vector<PacketRef>& answers);

  std::uint64_t wrong_domain() const { return wrong_domain_; }

 private:
  void count_wrong_domain(const Packet& packet, const Resolution& resolution);

  const Config config_;
  PacketPool& pool_;
  GrantTable grants_;
  HostHandleTable table_;
  HandleStore store_;
  std::uint64_t wrong_domain_ = 0;
};

}  // namespace flitwise
