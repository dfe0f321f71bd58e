// SPDX-License-Identifier: Apache-2.0
#include "srdma/configured_rules.h"

#include <algorithm>

namespace flitwise {

void take_from(const SrdmaConfig& srdma, SessionRules& rules) {
  rules.min_sessions = srdma.min_sessions;
  rules.max_sessions = srdma.max_sessions;
  rules.drain_timeout = srdma.timing.drain;
  rules.down_timeout = srdma.timing.down;
  rules.fails_at_once = srdma.on_down == DownAction::kError;
  CredentialRules& keys = rules.credentials;
  keys.is_secured = srdma.is_secured;
  keys.lifetime = srdma.keys.lifetime;
  keys.refresh_margin = srdma.keys.refresh_margin;
  keys.grace = srdma.keys.grace;
  keys.engine = srdma.keys.engine;
  keys.software_delay = srdma.keys.software_delay;
  keys.replaces_on_expiry = srdma.keys.replaces;
}

void take_from(const SrdmaConfig& srdma, PortRules& rules) {
  rules.source = rules.destination = {static_cast<std::uint16_t>(srdma.first_port),
                                      static_cast<std::uint16_t>(srdma.last_port)};
}

void take_from(const SrdmaConfig& srdma, CmRules& rules) {
  rules.timeout = srdma.timing.handshake;
  rules.retries = srdma.cm_retries;
  rules.gap_timer = srdma.timing.gap;
  rules.capabilities.has_sack = srdma.sack;
  rules.capabilities.reorder_depth =
      static_cast<std::uint16_t>(std::min(srdma.ooo_window, 0xffffU));
}

const char* pace_key(const SrdmaConfig& srdma) {
  const bool has_other = srdma.is_on && srdma.congestion.kind != RateControl::kWindowGroup;
  return has_other ? "device.srdma.congestion.kind" : "";
}

}  // namespace flitwise
