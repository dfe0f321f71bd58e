// SPDX-License-Identifier: Apache-2.0
// Seeding, splitting and the mappings that need a logarithm.
#include "common/random.h"

#include <cmath>
#include <limits>

namespace flitwise {

namespace {
/// One step of splitmix64 (Steele, Lea, Flood), the generator its authors name for seeding.
std::uint64_t splitmix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed) {
  std::uint64_t filler = seed;
  for (std::uint64_t& word : state_) {
    word = splitmix(filler);
  }
}

Random Random::split(std::string_view name) const {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  std::uint64_t state = seed_;
  const std::uint64_t mixed = splitmix(state);
  state = mixed ^ hash;
  return Random(splitmix(state));
}

double Random::exponential(double mean) {
  return -std::log1p(-real()) * mean;
}

std::uint64_t Random::geometric(double probability) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (probability >= 1) {
    return 0;
  }
  if (!(probability > 0)) {
    return kMost;
  }
  const double failures = std::floor(std::log1p(-real()) / std::log1p(-probability));
  return failures < 0x1.0p63 ? static_cast<std::uint64_t>(failures) : kMost;
}

}  // namespace flitwise
