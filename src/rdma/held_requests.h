// SPDX-License-Identifier: Apache-2.0
/// Requests that came ahead of others, until those have come: their fields alone. [RX-2]
#pragma once

#include <cstdint>
#include <vector>

#include "flitwise/time.h"
#include "rdma/psn_set.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

/// A question costs one look. Memory: 48 bytes for each PSN of the longest distance so far, in
/// powers of two; none before the first packet that is out of order.
class HeldRequests {
 public:
  /// All are forgotten.
  void reset(Psn expected) { psns_.reset(expected); }
  bool empty() const { return psns_.empty(); }
  std::uint32_t size() const { return psns_.size(); }
  bool contains(Psn psn) const { return psns_.contains(psn); }
  void fetch(Psn psn) const {
    if (!places_.empty()) {
      psns_.fetch(psn);
      flitwise::fetch(&places_[psn & (places_.size() - 1)], sizeof(Held));
    }
  }
  /// For the bitmap of an ACK. [RX-6]
  std::uint64_t bits(Psn from) const { return psns_.bits(from); }
  /// REQUIRES: behind what is expected, and not contained. `is_placed`: its payload is in memory.
  void hold(const RdmaPacket& packet, Time now, bool is_placed);
  /// What is held of it, which is held no longer. False: nothing. is_placed as above.
  bool take(Psn psn, RdmaPacket& packet, bool& is_placed);
  /// Those before it are forgotten: nobody will ask for them.
  void advance(Psn expected) { psns_.advance(expected); }
  /// When the first behind a gap came. REQUIRES: not empty.
  Time first_came() const {
    return places_[psns_.first_in(psns_.base(), psns_.end()) & (places_.size() - 1)].came;
  }

 private:
  /// A request without what the queue pair knows of it.
  struct Held {
    std::uint64_t address = 0;
    std::uint64_t first = 0;   // operand, or length and immediate
    std::uint64_t second = 0;  // compare
    Time came{};
    std::uint32_t key = 0;
    std::uint32_t payload_bytes = 0;
    std::uint16_t session = kNoSession;
    std::uint16_t partition = 0;
    RdmaOpcode opcode = RdmaOpcode::kSendOnly;
    std::uint8_t pad = 0;
    bool asks_for_ack = false, is_solicited = false, is_marked = false, is_placed = false;
    bool names_place = false;
  };
  Held& place(Psn psn) { return places_[psn & (places_.size() - 1)]; }
  void grow(std::uint32_t distance);

  PsnSet psns_;
  std::vector<Held> places_;  // a power of two of them
};

}  // namespace flitwise
