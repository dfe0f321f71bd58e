// SPDX-License-Identifier: Apache-2.0
/// One end of a connection with its memory, keys and queues: what moves the bytes that the rules of
/// a queue pair point to, at once. Scripts drive two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "rdma/queue_pair.h"

namespace flitwise {

/// A packet on its way, with its bytes.
struct RdmaWirePacket {
  RdmaPacket fields;
  std::vector<std::uint8_t> bytes;  ///< keeps its capacity when it is used again
};

struct RdmaEndSetup {
  QueuePairSetup pair;
  std::size_t memory_bytes = 1 << 16;  ///< addresses 0 up to this
  std::uint32_t regions = 64;          ///< that may be registered at once
  std::size_t completion_depth = 256, receive_depth = 128;
  bool shares_buffers = false;  ///< they are a shared receive queue
};

class RdmaEnd {
 public:
  explicit RdmaEnd(const RdmaEndSetup& setup);

  /// As MemoryKeys::add(); none for what is not in memory.
  std::optional<std::uint32_t> add_region(const MemoryRegion& region);
  /// The next packet, with the bytes that memory has now. False: none may go.
  bool next(RdmaWirePacket& packet, Time now = {});
  /// False: it was a CNP. [CC-2]
  bool receive(const RdmaWirePacket& packet, Time now = {});

  QueuePair& pair() { return pair_; }
  MemoryKeys& keys() { return keys_; }
  /// Of sends and receives.
  CompletionQueue& completions() { return completions_; }
  RdmaBuffers& buffers() { return buffers_; }
  std::vector<std::uint8_t>& memory() { return memory_; }

 private:
  void carry_out(const RdmaEffect& effect, const RdmaPacket& fields,
                 const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t>& kept(Psn psn);

  MemoryKeys keys_;
  CompletionQueue completions_;
  RdmaBuffers buffers_;
  QueuePair pair_;
  std::vector<std::uint8_t> memory_;
  std::vector<std::vector<std::uint8_t>> kept_;  // payload of packets that wait, by PSN
};

}  // namespace flitwise
