// SPDX-License-Identifier: Apache-2.0
/// A packet in a network of switches: as its fields, without payload; or with the frame of an
/// adapter, whose bytes are what it is.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/fetch.h"
#include "flitwise/time.h"
#include "network/frame.h"
#include "network/network_graph.h"
#include "rdma/rdma_packet.h"
#include "srdma/session.h"

namespace flitwise {

/// The first line of the cache is all that a hop touches.
struct alignas(64) FabricPacket {
  enum class Kind : std::uint8_t { kTransport, kPlainUdp, kControl };
  /// Its receiver looks at so many bytes.
  static constexpr std::size_t kReceived = 3 * kCacheLine;

  // ---- where it is
  Time due{};                       ///< it is there
  std::uint32_t behind = ~0U;       ///< the next one on its port
  PortId came_by = kNoNetworkPort;  ///< to the switch that has it
  // ---- what switches see [KY-7]; of a frame they read it from its bytes
  std::uint32_t hash = 0;   ///< hash_of() its tuple
  NodeId destination = 0;   ///< the host that has the address
  std::uint32_t bytes = 0;  ///< on the wire, with all that Ethernet adds
  std::uint8_t tos = 0;
  std::uint8_t ttl = 64;
  bool is_lost = false;  ///< the link that it is on went down before its last bit had left
  // ---- what its receiver sees
  Kind kind = Kind::kTransport;
  std::uint16_t epoch = 0;  ///< of the key of a secured session [KY-2]
  SessionTuple tuple;
  RdmaPacket fields;
};

/// Packets in numbered places, which keep their addresses. Those that were freed last are used
/// first: they are in the cache.
class FabricPackets {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~0U;

  Index make() {
    if (free_.empty()) {
      if (made_ == blocks_.size() * kBlock) {
        blocks_.push_back(std::make_unique<FabricPacket[]>(kBlock));
      }
      return made_++;
    }
    const Index index = free_.back();
    free_.pop_back();
    return index;
  }
  /// Of a frame, which it holds.
  Index make(FrameRef frame) {
    const Index index = make();
    frames_.resize(made_);
    (*this)[index].bytes = frame->wire_bytes;
    frames_[index] = std::move(frame);
    ++frames_in_use_;
    return index;
  }
  void free(Index index) {
    if (frame(index) != nullptr) {
      frames_[index] = nullptr;
      --frames_in_use_;
    }
    free_.push_back(index);
  }
  FabricPacket& operator[](Index index) { return blocks_[index / kBlock][index % kBlock]; }
  const FabricPacket& operator[](Index index) const {
    return blocks_[index / kBlock][index % kBlock];
  }
  /// Null: it has its fields alone.
  Frame* frame(Index index) const {
    return index < frames_.size() ? frames_[index].get() : nullptr;
  }
  /// The cache: it will be touched soon; `whole`: also what its receiver sees.
  void fetch(Index index, bool whole) const {
    flitwise::fetch(&(*this)[index], whole ? FabricPacket::kReceived : 1);
  }
  std::size_t in_use() const { return made_ - free_.size(); }
  std::size_t frames_in_use() const { return frames_in_use_; }

 private:
  static constexpr Index kBlock = 1024;
  std::vector<std::unique_ptr<FabricPacket[]>> blocks_;
  Index made_ = 0;
  std::vector<Index> free_;
  std::vector<FrameRef> frames_;  // by index; empty where there are none
  std::size_t frames_in_use_ = 0;
};

}  // namespace flitwise
