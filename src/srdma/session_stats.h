// SPDX-License-Identifier: Apache-2.0
/// What is known of one session, and what the owner of a window keeps of each packet. [6.2]
#pragma once

#include <cstddef>
#include <cstdint>

#include "flitwise/time.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

/// The place of a session in its group at this end: its own from SessionBalancer::add() until it is
/// removed and nothing of it is in flight. The next one to be added may have it then.
using SessionIndex = std::uint16_t;
inline constexpr SessionIndex kNoSessionIndex = 0xffff;

/// One packet of a window, kept by the owner of the window at its PSN: the session monitor
/// allocates nothing. It begins as SessionPacket{} with each new packet, and is of use beyond its
/// acknowledgement, to echoes that come late. The members are SessionMonitor's.
struct SessionPacket {
  Time sent{};                                 ///< of the latest try
  std::uint32_t bytes = 0;                     ///< likewise
  Psn psn = 0;                                 ///< kept for the owner alone
  SessionIndex session = kNoSessionIndex;      ///< likewise
  SessionIndex lost_on = kNoSessionIndex;      ///< of the try that a loss is charged to; none
  SessionIndex credited_to = kNoSessionIndex;  ///< whose delivery it is; none yet
  bool is_again = false;                       ///< sent more than once: no sample of the RTT [MO-1]
  bool is_in_flight = false;                   ///< counted as such on `session`
  bool is_echoed = false;                      ///< by `session`, of the latest try
};

/// Bytes are those of packets on the wire, as the owner counts them. The members lie as they are
/// touched, in lines of the cache: the state and what leaves (a packet touches the first two),
/// round trips, what comes of echoes, and what is received. An update of the weights reads the
/// first three.
struct alignas(64) SessionStats {
  static constexpr std::size_t kSent = 128;  ///< bytes that a packet touches that leaves

  /// Since the last update of the weights.
  struct Interval {
    std::int64_t offered_bytes = 0;   ///< waiting at its begin, and assigned since [7.1]
    std::int64_t achieved_bytes = 0;  ///< delivered; below 0 where more was taken back
    std::uint32_t echoes = 0, ce_echoes = 0, rtt_samples = 0;
    std::uint32_t probe_answers = 0;
    Time busy{};  ///< something was in flight
  };

  bool is_open = false;           ///< false: the index is free, or waits for its last packets
  bool is_eligible = false;       ///< its state lets new packets leave by it [SG-4]
  bool is_alive = true;           ///< [MO-4]
  bool is_timed_out = false;      ///< w = c = 1 until an echo [MO-3]
  bool is_probing = false;        ///< a probe is out
  std::uint8_t loss_run = 0;      ///< declared lost with no echo between them [MO-3]
  std::uint8_t probe_misses = 0;  ///< probes in a row without an answer [MO-4]
  Psn probe_psn = 0;              ///< of the last probe
  std::uint64_t local_queue = 0;  ///< bytes assigned to it that have not been sent
  Time last_sent{};
  std::uint64_t sent_packets = 0, sent_bytes = 0;
  Time idle_gap{};       ///< the last one between two packets sent [6.2]
  Time last_progress{};  ///< a packet of it arrived, or it is in flight alone since

  Interval interval;
  Time busy_since{};                      ///< while something is in flight
  Time unanswered_since = Time::never();  ///< of the first probe since anything came through
  double rated = 0;                       ///< bits/s that the session could carry [7.1]

  Time rtt_ewma{};                ///< gain 1/8; the first sample as it is
  Time rtt_base{};                ///< the least of base_window
  Time base_old{}, base_young{};  ///< least RTT of the older and the younger half of base_window
  Time base_turn{};               ///< when the younger half becomes the older one
  Time last_sample{};             ///< of the RTT; `opened` before the first one
  std::uint64_t rtt_samples = 0;
  Time rtt_min{};  ///< of all samples; 0 without one, as rtt_max

  Time rtt_max{};
  Time rtt_sum{};  ///< of all samples
  std::uint64_t echoes = 0, ce_echoes = 0;
  std::uint64_t delivered_packets = 0, delivered_bytes = 0;
  std::uint64_t losses = 0, cnps = 0;

  std::uint64_t received_packets = 0, received_bytes = 0;
  Time last_received{}, last_probe{};  ///< `opened` before the first one
  Time opened{};
  std::uint64_t probes = 0;

  /// What the RTT has on top of rtt_base.
  Time queueing_delay() const { return rtt_ewma > rtt_base ? rtt_ewma - rtt_base : Time{}; }
};

static_assert(offsetof(SessionStats, rtt_ewma) == SessionStats::kSent &&
                  offsetof(SessionStats, received_packets) == 256 && sizeof(SessionStats) == 320,
              "lines of the cache as they are touched");

}  // namespace flitwise
