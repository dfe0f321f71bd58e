// SPDX-License-Identifier: Apache-2.0
/// Transmit half of the Ack/Nak protocol: sequence numbers, what is not acknowledged yet, and what
/// is to be sent again. The same for TLPs and, in flit mode, for flits. [LNK-7.1] [LNK-11.6]
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstdint>

#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "link/sequence_space.h"

namespace flitwise {

/// How REPLAY_NUM counts: each replay adds a step, and where the states are over it rolls over.
struct ReplayCount {
  unsigned states, step;
};
/// Two bits: the fourth replay without progress. [LNK-7.14]
inline constexpr ReplayCount kTlpReplayCount{4, 1};

class ReplayBuffer {
 public:
  /// Room for `capacity_bytes` of TLPs as they stand on the wire, or of flits. `timeout`: replay
  /// timer limit.
  ReplayBuffer(std::uint64_t capacity_bytes, Time timeout,
               SequenceSpace numbers = SequenceSpace::of_tlps(),
               ReplayCount count = kTlpReplayCount);

  /// May another TLP of so many wire bytes be taken? [LNK-7.2, LNK-7.3]
  bool has_room(std::uint32_t bytes) const;
  bool empty() const { return entries_.empty(); }
  /// A TLP leaves for the first time; returns its sequence number. REQUIRES: has_room(bytes).
  std::uint16_t push(PacketRef packet, std::uint32_t bytes);

  /// What a received Ack or Nak did.
  struct Outcome {
    bool is_valid = true;     ///< false: out of the window, dropped [LNK-7.8]
    std::uint32_t freed = 0;  ///< TLPs purged [LNK-7.9]
  };
  Outcome acknowledge(std::uint16_t sequence, Time now);

  /// A Nak came, or the replay timer ran out: all that is left goes out again, oldest first; true
  /// if REPLAY_NUM rolled over, which asks for Recovery. [LNK-7.10] [LNK-7.13] [LNK-7.14]
  bool start_replay();
  bool is_replaying() const { return replay_next_ < entries_.size(); }
  struct Replay {
    PacketRef packet;
    std::uint16_t sequence;
  };
  /// REQUIRES: is_replaying().
  Replay next_replay();

  /// A TLP's last symbol leaves at `last`. [LNK-7.11, LNK-7.12]
  void sent(Time last);
  Time deadline() const { return deadline_; }
  /// Recovery is over: all of it again, timer held until the first has left. REPLAY_NUM counts
  /// attempts between two Recoveries, so not this one. [LNK-10.3]
  void recovered() { rewind(); }
  /// The link has gone down: nothing will be sent again, and the next TLP has the first sequence
  /// number. [LNK-10.4] [LNK-10.7]
  void reset();

  std::uint64_t replay_events() const { return replay_events_; }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PacketRef packet;
    std::uint32_t bytes;
  };
  bool rewind();

  SequenceSpace numbers_;
  ReplayCount count_;
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  Time timeout_;
  boost::circular_buffer<Entry> entries_;  // oldest first; its sequence is acked_ + 1
  std::size_t replay_next_ = 0;  // == size(): no replay; entries from here on wait to be sent again
  std::uint16_t next_sequence_;  // NEXT_TRANSMIT_SEQ [LNK-7.1]
  std::uint16_t acked_;          // ACKD_SEQ
  unsigned replay_num_ = 0;      // REPLAY_NUM
  Time deadline_ = Time::never();
  std::uint64_t replay_events_ = 0;
};

}  // namespace flitwise
