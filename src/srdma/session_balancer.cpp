// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_balancer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

constexpr std::size_t kMostPast = 4'096;

}  // namespace

void BalancerSetup::agree() {
  weights.has_echo = monitor.has_echo;
  weights.stale_time = monitor.stale_time;
  weights.loss_cost = monitor.rto;
  choice.is_capability = control.is_capability = weights.is_capability();
}

std::vector<std::string> refusals_of(const BalancerSetup& setup,
                                     const std::vector<double>& thresholds) {
  std::vector<std::string> all = refusals_of(setup.weights, setup.control.most_sessions);
  for (const auto& more : {refusals_of(setup.choice), refusals_of(setup.control, thresholds)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const auto& [name, count] :
       {std::pair{"loss_run", setup.monitor.loss_run},
        std::pair{"keepalive_misses", setup.monitor.keepalive_misses}}) {
    if (count < 1 || count > 255) {
      all.push_back(fmt::format("{} {} seen; expected 1 to 255", name, count));
    }
  }
  for (const auto& [name, span] :
       {std::pair{"weight interval", setup.weight_interval},
        std::pair{"probe epoch", setup.weights.probe_epoch},
        std::pair{"base window", setup.monitor.base_window},
        std::pair{"stale time", setup.monitor.stale_time}, std::pair{"RTO", setup.monitor.rto}}) {
    if (span <= Time{}) {
      all.push_back(fmt::format("a {} of 0 seen; expected more", name));
    }
  }
  return all;
}

SessionBalancer::SessionBalancer(const BalancerSetup& setup, const BalancerSeeds& seeds, Time now)
    : setup_(setup),
      monitor_(setup.monitor),
      choice_(setup.choice, seeds.salt, seeds.random),
      weights_(setup.weights, seeds.random),
      control_(setup.control),
      last_weights_(now),
      last_control_(now) {
  Random phase = seeds.random.split("phase");
  const auto first = [&](Time interval) {
    return now +
           Time{static_cast<std::int64_t>(phase.below(static_cast<std::uint64_t>(interval.fs))) +
                1};
  };
  next_weights_ = first(setup.weight_interval);
  next_control_ = setup.control.is_on ? first(setup.control.interval) : Time::never();
}

void SessionBalancer::reserve(std::size_t sessions) {
  owned_.reserve(sessions);
  monitor_.reserve(sessions);
  choice_.reserve(sessions);
  table_.reserve(sessions);
  paces_.reserve(sessions);
}

SessionIndex SessionBalancer::add(Time now, const BalancedSession& session) {
  const SessionIndex place = monitor_.free_place();
  if (place < owned_.size() && stats(place).sent_packets > 0 && past_.size() < kMostPast) {
    past_.push_back({owned_[place], stats(place), score(place)});
  }
  const SessionIndex index = monitor_.open(now, session.rated);
  const auto at_least = [&](auto& list) {
    list.resize(std::max<std::size_t>(list.size(), index + 1U));
  };
  at_least(owned_);
  at_least(paces_);
  owned_[index] = session;
  paces_[index] = {};
  by_id_[session.id] = index;
  weights_.begin(index, monitor_.stats());
  const double weight = score(index).weight;
  at_least(table_);
  table_[index] = weight;
  choice_.begin(index, session.tuple, weight);
  set_eligible(index, true);
  return index;
}

void SessionBalancer::set_eligible(SessionIndex session, bool is_eligible) {
  monitor_.set_eligible(session, is_eligible);
  settle();
}

void SessionBalancer::remove(SessionIndex session) {
  by_id_.erase(owned_[session].id);
  monitor_.close(session);
  settle();
}

SessionIndex SessionBalancer::find(SessionId id) const {
  const SessionIndex* const found = by_id_.find(id);
  return found == nullptr ? kNoSessionIndex : *found;
}

void SessionBalancer::change_weights(const WeightSetup& setup, const Random& random) {
  weights_.change(setup, random);
}

// One that is not alive is skipped while another one is. [SG-4]
void SessionBalancer::settle() {
  const std::vector<SessionStats>& all = monitor_.stats();
  const bool is_any_alive =
      any_of(all, [](const SessionStats& one) { return one.is_eligible && one.is_alive; });
  for (SessionIndex i = 0; i < all.size(); ++i) {
    choice_.set_usable(i, all[i].is_eligible && (all[i].is_alive || !is_any_alive));
  }
  mark_stale();
}

// By hardware weights are those of the scores at the next choice; by software those of an update,
// later. [6.3]
void SessionBalancer::collect() {
  for (SessionIndex i = 0; i < owned_.size(); ++i) {
    table_[i] = score(i).weight;
  }
}

void SessionBalancer::apply() {
  if (!setup_.apply_delay) {
    collect();
  }
  choice_.put_in_force(table_);
  apply_at_ = Time::never();
}

ChosenSession SessionBalancer::choose(Time now, const PacketKey& key, QpChoice& own) {
  if (now >= apply_at_) {
    apply();
  }
  return choice_.choose(now, key, own, monitor_.in_flight());
}

ChosenSession SessionBalancer::answer(Time now, SessionIndex cause, const PacketKey& key,
                                      QpChoice& own) {
  if (now >= apply_at_) {
    apply();
  }
  return choice_.answer(now, cause, key, own, monitor_.in_flight());
}

void SessionBalancer::lost(Time now, SessionPacket& packet) {
  const SessionIndex session = packet.session;
  if (monitor_.lost(now, packet)) {
    weights_.punish(session);
    mark_stale();
  }
}

void SessionBalancer::delivered(Time now, SessionPacket& packet) {
  if (monitor_.delivered(now, packet)) {
    settle();
  }
}

void SessionBalancer::timed_out(const SessionPacket& packet) {
  if (packet.session != kNoSessionIndex) {
    monitor_.timed_out(packet.session);
    mark_stale();
  }
}

void SessionBalancer::echo(Time now, SessionIndex session, Psn psn, SessionPacket* packet,
                           Time hold, bool ce) {
  if (monitor_.echo(now, session, psn, packet, hold, ce)) {
    settle();
  }
}

void SessionBalancer::received(Time now, SessionIndex session, std::uint32_t bytes) {
  if (monitor_.received(now, session, bytes)) {
    settle();
  }
}

ControlDecision SessionBalancer::tick(Time now, bool decides) {
  const auto behind = [now](Time then, Time interval) {
    return then + interval * ((now - then).fs / interval.fs + 1);
  };
  if (now >= next_weights_) {
    if (monitor_.check(now)) {
      settle();
    }
    monitor_.end_interval(now);
    weights_.update(now, now - last_weights_, monitor_.stats());
    monitor_.begin_interval();
    last_weights_ = now;
    next_weights_ = behind(next_weights_, setup_.weight_interval);
    mark_stale();
    if (setup_.apply_delay && apply_at_ == Time::never()) {
      collect();
      apply_at_ = now + *setup_.apply_delay;
    }
  }
  if (now < next_control_) {
    return {};
  }
  next_control_ = behind(next_control_, setup_.control.interval);
  return decides ? decide(now) : ControlDecision{};
}

ControlDecision SessionBalancer::decide(Time now) {
  const auto seconds = static_cast<double>((now - last_control_).fs) / 1e15;
  last_control_ = now;
  controlled_.clear();
  for (SessionIndex i = 0; i < owned_.size(); ++i) {
    const SessionStats& own = stats(i);
    paces_[i].rate =
        seconds > 0 ? static_cast<double>(own.sent_packets - paces_[i].sent) / seconds : 0;
    paces_[i].sent = own.sent_packets;
    if (own.is_eligible) {
      controlled_.push_back(
          {i, score(i), owned_[i].threshold, cost_of(i), own.opened, own.rtt_ewma});
    }
  }
  const ControlDecision decision = control_.decide(now, controlled_);
  control_.note(now, decision);
  return decision;
}

double SessionBalancer::cost_of(SessionIndex session) const {
  return flitwise::cost_of(setup_.control, owned_[session].state_bytes, owned_[session].is_secured,
                           paces_[session].rate);
}

double SessionBalancer::cost() const {
  double sum = 0;
  for (SessionIndex i = 0; i < owned_.size(); ++i) {
    sum += stats(i).is_eligible ? cost_of(i) : 0;
  }
  return sum;
}

Time SessionBalancer::largest_rtt() const {
  Time largest{};
  for (const SessionStats& one : monitor_.stats()) {
    largest = std::max(largest, one.is_eligible ? one.rtt_ewma : Time{});
  }
  return largest;
}

}  // namespace flitwise
