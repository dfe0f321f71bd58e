// SPDX-License-Identifier: Apache-2.0
/// Packets that a hostile end makes up: one that it has sent, with other numbers in some fields.
/// Its checksums are right, so that only the rules of the receiver stand between it and memory.
#pragma once

#include <cstdint>
#include <utility>

#include "common/random.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

class ForgedPackets {
 public:
  /// What it knows of the receiver.
  struct Target {
    std::uint32_t first_pair = 0, pairs = 1;  ///< numbers of its queue pairs
    std::uint32_t keys = 1;                   ///< places of its regions
    std::uint64_t base = 0, bytes = 1;        ///< memory with all of them
    std::uint32_t mtu = 4096;
  };
  /// per_thousand: forged packets behind a thousand others, from 1 on.
  ForgedPackets(unsigned per_thousand, const Target& target, Random random)
      : per_thousand_(per_thousand), target_(target), random_(std::move(random)) {}

  /// How many follow the packet that has been sent last.
  unsigned draw() {
    return per_thousand_ / 1000 + (random_.below(1000) < per_thousand_ % 1000 ? 1 : 0);
  }
  /// Up to an MTU and 8 bytes of payload, which are the caller's, and perhaps with another pad than
  /// that takes.
  RdmaPacket next(const RdmaPacket& sent);

 private:
  void change_one(RdmaPacket& packet);
  std::uint32_t some_key();
  std::uint64_t some_address(std::uint64_t near);
  Psn some_psn(Psn near);

  unsigned per_thousand_;
  Target target_;
  Random random_;
};

}  // namespace flitwise
