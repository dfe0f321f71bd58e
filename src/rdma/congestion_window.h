// SPDX-License-Identifier: Apache-2.0
/// A window by marked echoes and round-trip time: how many bytes a session, or a queue pair, may
/// have in flight. It keeps rate x RTT on the way where nothing is congested, as senders of EQDS
/// and Ultra Ethernet do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

/// Bytes as the wire carries them.
struct CongestionWindowParameters {
  double initial = 0;     ///< W at first: rate x RTT of an empty path
  double most = 0;        ///< at most; 1.5 x initial is a good bound
  double least = 0;       ///< one packet
  double additive = 0;    ///< grown in a round without marks: one packet
  double gain = 1;        ///< g of the share of marked echoes: 1 takes that of the last round alone
  double most_cut = 0.5;  ///< of W, in a round whose echoes are all marked
  Time target{};          ///< queueing delay up to which it grows; 0: any
};

/// Echoes are taken in rounds: one ends with the first echo that comes an RTT (the one it brings)
/// after it began. With m the share of bytes whose echoes had CE in the round, and a = (1-g) a + g
/// m,
///   each echo of b bytes without CE and with RTT - base <= target:  W += additive x b / W
///   each round with m > 0, at its end:                              W -= W x a x most_cut
/// within [least, most]. A time-out: W = least. What a call costs is the same always.
class alignas(64) CongestionWindow {
 public:
  /// `parameters` outlive it.
  explicit CongestionWindow(const CongestionWindowParameters& parameters)
      : p_(&parameters), window_(parameters.initial) {}

  /// An echo for so many bytes, whose packet left one `rtt` ago; `base`: the shortest RTT known.
  void echoed(std::uint64_t bytes, bool is_marked, Time rtt, Time base, Time now) {
    const auto share = static_cast<double>(bytes);
    round_bytes_ += share;
    marked_bytes_ += is_marked ? share : 0;
    if (!is_marked && (p_->target == Time{} || rtt - base <= p_->target)) {
      window_ += p_->additive * share / window_;
    }
    if (now >= round_begin_ + rtt) {
      end_round(now);
    }
    window_ = std::clamp(window_, p_->least, p_->most);
  }
  void timed_out() { window_ = p_->least; }
  /// May so many bytes more leave? One packet may always.
  bool may_send(std::uint64_t in_flight, std::uint64_t bytes) const {
    return in_flight == 0 || static_cast<double>(in_flight + bytes) <= window_;
  }
  double bytes() const { return window_; }
  double share() const { return share_; }  ///< a

 private:
  void end_round(Time now) {
    const double marked = marked_bytes_ / round_bytes_;
    share_ += p_->gain * (marked - share_);
    window_ -= marked > 0 ? window_ * share_ * p_->most_cut : 0;
    round_bytes_ = marked_bytes_ = 0;
    round_begin_ = now;
  }

  const CongestionWindowParameters* p_;
  double window_, share_ = 0;
  double round_bytes_ = 0, marked_bytes_ = 0;
  Time round_begin_{};
};

}  // namespace flitwise
