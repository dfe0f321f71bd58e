// SPDX-License-Identifier: Apache-2.0
/// From complete packets to the virtual lanes: the arbiter over all sources, and what it fills.
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include "common/ranges.h"
#include "pio/send_window.h"

namespace flitwise {

/// Eight data VLs and VL15 for management; what the PBC may say besides is refused. [PIO-12.5]
inline constexpr unsigned kVlQueues = 9;
inline constexpr unsigned kAllVlQueues = (1U << kVlQueues) - 1;
inline constexpr unsigned kManagementVl = 15;
inline constexpr unsigned kDataVls = 8;
constexpr bool is_vl(unsigned vl) {
  return vl < kDataVls || vl == kManagementVl;
}
/// REQUIRES: is_vl(vl).
constexpr unsigned queue_of_vl(unsigned vl) {
  return vl < kDataVls ? vl : kDataVls;
}
constexpr unsigned vl_of_queue(unsigned queue) {
  return queue < kDataVls ? queue : kManagementVl;
}

/// What moves when a packet is launched: its bytes stay in send memory. [PIO-6.2]
struct LaunchedPacket {
  std::uint16_t source = 0;  ///< context 0..159, SDMA engine 160..175
  std::uint16_t blocks = 0;
  std::uint16_t cleared = 0;  ///< of its blocks, one by one [PIO-12.25]
  std::uint8_t vl = 0;
  std::uint32_t life = 0;   ///< of the context or ring, since a restart forgets what was before
  std::uint64_t place = 0;  ///< of its first block, counted since the source began
};

/// Round robin over all sources that have a packet. [PIO-6.2, 12.15]
class LaunchArbiter {
 public:
  static constexpr unsigned kNone = kPioSources;

  void set_ready(unsigned source, bool is_ready) {
    const std::uint64_t bit = std::uint64_t{1} << source % 64;
    std::uint64_t& word = ready_[source / 64];
    word = is_ready ? word | bit : word & ~bit;
  }
  void granted(unsigned source) { last_ = source; }
  /// The first source behind the last grant that is ready and may launch; kNone: there is none.
  template <class MayLaunch>
  unsigned next(MayLaunch may_launch) const {
    const unsigned begin = (last_ + 1) % kPioSources;
    const unsigned found = next_within(begin, kPioSources, may_launch);
    return found != kNone ? found : next_within(0, begin, may_launch);
  }

 private:
  template <class MayLaunch>
  unsigned next_within(unsigned begin, unsigned end, MayLaunch may_launch) const {
    for (unsigned source = first_ready(begin); source < end; source = first_ready(source + 1)) {
      if (may_launch(source)) {
        return source;
      }
    }
    return kNone;
  }
  unsigned first_ready(unsigned from) const {
    for (unsigned word = from / 64; word < ready_.size(); ++word, from = word * 64) {
      if (const std::uint64_t bits = ready_[word] >> from % 64; bits != 0) {
        return from + static_cast<unsigned>(__builtin_ctzll(bits));
      }
    }
    return kNone;
  }

  std::array<std::uint64_t, (kPioSources + 63) / 64> ready_{};
  unsigned last_ = kPioSources - 1;
};

/// Packets of one SDMA engine that are in its send buffer, ready for launch. [PIO-6.9]
class SdmaQueue {
 public:
  static constexpr std::size_t kMostPackets = 2048;  ///< as many as its descriptor queue

  bool is_full() const { return packets_.size() == kMostPackets; }
  /// `life` of the ring that it comes from; 0: it is a count of blocks alone. REQUIRES: not full.
  void push(unsigned blocks, unsigned vl, std::uint32_t life) {
    make_room(packets_);
    packets_.push_back({static_cast<std::uint16_t>(blocks), static_cast<std::uint8_t>(vl), life});
    end_ += blocks;
  }
  /// The place that the next packet will have.
  std::uint64_t end_place() const { return end_; }
  /// Packets that are not launched are forgotten.
  void drop_all() {
    packets_.clear();
    end_ = launched_;
  }
  bool has_packet() const { return !packets_.empty(); }
  unsigned blocks() const { return packets_.front().blocks; }
  unsigned vl() const { return packets_.front().vl; }
  std::uint32_t life() const { return packets_.front().life; }
  std::uint64_t launch_place() const { return launched_; }
  /// REQUIRES: has_packet().
  void launch() {
    launched_ += blocks();
    packets_.pop_front();
  }
  void note_error() { has_error_ = true; }
  void clear_error() { has_error_ = false; }
  bool has_error() const { return has_error_; }  ///< a packet was dropped [PIO-12.34]

 private:
  struct Packet {
    std::uint16_t blocks;
    std::uint8_t vl;
    std::uint32_t life;
  };
  boost::circular_buffer<Packet> packets_{8};
  std::uint64_t launched_ = 0, end_ = 0;  // blocks
  bool has_error_ = false;
};

/// The launched packets of each VL, in order, so that one VL does not block another. [PIO-6.3]
class LaunchFifos {
 public:
  LaunchFifos() { fifos_.fill(boost::circular_buffer<LaunchedPacket>(16)); }
  /// Packets of each VL, from 1 on.
  void set_most(std::size_t packets) {
    most_packets_ = packets;
    for (unsigned queue = 0; queue < kVlQueues; ++queue) {
      note(queue);
    }
  }
  bool is_full(unsigned vl) const { return fifo(vl).size() >= most_packets_; }
  bool has_full() const { return full_ != 0; }
  bool is_empty(unsigned vl) const { return fifo(vl).empty(); }
  const LaunchedPacket& front(unsigned vl) const { return fifo(vl).front(); }
  std::size_t size(unsigned vl) const { return fifo(vl).size(); }
  void push(const LaunchedPacket& packet) {
    auto& fifo = fifos_[queue_of_vl(packet.vl)];
    make_room(fifo);
    fifo.push_back(packet);
    note(queue_of_vl(packet.vl));
  }
  void pop(unsigned vl) {
    const unsigned queue = queue_of_vl(vl);
    fifos_[queue].pop_front();
    note(queue);
  }
  /// Queues that are not empty, a bit each.
  unsigned filled() const { return filled_; }

 private:
  const boost::circular_buffer<LaunchedPacket>& fifo(unsigned vl) const {
    return fifos_[queue_of_vl(vl)];
  }
  void note(unsigned queue) {
    const auto set = [queue](unsigned& bits, bool is_on) {
      bits = (bits & ~(1U << queue)) | (is_on ? 1U << queue : 0U);
    };
    set(filled_, !fifos_[queue].empty());
    set(full_, fifos_[queue].size() >= most_packets_);
  }

  std::size_t most_packets_ = kSendMemoryBlocks;
  std::array<boost::circular_buffer<LaunchedPacket>, kVlQueues> fifos_;
  unsigned filled_ = 0, full_ = 0;  // queues, a bit each
};

}  // namespace flitwise
