// SPDX-License-Identifier: Apache-2.0
/// Receive half of the Ack/Nak protocol: which TLP is taken, and which Ack or Nak is owed.
#pragma once

#include <cstdint>
#include <optional>

#include "flitwise/dllp.h"
#include "flitwise/time.h"
#include "link/sequence_space.h"

namespace flitwise {

class AckNakReceiver {
 public:
  /// `limit`: Ack latency limit; `coalesce`: Ack after so many TLPs at the latest, 0: by the limit
  /// alone. [LNK-7.15]
  AckNakReceiver(Time limit, unsigned coalesce, SequenceSpace numbers = SequenceSpace::of_tlps())
      : numbers_(numbers), limit_(limit), coalesce_(coalesce), next_sequence_(numbers.first()) {}

  enum class Verdict : std::uint8_t { kAccepted, kDamaged, kDuplicate, kOutOfSequence };
  /// Steps 1 to 4 for one TLP. [LNK-7.4, LNK-7.5, LNK-7.6, LNK-7.7]
  Verdict receive(std::uint16_t sequence, bool is_damaged, Time now);

  /// Is it the one that is taken next?
  bool expects(std::uint16_t sequence) const { return sequence == next_sequence_; }

  /// When the next Ack or Nak is due; never if none is owed.
  Time deadline() const { return due_; }
  struct Owed {
    bool is_nak;
    std::uint16_t sequence;
  };
  /// What is owed, due or not; it counts as sent. REQUIRES: something is owed.
  Owed take();
  /// What take() gave is damaged on its way: it is owed again, a Nak only where it still counts.
  void owe_again(Time now) {
    nak_owed_ = nak_scheduled_;
    due_ = now;
  }
  /// The link has gone down: the next TLP has the first sequence number. [LNK-10.7]
  void reset();

 private:
  void schedule_nak(Time now);

  SequenceSpace numbers_;
  Time limit_;
  unsigned coalesce_;
  std::uint16_t next_sequence_;  // NEXT_RCV_SEQ [LNK-7.1]
  bool nak_scheduled_ = false;   // NAK_SCHEDULED: no second Nak until a good TLP comes
  bool nak_owed_ = false;
  unsigned unacknowledged_ = 0;
  Time due_ = Time::never();
};

}  // namespace flitwise
