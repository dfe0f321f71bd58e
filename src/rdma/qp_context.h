// SPDX-License-Identifier: Apache-2.0
/// States of a queue pair, and what its requester and its responder share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/ranges.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "rdma/completion_queue.h"
#include "rdma/dcqcn.h"
#include "rdma/memory_keys.h"
#include "rdma/psn.h"

namespace flitwise {

/// [VB-3]; SQE is a state of datagrams and unreliable connections, which are not here.
enum class QpState : std::uint8_t { kReset, kInit, kRtr, kRts, kSqd, kError };
inline constexpr int kQpStates = 6;
constexpr const char* name_of(QpState state) {
  constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "ERR"};
  return name_in(kNames, state);
}
constexpr unsigned bit_of(QpState state) {
  return 1U << static_cast<unsigned>(state);
}
inline constexpr unsigned kSendingStates = bit_of(QpState::kRts) | bit_of(QpState::kSqd);
inline constexpr unsigned kReceivingStates = kSendingStates | bit_of(QpState::kRtr);
constexpr bool is_one_of(QpState state, unsigned states) {
  return (bit_of(state) & states) != 0;
}
/// May software move a queue pair so? Any state goes to RESET and ERR. [VB-3]
constexpr bool may_move(QpState from, QpState to) {
  constexpr unsigned kInit = bit_of(QpState::kInit), kRtr = bit_of(QpState::kRtr),
                     kAlways = bit_of(QpState::kReset) | bit_of(QpState::kError);
  constexpr unsigned kNext[kQpStates] = {kInit,          kInit | kRtr,   bit_of(QpState::kRts),
                                         kSendingStates, kSendingStates, 0};
  return ((kNext[static_cast<unsigned>(from)] | kAlways) & bit_of(to)) != 0;
}

inline constexpr int kReceiveModes = 3;
constexpr const char* name_of(ReceiveMode mode) {
  constexpr const char* kNames[] = {"in_order", "reorder", "ddp"};
  return name_in(kNames, mode);
}
inline constexpr int kRecoveries = 2;
constexpr const char* name_of(Recovery recovery) {
  constexpr const char* kNames[] = {"go_back_n", "selective"};
  return name_in(kNames, recovery);
}

/// What software programs, and what both ends have agreed on.
struct QueuePairSetup {
  std::uint32_t number = 0, peer = 0;  ///< 24 bits
  std::uint32_t domain = 0;            ///< protection domain
  std::uint16_t partition = 0xffff;    ///< P_Key
  std::uint8_t rights = 0;             ///< of RdmaRight: what the peer may ask for
  std::uint32_t mtu = 4096;            ///< 256, 512, 1024, 2048 or 4096
  Psn first_psn = 0, peer_first_psn = 0;
  std::uint32_t window = 128;             ///< PSNs, 1..kMostOutstandingPsns [PS-3]
  std::size_t send_depth = 128;           ///< work requests
  std::uint32_t most_reads_out = 16;      ///< READs and atomics outstanding, from 1 on [VB-10]
  std::uint32_t most_reads_taken = 16;    ///< of the peer that are remembered, from 1 on
  unsigned retries = 7, rnr_retries = 7;  ///< 7 RNR retries: no end [VB-9]
  std::uint8_t rnr_time = 12;             ///< code 0..31 that its RNR NAKs carry
  std::uint32_t ack_every = 16;           ///< packets without a request for an ACK [RX-5]

