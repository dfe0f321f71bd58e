// SPDX-License-Identifier: Apache-2.0
#include "srdma/key_epochs.h"

#include <fmt/format.h>

namespace flitwise {

std::string flaw_of(const CredentialRules& rules) {
  if (!rules.is_secured) {
    return "";
  }
  if (rules.lifetime < rules.refresh_margin) {
    return fmt::format(
        "lifetime {} ns seen; expected at least refresh_margin, {} ns, so that a key can be "
        "changed before it ends",
        rules.lifetime.ns(), rules.refresh_margin.ns());
  }
  if (rules.max_packets < 8) {
    return fmt::format("max_packets {} seen; expected 8 or more", rules.max_packets);
  }
  return "";
}

void KeyEpochs::offer(const KeyEpoch& next) {
  offered_ = next;
  has_offered_ = true;
}

void KeyEpochs::use_offered() {
  if (has_offered_) {
    before_ = current_;
    current_ = offered_;
    has_before_ = true;
    has_offered_ = false;
  }
}

KeyEpoch* KeyEpochs::receiving(EpochNumber number, Time now) {
  KeyEpoch* const epoch = number == current_.number                   ? &current_
                          : has_offered_ && number == offered_.number ? &offered_
                          : has_before_ && number == before_.number   ? &before_
                                                                      : nullptr;
  return epoch != nullptr && now < taken_until(*epoch) ? epoch : nullptr;
}

}  // namespace flitwise
