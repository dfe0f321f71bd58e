// SPDX-License-Identifier: Apache-2.0
// Rules broken on purpose.
#include "faults/broken_rules.h"

namespace flitwise {
namespace {

constexpr std::uint16_t kTooMuchData = 16;  // believed beside what was told

// True once, if the rule is to be broken.
bool take(std::uint32_t& rules, BrokenRule rule) {
  const std::uint32_t bit = 1U << static_cast<unsigned>(rule);
  const bool is_due = (rules & bit) != 0;
  rules &= ~bit;
  return is_due;
}

}  // namespace

std::function<std::uint16_t(std::uint16_t, std::uint16_t)> broken_acks(const FaultsConfig& faults) {
  if (!faults.breaks(BrokenRule::kSequence)) {
    return {};
  }
  return [rules = faults.broken_rules](std::uint16_t accepted, std::uint16_t next) mutable {
    return take(rules, BrokenRule::kSequence) ? next : accepted;
  };
}

std::function<Dllp(Dllp)> broken_updates(const FaultsConfig& faults) {
  if (!faults.breaks(BrokenRule::kCredits)) {
    return {};
  }
  return [](Dllp told) {
    if (told.type == DllpType::kUpdateFc && !told.is_shared) {
      told.hdr_fc = static_cast<std::uint8_t>(told.hdr_fc + 1);
      told.data_fc = static_cast<std::uint16_t>(told.data_fc + kTooMuchData);
    }
    return told;
  };
}

std::function<CxlFlitHeader::Credits(CxlFlitHeader::Credits)> broken_cxl_credits(
    const FaultsConfig& faults) {
  if (!faults.breaks(BrokenRule::kCredits)) {
    return {};
  }
  return [](CxlFlitHeader::Credits told) {
    told.count = static_cast<std::uint8_t>(told.count * 2);
    return told;
  };
}

}  // namespace flitwise
