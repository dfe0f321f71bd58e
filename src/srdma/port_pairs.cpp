// SPDX-License-Identifier: Apache-2.0
#include "srdma/port_pairs.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

std::uint64_t mixed_ports(std::uint64_t value) {
  value = (value ^ value >> 32) * kGoldenSpread;
  return (value ^ value >> 29) * kGoldenSpread;
}

// Ports of a range that are not reserved, by their number: 0 up to usable_ports(). `reserved` is in
// order.
std::uint64_t usable_ports(const PortRange& range, const std::vector<std::uint16_t>& reserved) {
  std::uint64_t left = range.size();
  for (const std::uint16_t port : reserved) {
    left -= port >= range.first && port <= range.last ? 1 : 0;
  }
  return left;
}
std::uint16_t usable_port(const PortRange& range, const std::vector<std::uint16_t>& reserved,
                          std::uint64_t number) {
  std::uint64_t port = range.first + number;
  for (const std::uint16_t one : reserved) {
    port += one >= range.first && one <= port ? 1 : 0;
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

std::uint64_t PortPairs::hash_tuple(const SessionTuple& tuple) {
  return mixed_ports(mixed_ports(addresses_of(tuple)) + (std::uint64_t{tuple.source_port} << 16) +
                     tuple.destination_port);
}
std::uint64_t PortPairs::hash_port(const std::uint16_t& port) {
  return port * kGoldenSpread;
}
std::uint64_t PortPairs::hash_addresses(const std::uint64_t& addresses) {
  return mixed_ports(addresses);
}
std::uint64_t PortPairs::addresses_of(const SessionTuple& tuple) {
  return std::uint64_t{tuple.source} << 32 | tuple.destination;
}

PortPairs::PortPairs(const PortRules& rules, KeyedStream random)
    : rules_(rules), random_(std::move(random)) {
  std::sort(rules_.reserved.begin(), rules_.reserved.end());
  rules_.reserved.erase(std::unique(rules_.reserved.begin(), rules_.reserved.end()),
                        rules_.reserved.end());
}

bool PortPairs::is_reserved(std::uint16_t port) const {
  return std::binary_search(rules_.reserved.begin(), rules_.reserved.end(), port);
}

bool PortPairs::is_in_use(const SessionTuple& tuple) const {
  const Use* const use = used_.find(tuple);
  return use != nullptr && use->until == Time::never();
}

bool PortPairs::is_free(const SessionTuple& tuple, Time now) const {
  const Use* const use = used_.find(tuple);
  return (use == nullptr || use->until <= now) && !is_reserved(tuple.source_port) &&
         !is_reserved(tuple.destination_port) && !is_bound(tuple.source_port);
}

// What rests no longer.
void PortPairs::end_rests(Time now) {
  while (!resting_.empty() && resting_.front().first <= now) {
    const SessionTuple tuple = resting_.front().second;
    resting_.pop_front();
    const Use* const use = used_.find(tuple);
    if (use != nullptr && use->until <= now) {
      forget(tuple);
    }
  }
}

void PortPairs::forget(const SessionTuple& tuple) {
  used_.erase(tuple);
  std::uint64_t& pairs = pairs_[addresses_of(tuple)];
  if (--pairs == 0) {
    pairs_.erase(addresses_of(tuple));
  }
}

void PortPairs::start_use(const SessionTuple& tuple) {
  ++pairs_[addresses_of(tuple)];
  ++own_ports_[tuple.source_port];
  used_[tuple].until = Time::never();
  ++in_use_;
}

std::optional<SessionTuple> PortPairs::draw(const IpPair& between, Time now) {
  end_rests(now);
  SessionTuple tuple{between.local, between.remote, 0, 0};
  const std::uint64_t* const taken = pairs_.find(addresses_of(tuple));
  const std::uint64_t destinations = usable_ports(rules_.destination, rules_.reserved);
  const std::uint64_t pairs = usable_ports(rules_.source, rules_.reserved) * destinations;
  const auto place = [&](std::uint64_t number) {
    tuple.source_port = usable_port(rules_.source, rules_.reserved, number / destinations);
    tuple.destination_port =
        usable_port(rules_.destination, rules_.reserved, number % destinations);
  };
  // Half of them at least are free: a few tries find one, unless most ports of this end are bound.
  constexpr int kMostTries = 64;
  const bool may_try = pairs > 0 && 2 * (taken == nullptr ? 0 : *taken) <= pairs;
  for (int tries = may_try ? kMostTries : 0; tries > 0; --tries) {
    place(random_.below(pairs));
    if (is_free(tuple, now)) {
      start_use(tuple);
      return tuple;
    }
  }
  std::vector<std::uint32_t> free;  // by their number
  for (std::uint64_t number = 0; number < pairs; ++number) {
    place(number);
    if (is_free(tuple, now)) {
      free.push_back(static_cast<std::uint32_t>(number));
    }
  }
  if (free.empty()) {
    return std::nullopt;
  }
  place(free[random_.below(free.size())]);
  start_use(tuple);
  return tuple;
}

bool PortPairs::take(const SessionTuple& tuple, Time now) {
  end_rests(now);
  if (!is_free(tuple, now)) {
    return false;
  }
  start_use(tuple);
  return true;
}

void PortPairs::release(const SessionTuple& tuple, Time now, bool has_been_used) {
  if (!is_in_use(tuple)) {
    return;
  }
  --in_use_;
  if (--own_ports_[tuple.source_port] == 0) {
    own_ports_.erase(tuple.source_port);
  }
  if (has_been_used && rules_.quarantine > Time{}) {
    used_[tuple].until = now + rules_.quarantine;
    resting_.emplace_back(now + rules_.quarantine, tuple);
  } else {
    forget(tuple);
  }
}

bool PortPairs::bind(std::uint16_t port) {
  if (own_ports_.find(port) != nullptr) {
    return false;
  }
  bound_[port] = true;
  return true;
}

}  // namespace flitwise
