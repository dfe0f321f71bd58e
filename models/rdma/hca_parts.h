// SPDX-License-Identifier: Apache-2.0
/// What passes the stages of an RDMA adapter.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/slot_list.h"
#include "network/frame.h"
#include "rdma/rdma_frame.h"
#include "rdma/ring_entries.h"
#include "srdma/session_stats.h"

namespace flitwise {

/// Of a function: a doorbell, a command in its place, an order to arm a completion queue, or one to
/// the adapter.
struct HcaPosted {
  std::uint32_t place = 0;  ///< of the function
  Doorbell bell;            ///< of a command: `end` modulo 2^16
  bool is_command = false;
  std::uint32_t token = kNobody;               ///< kNobody: the entry is read from the ring
  std::optional<CompletionArm> arm = {};       ///< it is that, and no doorbell
  std::optional<ShareCommand> share = {};      ///< likewise
  std::optional<AdapterCommand> control = {};  ///< likewise
  bool is_void = false;                        ///< likewise, and it may not, or is none
};

/// Fields of packets on their way. Outlives all that it has made.
class HcaPacketPool {
 public:
  struct GiveBack {
    HcaPacketPool* pool = nullptr;
    void operator()(RdmaPacket* packet) const { pool->free_.push_back(packet); }
  };
  using Ref = std::unique_ptr<RdmaPacket, GiveBack>;
  Ref make(const RdmaPacket& packet) {
    if (free_.empty()) {
      free_.push_back(&all_.emplace_back());
    }
    Ref made(free_.back(), GiveBack{this});
    free_.pop_back();
    *made = packet;
    return made;
  }

 private:
  std::deque<RdmaPacket> all_;
  std::vector<RdmaPacket*> free_;
};

/// A frame that has come, or a kick, on its way to its queue pair.
struct HcaArrived {
  std::uint32_t pair = 0;
  std::uint32_t payload = 0;     ///< its offset in the frame
  FrameRef frame;                ///< null: a kick
  HcaPacketPool::Ref packet;     ///< of the frame, once it is checked
  bool waits_for_entry = false;  ///< of the receive queue
  bool is_in_ram = true;         ///< else it comes from the reorder buffer; its frame may be null
  Time came{};                   ///< to the port
};

/// A packet that is to be sent.
struct HcaBuilt {
  FrameRef frame;
  std::uint32_t pair = 0;
  HcaPacketPool::Ref packet;              ///< where sessions carry it; else null
  SessionIndex probed = kNoSessionIndex;  ///< it is a probe of that session [MO-3]
  Time made{};
  RoceParts parts;
  std::uint32_t payload_bytes = 0;
  std::uint64_t needs = 0;  ///< payload that has to be in memory before
  unsigned reads = 0;       ///< of payload that are out
  bool is_lost = false;     ///< its payload could not be read
};

/// Payload that goes to host memory: a piece of a frame.
struct HcaReceived {
  std::uint32_t pair = 0;
  FrameRef frame;
  const std::uint8_t* from = nullptr;  ///< null: `value`
  std::uint64_t value = 0;
  Sge target;
  std::uint64_t number = 0;
  bool is_last = true;  ///< of its frame, which gives its room in the payload RAM back
};

/// A completion that software is to be told of.
struct HcaTold {
  WorkCompletion completion;
  std::uint64_t needs = 0;  ///< payload that has to be in memory before
};

/// Of a queue pair: its retry time, or an RNR time.
struct HcaTimer {
  std::uint32_t pair = 0;
  bool is_rnr = false;
};

}  // namespace flitwise
