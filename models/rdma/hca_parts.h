// SPDX-License-Identifier: Apache-2.0
/// What passes the stages of an RDMA adapter, and the queue pairs that all of them know.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/ranges.h"
#include "common/slot_list.h"
#include "hca/qp_state_cache.h"
#include "network/frame.h"
#include "rdma/hca_commands.h"
#include "rdma/hca_config.h"
#include "rdma/queue_pair.h"
#include "rdma/rdma_frame.h"
#include "rdma/ring_entries.h"

namespace flitwise {

/// A queue pair: its rules, and where its rings and timers stand.
struct HcaPair {
  HcaPair(const HcaConfig& config, std::uint32_t number, MemoryKeys& keys, CompletionQueue& sends,
          CompletionQueue& receives)
      : peer(config.peer_of(number).adapter),
        buffers(config.rdma.queue),
        rules(config.setup(number), keys, sends, receives, buffers, false) {}
  const unsigned peer;  ///< number of the adapter at its other end
  RdmaBuffers buffers;
  QueuePair rules;
  HcaRing send, receive;
  HcaCommands::Queue commands, payloads;  ///< work requests to be posted; payload of others
  Slot entry = kNoSlot;                   ///< of its state, while that is pinned
  bool is_kicked = false, is_ready = false;
  bool waits_for_rnr = false, has_timer = false;
  std::uint64_t last_payload = 0;  ///< number of the last that goes to memory for it
  std::uint64_t progress = 0;      ///< as the timer has seen it
  Time progress_at{};
  std::vector<std::uint8_t> state_in_memory;  ///< as it was written there last
};

/// All queue pairs of an adapter, and what they share.
class HcaPairs {
 public:
  explicit HcaPairs(const HcaConfig& config)
      : config_(config), keys_(config.pairs), sends_(config.rdma.cq), receives_(config.rdma.cq) {
    for (std::uint32_t pair = 0; pair < config.pairs; ++pair) {
      const RdmaArea area = config.area(pair);
      keys_.add({pair, area.base(), area.bytes(), kAllRdmaRights});
      pairs_.emplace_back(config_, pair, keys_, sends_, receives_);
    }
  }
  HcaPair& operator[](std::uint32_t pair) { return pairs_[pair]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(pairs_.size()); }
  auto begin() const { return pairs_.begin(); }
  auto end() const { return pairs_.end(); }
  CompletionQueue& sends() { return sends_; }
  CompletionQueue& receives() { return receives_; }

  /// Which function it belongs to, and its number there. [HP-4]
  QpTag tag_of(std::uint32_t pair) const { return {0, pair}; }
  std::uint64_t sum_of(QpCounter counter) const {
    return flitwise::sum_of<std::uint64_t>(
        pairs_, [&](const HcaPair& pair) { return pair.rules.count(counter); });
  }

 private:
  const HcaConfig& config_;
  MemoryKeys keys_;
  CompletionQueue sends_, receives_;
  std::deque<HcaPair> pairs_;  // stay where they are
};

/// A doorbell, or a command in its place.
struct HcaPosted {
  Doorbell bell;  ///< of a command: `end` modulo 2^16
  bool is_command = false;
  std::uint32_t token = kNobody;  ///< kNobody: the entry is read from the ring
};

/// A frame that has come, or a kick, on its way to its queue pair.
struct HcaArrived {
  std::uint32_t pair = 0;
  FrameRef frame;  ///< null: a kick
  RdmaPacket packet;
  RoceParts parts;
  bool waits_for_entry = false;  ///< of the receive queue
};

/// A packet that is to be sent.
struct HcaBuilt {
  FrameRef frame;
  RoceParts parts;
  std::uint32_t payload_bytes = 0;
  std::uint64_t needs = 0;  ///< payload that has to be in memory before
  unsigned reads = 0;       ///< of payload that are out
  bool is_lost = false;     ///< its payload could not be read
  Time ready{};
};

/// Payload that goes to host memory: a piece of a frame.
struct HcaReceived {
  std::uint32_t pair = 0;
  FrameRef frame;
  const std::uint8_t* from = nullptr;  ///< null: `value`
  std::uint64_t value = 0;
  Sge target;
  std::uint64_t number = 0;
  bool is_last = true;  ///< of its frame
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
