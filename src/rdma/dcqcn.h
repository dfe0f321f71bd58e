// SPDX-License-Identifier: Apache-2.0
/// DCQCN: how a receiver tells of marked packets, and what rate its sender makes of that. [CC-2, 4]
#pragma once

#include <cstdint>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// Rates in bits per second. The defaults are those of the paper (Zhu et al., SIGCOMM 2015), and
/// ours where it has none.
struct DcqcnParameters {
  double line_rate = 100e9;  ///< which is also where a flow begins
  double initial_rate = 0;   ///< 0: line_rate
  double least_rate = 100e6;
  double gain = 1.0 / 256;   ///< g
  double initial_alpha = 1;  ///< 0..1
  Time alpha_time = Time::from_us(55);
  Time rate_time = Time::from_us(55);
  std::uint64_t rate_bytes = 0;  ///< the byte counter; 0: none
  unsigned recovery_steps = 5;   ///< F
  double additive = 40e6;        ///< R_AI
  double hyper = 40e6;           ///< R_HAI; without a byte counter there is no such step
  double most_cut = 0.5;         ///< of the rate, by one CNP
  Time cut_time{};               ///< CNPs that come sooner behind a cut are ignored; 0: none are
  double scale = 1;              ///< dcqcn_scale: of additive and hyper

  /// What one of n sessions has, where each has a limiter of its own. [CC-2]
  DcqcnParameters of_one(unsigned n) const;
};

/// The reaction point: the rate at which a queue pair, or one session of it, may send. Timers run
/// in arrears: rate() makes the steps that have become due since the last call, so that an idle
/// flow costs nothing. At the full rate and alpha 0 a call costs a comparison.
class DcqcnRate {
 public:
  explicit DcqcnRate(const DcqcnParameters& parameters);
  /// A CNP has come.
  void notified(Time now);
  /// Bytes leave: what the byte counter needs.
  void sent(std::uint64_t bytes, Time now);
  /// bit/s, from least_rate to line_rate.
  double rate(Time now);
  double target() const { return target_; }
  double alpha() const { return alpha_; }
  std::uint64_t cuts() const { return cuts_; }

 private:
  void catch_up(Time now);
  void step();

  DcqcnParameters p_;
  double current_, target_, alpha_;
  Time alpha_at_ = Time::never(), rate_at_ = Time::never();  // next steps; never: nothing to do
  Time cut_at_{};
  bool has_cut_ = false;
  unsigned time_steps_ = 0, byte_steps_ = 0;
  std::uint64_t bytes_ = 0;  // towards the byte counter
  std::uint64_t cuts_ = 0;
};

/// Who may send CNPs. [CC-2]
enum class CnpMode : std::uint8_t { kNone, kQueuePair, kSession };

/// The notification point of a queue pair: a CNP for a marked packet unless one has left within
/// the interval, for the queue pair or for the session.
class CnpSource {
 public:
  CnpSource(CnpMode mode, Time interval) : mode_(mode), interval_(interval) {}
  void reset();
  /// A packet with CE has come by that session: does a CNP leave by it?
  bool marked(std::uint16_t session, Time now);

 private:
  struct Next {
    std::uint16_t session;
    Time at;
  };
  CnpMode mode_;
  Time interval_;
  std::vector<Next> next_;  // by session; one row for a queue pair
};

}  // namespace flitwise
