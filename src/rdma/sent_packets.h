// SPDX-License-Identifier: Apache-2.0
/// What a requester remembers of each packet that has no answer yet: when it left, on which
/// session, how often; which of them are known to have come, and which are lost. [MO-1] [LR-2, 5]
#pragma once

#include <cstdint>
#include <vector>

#include "common/ranges.h"
#include "flitwise/time.h"
#include "rdma/psn_set.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

/// How a packet was found to be lost.
enum class LossCause : std::uint8_t {
  kNak,      ///< of the peer
  kSack,     ///< a hole in its bitmap
  kEcho,     ///< a hole among what has been echoed, at a NAK
  kTimeOut,  ///< the retry timer: the weights act by MO-3
  kAnswer,   ///< answers behind its own came, and it did not
  kSession   ///< its session has gone [KY-4]
};
constexpr const char* name_of(LossCause cause) {
  constexpr const char* kNames[] = {"nak", "sack", "echo", "timeout", "answer", "session"};
  return name_in(kNames, cause);
}

/// Of a PSN that has been sent. Those that are acknowledged stay until their place is needed, so
/// that echoes which come late find them.
struct SentPacket {
  Time at{};  ///< when it left last
  Psn psn = 0;
  std::uint16_t session = kNoSession;  ///< that it left by last
  std::uint8_t times = 0;              ///< that it has been sent, up to 255 [WT-C8]
  std::uint8_t is_answered : 1;        ///< a READ or atomic, whose answer brings bytes
  std::uint8_t lost_by : 7;            ///< LossCause, of one that was lost

  SentPacket() : is_answered(0), lost_by(0) {}
};
static_assert(sizeof(SentPacket) == 16, "one for each PSN of a window");

/// The session that it is charged to. [MO-2] [LR-5]
struct LostPacket {
  Psn psn = 0;
  std::uint16_t session = kNoSession;
  LossCause cause = LossCause::kNak;
  std::uint8_t times = 0;  ///< that it had been sent
  Time sent_at{};
};

/// Each call costs the same whatever the window, but those that say otherwise. Memory: 16 bytes for
/// each PSN of the longest distance so far between the oldest without an answer and the newest.
class SentPackets {
 public:
  void reset(Psn first);
  /// A packet leaves: how often it left before.
  std::uint8_t count(Psn psn, bool is_answered);
  /// When and by which session it left; `is_probe`: it counts as sent once. [MO-3]
  void leaves(Psn psn, std::uint16_t session, Time now, bool is_probe);
  /// Null: it has not been sent, or its place is another's by now.
  const SentPacket* find(Psn psn) const {
    const bool is_there = !places_.empty() && place(psn).psn == psn && place(psn).times > 0;
    return is_there ? &place(psn) : nullptr;
  }
  void fetch(Psn psn) const {
    if (!places_.empty()) {
      flitwise::fetch(&place(psn));
      arrived_.fetch(psn);
      again_.fetch(psn);
    }
  }
  /// All before `oldest` are acknowledged.
  void advance(Psn oldest);

  /// The peer has it, out of order; or its answer has come.
  bool arrive(Psn psn);
  bool has_arrived(Psn psn) const { return arrived_.contains(psn); }
  const PsnSet& arrived() const { return arrived_; }
  /// The peer does not have it after all. [RX-2]
  void forget_arrival(Psn psn) { arrived_.erase(psn); }

  /// It has to leave again. False: it was to already.
  bool lose(Psn psn, LossCause cause);
  /// It is lost, and leaves again without being told of here. [LR-1]
  void charge(Psn psn, LossCause cause);
  /// It has to leave again, and no session is charged.
  void repeat(Psn psn) { again_.insert(psn); }
  bool has_again() const { return !again_.empty(); }
  /// REQUIRES: has_again().
  Psn first_again() const { return again_.first_in(again_.base(), again_.end()); }
  void take_again(Psn psn) { again_.erase(psn); }
  /// All of them before `end`.
  void take_again(Psn from, Psn end);
  /// The next loss that nobody has been told of, in the order of PSNs.
  bool next_loss(LostPacket& lost) { return !untold_.empty() && take_loss(lost); }

 private:
  SentPacket& place(Psn psn) { return places_[psn & (places_.size() - 1)]; }
  const SentPacket& place(Psn psn) const { return places_[psn & (places_.size() - 1)]; }
  SentPacket& make_place(Psn psn);
  bool take_loss(LostPacket& lost);

  std::vector<SentPacket> places_;  // a power of two of them
  PsnSet arrived_, again_, untold_;
};

}  // namespace flitwise
