// SPDX-License-Identifier: Apache-2.0
/// The distributor of a session group: the session of each packet. [6.4] [8]
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/fetch.h"
#include "common/random.h"
#include "common/sip_hash.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "srdma/session.h"
#include "srdma/session_stats.h"

namespace flitwise {

inline constexpr std::array<const char*, 6> kChoicePolicyNames = {
    "lowest_weight", "weighted_hash", "hash_table", "round_robin", "random", "single"};
constexpr const char* name_of(ChoicePolicy policy) {
  return kChoicePolicyNames[static_cast<std::size_t>(policy)];
}
inline constexpr std::array<const char*, 3> kChoiceTieNames = {"round_robin", "lowest_id", "hash"};
inline constexpr std::array<const char*, 3> kChoiceGranularityNames = {"packet", "message",
                                                                       "flowlet"};

struct ChoiceSetup {
  ChoicePolicy policy = ChoicePolicy::kWeightedHash;
  ChoiceTie tie = ChoiceTie::kRoundRobin;
  ChoiceGranularity granularity = ChoiceGranularity::kPacket;
  bool corrects_in_flight = false;       ///< of lowest_weight: w + in flight / beta
  double beta = 64;                      ///< packets, above 0
  unsigned table_entries = 1024;         ///< of hash_table, from 1 on
  double least_share = 1.0 / 256;        ///< a_min
  Time flowlet_gap = Time::from_us(10);  ///< between packets of a queue pair: another flowlet
  bool is_capability = false;            ///< a high weight is good [7.1]
};

/// Why there is no such choice, a sentence each. [7.1]
std::vector<std::string> refusals_of(const ChoiceSetup& setup);

/// Cycles that a choice among so many sessions takes in hardware: lowest_weight a tree of
/// comparisons, weighted_hash one session after the other, all else 1. [SEL-6]
unsigned decision_cycles(ChoicePolicy policy, unsigned sessions);

/// A packet as the choice sees it. [SEL-2]
struct PacketKey {
  std::uint32_t qpn = 0;
  Psn psn = 0;
  std::uint32_t message = 0;  ///< its MSN
  std::uint32_t resends = 0;  ///< of this packet: another choice each time [LR-4]
};

/// What a queue pair remembers of its choices: where the message or the flowlet under way goes.
struct QpChoice {
  Time last{};  ///< packet
  std::uint32_t unit = 0, resends = 0;
  SessionIndex session = kNoSessionIndex;
};

struct ChosenSession {
  SessionIndex session = kNoSessionIndex;  ///< none: no session may be used [SG-9]
  std::uint32_t version = 0;               ///< of the weights that decided [WT-C9]
};

/// Weights are put into force all at once, and stay until the next ones. [6.4]
class SessionChoice {
 public:
  /// `setup` outlives it. salt: nobody outside may know it [SEL-8]. random: of policy random.
  SessionChoice(const ChoiceSetup& setup, SipKey salt, const Random& random);

  /// Room for so many sessions.
  void reserve(std::size_t sessions);
  /// There is a session of that weight, not usable yet.
  void begin(SessionIndex session, const SessionTuple& tuple, double weight);
  /// New weights, by index. O(sessions). [6.4]
  void put_in_force(const std::vector<double>& weights);
  /// Takes effect at once. O(sessions).
  void set_usable(SessionIndex session, bool is_usable);

  /// in_flight: packets by index, of the in-flight correction. Costs the same with any number of
  /// sessions, but for: weighted_hash, the in-flight correction, and the first look at an entry of
  /// hash_table under these weights, which look at all usable sessions (some 5 ns each). Allocates
  /// nothing.
  ChosenSession choose(Time now, const PacketKey& key, QpChoice& own,
                       const std::vector<std::uint32_t>& in_flight);
  /// The session of the packet that is answered, where it is usable. [SEL-7]
  ChosenSession answer(Time now, SessionIndex cause, const PacketKey& key, QpChoice& own,
                       const std::vector<std::uint32_t>& in_flight);
  /// Who holds an entry of the table under the weights in force. REQUIRES: policy hash_table; some
  /// session is usable. [SEL-3]
  SessionIndex holder(unsigned entry);

  bool is_usable(SessionIndex session) const {
    return session < is_usable_.size() && is_usable_[session] != 0;
  }
  /// is_usable() will be asked soon.
  void fetch(SessionIndex session) const { flitwise::fetch(&is_usable_[session]); }
  void fetch_next() const { flitwise::fetch(ring_.data() + turn_); }
  /// The one that has its turn next, of policies that go round; else any. None: none is usable.
  SessionIndex in_turn() const { return ring_.empty() ? kNoSessionIndex : ring_[turn_]; }
  std::size_t usable() const { return usable_.size(); }
  /// Grows by 1 with all that changes the choice.
  std::uint32_t version() const { return version_; }
  const ChoiceSetup& setup() const { return *setup_; }

 private:
  struct Session {
    std::uint64_t digest = 0;  ///< of its tuple
    double weight = 0;
  };
  /// A usable session, as the hot path reads it.
  struct Candidate {
    std::uint64_t digest = 0;
    double share = 1;  ///< a_i
    double weight = 0;
    SessionIndex session = 0;
  };
  struct Entry {
    std::uint32_t version = 0;
    SessionIndex holder = kNoSessionIndex;
  };

  /// Does the choice look at the digest of a packet?
  bool is_hashed() const { return setup_->policy < ChoicePolicy::kRoundRobin; }
  void refresh();
  ChosenSession in_unit(Time now, const PacketKey& key, QpChoice& own,
                        const std::vector<std::uint32_t>& in_flight);
  SessionIndex pick(std::uint64_t digest, const std::vector<std::uint32_t>& in_flight);
  SessionIndex win(std::uint64_t digest) const;
  SessionIndex lowest(std::uint64_t digest, const std::vector<std::uint32_t>& in_flight);
  SessionIndex next_in_turn();

  const ChoiceSetup* setup_;
  SipKey salt_;
  std::uint32_t version_ = 1;
  SessionIndex last_ = kNoSessionIndex;  // that had its turn
  std::size_t turn_ = 0;                 // in ring_, of the next one
  std::vector<SessionIndex> ring_;       // what turns go round: all usable ones, or the lowest
  std::vector<Candidate> usable_;        // by index
  std::vector<std::uint8_t> is_usable_;  // by index, apart: a byte is all that most packets look at
  std::vector<Session> sessions_;
  Random random_;
  std::vector<Entry> table_;
};

}  // namespace flitwise
