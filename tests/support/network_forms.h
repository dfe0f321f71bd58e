// SPDX-License-Identifier: Apache-2.0
/// Closed forms of networks, for tests to hold measured figures against.
#pragma once

#include <boost/math/special_functions/gamma.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace flitwise::forms {

/// The share of n ports that n flows of line rate keep busy, each hashed for itself: also their
/// mean goodput where flows of a port share it evenly.
inline double busy_share(unsigned n) {
  return 1 - std::pow(1 - 1.0 / n, n);
}
/// Probability that no two of n flows share one of n ports.
inline double no_collision(unsigned n) {
  double all = 1;
  for (unsigned i = 1; i < n; ++i) {
    all *= 1 - static_cast<double>(i) / n;
  }
  return all;
}
/// Probability that a certain one of n flows shares its port with another one, over m ports.
inline double shares_port(unsigned n, unsigned m) {
  return 1 - std::pow(1 - 1.0 / m, n - 1);
}
/// Mean number of n ways that k sessions use.
inline double distinct_ways(unsigned n, unsigned k) {
  return n * (1 - std::pow(1 - 1.0 / n, k));
}
/// Mean wait of Poisson arrivals of one size for a server, in units of its service time.
inline double md1_wait(double load) {
  return load / (2 * (1 - load));
}
/// Share of payload in what a wire carries, for SEND without immediate over IPv4.
inline double efficiency(double payload) {
  return payload / (payload + 58 + 24);
}
/// Shares of the rate that are goodput where a packet is lost with probability p; `round_trip`:
/// packets sent in a round trip of a NAK.
inline double go_back_n(double p, double round_trip) {
  return (1 - p) / (1 - p + p * round_trip);
}
inline double selective(double p) {
  return 1 - p;
}
/// Four standard deviations of a share p of n draws.
inline double four_sigma(double p, double n) {
  return 4 * std::sqrt(p * (1 - p) / n);
}
/// Probability that counts which are all expected alike differ so much or more by chance.
inline double chi_square_p(const std::vector<std::uint64_t>& counts) {
  double sum = 0, square = 0;
  for (const std::uint64_t count : counts) {
    sum += static_cast<double>(count);
  }
  const double expected = sum / static_cast<double>(counts.size());
  for (const std::uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    square += off * off / expected;
  }
  return boost::math::gamma_q(static_cast<double>(counts.size() - 1) / 2, square / 2);
}

}  // namespace flitwise::forms
