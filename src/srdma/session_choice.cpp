// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace flitwise {
namespace {

// What a hash is of, so that no packet has the digest of a tuple or of an entry.
enum class Hashed : std::uint64_t { kTuple, kPacket, kMessage, kFlowlet, kEntry };

std::uint64_t digest_of(SipKey salt, Hashed what, std::uint64_t first, std::uint32_t second) {
  return sip_hash(salt, first, static_cast<std::uint64_t>(what) << 32 | second);
}

// model: H64 of a session and a packet is the finaliser of splitmix64 over both their digests, each
// of them keyed: some 3 ns a session, where SipHash over all of it would cost 20. [SEL-2]
std::uint64_t joined(std::uint64_t session, std::uint64_t packet) {
  std::uint64_t z = session ^ packet;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

std::vector<std::string> refusals_of(const ChoiceSetup& setup) {
  std::vector<std::string> refusals;
  const auto need = [&](bool is_so, std::string sentence) {
    if (!is_so) {
      refusals.push_back(std::move(sentence));
    }
  };
  need(!setup.is_capability || setup.policy == ChoicePolicy::kWeightedHash ||
           setup.policy == ChoicePolicy::kHashTable,
       fmt::format("weights of form capability are high where a session is good, and {} takes "
                   "them otherwise; expected policy weighted_hash or hash_table",
                   name_of(setup.policy)));
  need(setup.beta > 0, fmt::format("beta {} seen; expected more than 0 packets", setup.beta));
  need(setup.table_entries > 0, "0 entries of hash_table seen; expected 1 at least");
  need(setup.least_share > 0 && setup.least_share <= 1,
       fmt::format("least share {} seen; expected more than 0, and at most 1", setup.least_share));
  return refusals;
}

unsigned decision_cycles(ChoicePolicy policy, unsigned sessions) {
  if (policy == ChoicePolicy::kWeightedHash) {
    return sessions;
  }
  if (policy != ChoicePolicy::kLowestWeight) {
    return 1;
  }
  unsigned cycles = 0;
  while (cycles < 32 && (std::uint64_t{1} << cycles) < sessions) {
    ++cycles;
  }
  return cycles;
}

SessionChoice::SessionChoice(const ChoiceSetup& setup, SipKey salt, const Random& random)
    : setup_(&setup), salt_(salt), random_(random.split("choice")) {
  if (setup.policy == ChoicePolicy::kHashTable) {
    table_.resize(setup.table_entries);
  }
}

void SessionChoice::reserve(std::size_t sessions) {
  ring_.reserve(sessions);
  usable_.reserve(sessions);
  is_usable_.reserve(sessions);
  sessions_.reserve(sessions);
}

void SessionChoice::begin(SessionIndex session, const SessionTuple& tuple, double weight) {
  sessions_.resize(std::max<std::size_t>(sessions_.size(), session + 1U));
  is_usable_.resize(sessions_.size());
  is_usable_[session] = 0;
  sessions_[session] = {
      digest_of(salt_, Hashed::kTuple, std::uint64_t{tuple.source} << 32 | tuple.destination,
                std::uint32_t{tuple.source_port} << 16 | tuple.destination_port),
      weight};
}

void SessionChoice::put_in_force(const std::vector<double>& weights) {
  const std::size_t count = std::min(weights.size(), sessions_.size());
  bool has_changed = false;
  for (std::size_t i = 0; i < count; ++i) {
    has_changed = has_changed || sessions_[i].weight != weights[i];
    sessions_[i].weight = weights[i];
  }
  if (has_changed) {
    refresh();
  }
}

void SessionChoice::set_usable(SessionIndex session, bool is_usable) {
  if (this->is_usable(session) != is_usable) {
    is_usable_[session] = is_usable ? 1 : 0;
    refresh();
  }
}

// What the hot path reads.
void SessionChoice::refresh() {
  ++version_;
  usable_.clear();
  ring_.clear();
  double least = 2;
  for (SessionIndex i = 0; i < sessions_.size(); ++i) {
    const Session& one = sessions_[i];
    if (is_usable(i)) {
      const double good = setup_->is_capability ? one.weight : 1 - one.weight;
      usable_.push_back({one.digest, std::max(good, setup_->least_share), one.weight, i});
      least = std::min(least, one.weight);
    }
  }
  const bool is_lowest =
      setup_->policy == ChoicePolicy::kLowestWeight && !setup_->corrects_in_flight;
  turn_ = 0;
  bool has_turn = false;
  for (const Candidate& one : usable_) {
    if (is_lowest && one.weight > least) {
      continue;
    }
    if (!has_turn && last_ != kNoSessionIndex && one.session > last_) {
      has_turn = true;
      turn_ = ring_.size();
    }
    ring_.push_back(one.session);
  }
}

ChosenSession SessionChoice::choose(Time now, const PacketKey& key, QpChoice& own,
                                    const std::vector<std::uint32_t>& in_flight) {
  if (usable_.empty()) {
    return {kNoSessionIndex, version_};
  }
  if (setup_->granularity != ChoiceGranularity::kPacket) {
    return in_unit(now, key, own, in_flight);
  }
  const std::uint64_t digest =
      is_hashed()
          ? digest_of(salt_, Hashed::kPacket, std::uint64_t{key.qpn} << 32 | key.psn, key.resends)
          : 0;
  return {pick(digest, in_flight), version_};
}

// A packet that is sent again decides anew. The rest of its message or flowlet follows, where that
// is the one under way. [LR-4]
ChosenSession SessionChoice::in_unit(Time now, const PacketKey& key, QpChoice& own,
                                     const std::vector<std::uint32_t>& in_flight) {
  const bool is_message = setup_->granularity == ChoiceGranularity::kMessage;
  const bool is_gap = now - own.last > setup_->flowlet_gap;
  const std::uint32_t unit = is_message ? key.message : own.unit + (is_gap ? 1 : 0);
  own.last = now;
  const bool is_same = own.session != kNoSessionIndex && unit == own.unit;
  if (is_same && key.resends <= own.resends && is_usable(own.session)) {
    return {own.session, version_};
  }
  const std::uint64_t digest = digest_of(salt_, is_message ? Hashed::kMessage : Hashed::kFlowlet,
                                         std::uint64_t{key.qpn} << 32 | unit, key.resends);
  const SessionIndex session = pick(digest, in_flight);
  if (is_same || key.resends == 0 || !is_message) {
    own.unit = unit;
    own.resends = key.resends;
    own.session = session;
  }
  return {session, version_};
}

ChosenSession SessionChoice::answer(Time now, SessionIndex cause, const PacketKey& key,
                                    QpChoice& own, const std::vector<std::uint32_t>& in_flight) {
  return is_usable(cause) ? ChosenSession{cause, version_} : choose(now, key, own, in_flight);
}

SessionIndex SessionChoice::holder(unsigned entry) {
  Entry& one = table_[entry];
  if (one.version != version_) {
    one = {version_, win(digest_of(salt_, Hashed::kEntry, entry, 0))};
  }
  return one.holder;
}

SessionIndex SessionChoice::pick(std::uint64_t digest,
                                 const std::vector<std::uint32_t>& in_flight) {
  switch (setup_->policy) {
    case ChoicePolicy::kWeightedHash: return win(digest);
    case ChoicePolicy::kHashTable: return holder(static_cast<unsigned>(digest % table_.size()));
    case ChoicePolicy::kLowestWeight: return lowest(digest, in_flight);
    case ChoicePolicy::kRoundRobin: return next_in_turn();
    case ChoicePolicy::kRandom: return ring_[random_.below(ring_.size())];
    case ChoicePolicy::kSingle: break;
  }
  return ring_.front();
}

// Rendezvous hashing: the smallest -ln(u) / a wins. Since -ln(u) >= 1 - u, few logarithms are
// taken. [SEL-2]
SessionIndex SessionChoice::win(std::uint64_t digest) const {
  constexpr double kAll = 0x1p64;
  double best = std::numeric_limits<double>::infinity();
  SessionIndex winner = usable_.front().session;
  for (const Candidate& one : usable_) {
    const std::uint64_t hash = joined(one.digest, digest);
    const double below = 1 - 0x1p-53 * static_cast<double>(static_cast<std::int64_t>(hash >> 11));
    if (below > best * one.share) {
      continue;
    }
    const double score = -std::log((static_cast<double>(hash) + 1) / (kAll + 1)) / one.share;
    if (score < best) {
      best = score;
      winner = one.session;
    }
  }
  return winner;
}

SessionIndex SessionChoice::lowest(std::uint64_t digest,
                                   const std::vector<std::uint32_t>& in_flight) {
  const std::size_t count = ring_.size();
  const bool is_in_turn = setup_->tie == ChoiceTie::kRoundRobin;
  const std::size_t first = setup_->tie == ChoiceTie::kHash ? digest % count
                            : is_in_turn                    ? turn_
                                                            : 0;
  if (!setup_->corrects_in_flight) {
    return is_in_turn ? next_in_turn() : ring_[first];
  }
  const auto corrected = [&](const Candidate& one) {
    return one.weight + in_flight[one.session] / setup_->beta;
  };
  std::size_t winner = first;
  double best = corrected(usable_[first]);
  const auto look_through = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (const double its = corrected(usable_[i]); its < best) {
        best = its;
        winner = i;
      }
    }
  };
  look_through(first + 1, count);
  look_through(0, first);
  if (is_in_turn) {
    turn_ = winner;
    return next_in_turn();
  }
  return ring_[winner];
}

SessionIndex SessionChoice::next_in_turn() {
  last_ = ring_[turn_];
  turn_ = turn_ + 1 < ring_.size() ? turn_ + 1 : 0;
  return last_;
}

}  // namespace flitwise
