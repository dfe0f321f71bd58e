// SPDX-License-Identifier: Apache-2.0
// Whether handles are used, and which. [DHI D5, D6]
#include "dhi/negotiation.h"

#include <algorithm>

#include "common/ranges.h"

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

std::vector<HandleRange> partition_handles(unsigned entries, const std::vector<unsigned>& bits) {
  std::vector<HandleRange> ranges(bits.size(), HandleRange::none());
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
  static constexpr const char* kNames[] = {"active",        "not_supported", "not_enabled",
                                           "hop_not_aware", "bad_range",     "epoch_mismatch"};
  return name_in(kNames, outcome);
}

}  // namespace flitwise
