// SPDX-License-Identifier: Apache-2.0
// Whether handles are used, and which. [DHI D5, D6]
#include "dhi/negotiation.h"

#include <algorithm>

namespace flitwise {
namespace {

bool is_width(unsigned bits) {
  return bits >= kMinHandleBits && bits <= kMaxHandleBits;
}

NegotiationOutcome outcome_of(const HandleEnd& host, const HandleEnd& device, HandleRange range,
                              bool every_hop_aware) {
  if (!host.is_supported || !device.is_supported) {
    return NegotiationOutcome::kNotSupported;
  }
  if (!host.is_enabled || !device.is_enabled) {
    return NegotiationOutcome::kNotEnabled;
  }
  if (!every_hop_aware) {
    return NegotiationOutcome::kHopNotAware;
  }
  if (!is_width(host.bits) || !is_width(device.bits) || range.size() == 0 ||
      to_int(range.upper) >= (1U << std::min(host.bits, device.bits))) {
    return NegotiationOutcome::kBadRange;
  }
  return host.epoch == device.epoch ? NegotiationOutcome::kActive
                                    : NegotiationOutcome::kEpochMismatch;
}

}  // namespace

Negotiated negotiate(const HandleEnd& host, const HandleEnd& device, HandleRange range,
                     bool every_hop_aware) {
  Negotiated result;
  result.outcome = outcome_of(host, device, range, every_hop_aware);
  if (result.is_active()) {
    result.range = range;
    result.bits = std::min(host.bits, device.bits);
    result.epoch = host.epoch;
  }
  return result;
}

std::vector<HandleRange> partition_handles(unsigned entries, unsigned bits, unsigned devices) {
  const unsigned share = devices == 0 ? 0 : std::min(entries, 1U << bits) / devices;
  std::vector<HandleRange> ranges;
  for (unsigned device = 0; device < devices && share > 0; ++device) {
    const unsigned lower = device * share;
    ranges.push_back({Dhi{static_cast<std::uint16_t>(lower)},
                      Dhi{static_cast<std::uint16_t>(lower + share - 1)}});
  }
  return ranges;
}

std::vector<HandleRange> partition_handles(unsigned entries, const std::vector<unsigned>& bits) {
  constexpr HandleRange kEmpty{Dhi{1}, Dhi{0}};
  std::vector<HandleRange> ranges(bits.size(), kEmpty);
  unsigned next = 0;
  for (unsigned width = kMinHandleBits; width <= kMaxHandleBits; ++width) {
    const auto devices = static_cast<unsigned>(std::count(bits.begin(), bits.end(), width));
    const unsigned reach = std::min(entries, 1U << width);
    const unsigned share = devices == 0 || reach <= next ? 0 : (reach - next) / devices;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (bits[i] == width && share > 0) {
        ranges[i] = {Dhi{static_cast<std::uint16_t>(next)},
                     Dhi{static_cast<std::uint16_t>(next + share - 1)}};
        next += share;
      }
    }
  }
  return ranges;
}

const char* name_of(NegotiationOutcome outcome) {
  switch (outcome) {
    case NegotiationOutcome::kActive:
      return "active";
    case NegotiationOutcome::kNotSupported:
      return "not_supported";
    case NegotiationOutcome::kNotEnabled:
      return "not_enabled";
    case NegotiationOutcome::kHopNotAware:
      return "hop_not_aware";
    case NegotiationOutcome::kBadRange:
      return "bad_range";
    case NegotiationOutcome::kEpochMismatch:
      return "epoch_mismatch";
  }
  return "?";
}

}  // namespace flitwise
