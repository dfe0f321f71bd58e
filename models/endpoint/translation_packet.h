// SPDX-License-Identifier: Apache-2.0
/// A Translation Request as a device sends it, whoever of it asks.
#pragma once

#include "endpoint/ats_unit.h"
#include "endpoint/request_seams.h"
#include "tlp/identity.h"

namespace flitwise {

/// Who asks: one domain of the device.
struct TranslationAsker {
  DomainId domain{};
  const DeviceIdentity& identity;
  const Handles::Answer& handle;
  bool counts = true;
};

/// Who asks is written as the link's form of identity has it. [ATR-01] [ATR-02]
inline PacketRef translation_packet(const DeviceParts& parts, const EndpointConfig& config,
                                    const AtsUnit& unit, TranslationAsk ask,
                                    const TranslationAsker& asker) {
  ask.pasid.reset();
  const unsigned function = parts.functions.index_of(asker.identity.bdf);
  PacketRef packet = parts.pool.make(PacketKind::kTlp);
  packet->tlp = translation_request_tlp(ask, unit.settings(function), asker.identity.bdf);
  const bool has_handle = asker.handle.outcome == Handles::Outcome::kHandle;
  apply_identity(packet->tlp, config.form(),
                 unit.has_pasid() ? asker.identity : DeviceIdentity(asker.identity.bdf),
                 has_handle ? OptionalId<Dhi>(asker.handle.dhi) : OptionalId<Dhi>());
  packet->domain = asker.domain;
  packet->identity = asker.identity;
  packet->context = parts.functions.context_of(asker.domain);
  packet->has_identity = true;
  packet->counts = asker.counts;
  parts.sizer.size(*packet);
  return packet;
}

}  // namespace flitwise
