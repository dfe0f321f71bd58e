// SPDX-License-Identifier: Apache-2.0
/// Watches the sequence numbers of one direction of a link, those of TLPs or in flit mode of flits:
/// what is sent, sent again, delivered, and acknowledged from the other end. [LNK-7.1] to
/// [LNK-7.10] [LNK-11.6] [LNK-11.7]
#pragma once

#include <cstdint>
#include <vector>

#include "link/ack_nak.h"
#include "monitor/violation_log.h"

namespace flitwise {

class SequenceMonitor {
 public:
  /// What bears the numbers.
  enum class Numbered : std::uint8_t { kTlps, kFlits };
  explicit SequenceMonitor(Reporter reporter, Numbered what = Numbered::kTlps);

  /// May a new TLP with this number go on the wire? Also false where the record has to grow.
  bool fits(unsigned sequence) const { return sequence == next_ && sequence != stop_; }
  /// It goes.
  void sent(const Packet& packet, unsigned sequence) {
    uids_[sequence & ring_mask_] = packet.uid;
    next_ = numbers_.next(static_cast<std::uint16_t>(sequence));
  }
  /// Reports what is wrong with a new TLP that does not fit, if anything is, before it goes.
  void report(const Packet& packet, unsigned sequence, Time now);
  void sent_again(const Packet& packet, unsigned sequence, Time now);
  /// May the receiver's data link layer accept this TLP?
  bool fits_delivery(const Packet& packet, unsigned sequence) const {
    return sequence == awaited_ && uid_at(sequence) == packet.uid;
  }
  /// It does.
  void delivered(unsigned sequence) {
    awaited_ = numbers_.next(static_cast<std::uint16_t>(sequence));
  }
  /// Reports a delivery that does not fit, before it is booked.
  void report_delivery(const Packet& packet, unsigned sequence, Time now) const;
  /// The receiver puts an Ack or Nak on the wire.
  void acknowledging(const Packet& dllp, Time now);
  /// It has come to the sender, undamaged.
  void acknowledged(const Dllp& dllp);

 private:
  struct Rules;
  static const Rules kOfTlps, kOfFlits;
  static constexpr unsigned kFirstRing = 64;  // a power of two, as all its sizes are

  void grow();
  void set_stop();
  std::uint64_t uid_at(unsigned sequence) const { return uids_[sequence & ring_mask_]; }

  const Rules* rules_;
  SequenceSpace numbers_;
  unsigned most_unacknowledged_;
  std::uint16_t next_;  // sequence of the next new TLP
  std::uint16_t stop_;  // the first one that has to be looked at
  unsigned ring_mask_ = kFirstRing - 1;
  std::vector<std::uint64_t> uids_;  // of unacknowledged TLPs, by sequence
  std::uint16_t awaited_;            // of the next TLP to be delivered
  std::uint16_t acked_;              // the last one that an Ack has told the sender of
  bool is_replaying_ = false;
  std::uint16_t replay_ = 0;  // of the next TLP of the replay
  Reporter reporter_;
};

}  // namespace flitwise