  // Several paths. What is here by default is a plain RoCEv2 queue pair. [CC-9]
  ReceiveMode mode = ReceiveMode::kInOrder;
  Recovery recovery = Recovery::kGoBackN;  ///< REQUIRES: kInOrder with kGoBackN alone
  std::uint32_t reorder_window = 256;      ///< PSNs, 1..2^22: how far ahead a packet may be kept
  std::uint32_t nak_distance = 256;        ///< a packet further ahead asks for a NAK [RX-3]
  Time gap_time = Time::from_us(50);       ///< a gap that is older does too; at first of both ends
  bool has_echo = false;                   ///< each ACK has one [MO-1]
  bool has_sack = false;                   ///< and a bitmap; with kReorder or kDirect [RX-6]
  bool finds_holes = false;  ///< at a NAK, what has no echo for a gap time is lost too [LR-2]
  std::uint32_t ack_every_session = 1;  ///< packets of one session, with echoes; 0: any number
  Time ack_delay = Time::never();       ///< until packets that ask for no ACK get one [RX-5]
  bool keeps_sent = false;  ///< sent_packet() knows each PSN; with kSelective it does always
  CnpMode cnp = CnpMode::kNone;
  Time cnp_interval = Time::from_us(50);  ///< [CC-2]

  bool keeps_order() const { return mode == ReceiveMode::kInOrder; }
  bool is_selective() const { return recovery == Recovery::kSelective; }
};

/// The window that keeps a rate (bit/s) busy over a round trip: twice what is on the way, as far as
/// PSNs go. [PS-3]
constexpr std::uint32_t window_for(double rate, Time round_trip, std::uint32_t mtu) {
  const double packets = 2 * rate * static_cast<double>(round_trip.fs) / 8e15 / mtu;
  return packets < 256                    ? 256
         : packets > kMostOutstandingPsns ? kMostOutstandingPsns
                                          : static_cast<std::uint32_t>(packets);
}

/// Packets that are dropped or told apart, a counter each.
enum class QpCounter : std::uint8_t {
  kBadIcrc,
  kBadVersion,
  kBadTransport,
  kBadOpcode,
  kBadQueuePair,
  kBadPartition,
  kBadState,
  kOutOfOrder,
  kDuplicate,
  kForgotten,     ///< duplicates of READs and atomics that nobody remembers
  kBogusAck,      ///< for a PSN that was never sent
  kStaleAck,      ///< for a PSN that is acknowledged
  kBadSyndrome,   ///< an ACK whose syndrome means nothing
  kSequenceNaks,  ///< sent
  kRnrNak,        ///< sent
  kErrorNak,      ///< sent
  kTimeOut,
  kResent,      ///< packets
  kLostAnswer,  ///< READs and atomics that a later answer showed to be lost
  kOverflow,    ///< further ahead than the window of what is kept
  kHeld,        ///< kept, for they came ahead of others
  kNotified,    ///< CNPs taken
  kNotifies     ///< CNPs sent
};
inline constexpr int kQpCounters = 23;
constexpr const char* name_of(QpCounter counter) {
  constexpr const char* kNames[] = {"rx_bad_icrc",
                                    "rx_bad_version",
                                    "rx_bad_transport",
                                    "rx_bad_opcode",
                                    "rx_qp_mismatch",
                                    "rx_bad_p_key",
                                    "rx_bad_state",
                                    "rx_out_of_order",
                                    "rx_duplicate",
                                    "rx_forgotten",
                                    "rx_bogus_ack",
                                    "rx_stale_ack",
                                    "rx_bad_syndrome",
                                    "sequence_naks",
                                    "rnr_naks",
                                    "error_naks",
                                    "timeouts",
                                    "resent",
                                    "lost_answers",
                                    "rx_ooo_overflow",
                                    "rx_held",
                                    "rx_cnp",
                                    "cnps"};
  return name_in(kNames, counter);
}

/// Nothing in it is the queue pair's own but setup, state and counters.
struct QpContext {
  QueuePairSetup setup;
  MemoryKeys& keys;
  CompletionQueue& send_queue;
  CompletionQueue& receive_queue;
  RdmaBuffers& buffers;
  Time peer_gap_time = setup.gap_time;  ///< of requests of the peer; setup.gap_time: of answers
  QpState state = QpState::kReset;
  Time now{};   ///< of the call that is under way
  Time came{};  ///< when the packet that is received was at the port
  std::array<std::uint64_t, kQpCounters> counts{};

  void count(QpCounter counter) { ++counts[static_cast<unsigned>(counter)]; }
  void fail() { state = QpState::kError; }
};

}  // namespace flitwise
