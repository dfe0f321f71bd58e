// SPDX-License-Identifier: Apache-2.0
/// What the tests of the link's rules share: packets of a kind with their size filled in, presets.
#pragma once

#include <cstdint>
#include <string>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "tlp/wire_size.h"

namespace flitwise::test {

inline LinkPreset preset(unsigned generation, unsigned lanes) {
  return {"gen" + std::to_string(generation) + "x" + std::to_string(lanes), generation, lanes};
}

inline LinkConfig link_config(unsigned generation = 5, unsigned lanes = 16) {
  LinkConfig link;
  link.preset = preset(generation, lanes);
  return link;
}

/// `dw` DWs of payload where the type carries data; `mark` ends up in the address, to be
/// recognised.
inline PacketRef packet(PacketPool& pool, TlpType type, unsigned dw = 16, std::uint64_t mark = 0) {
  PacketRef made = pool.make(PacketKind::kTlp);
  made->tlp.type = type;
  made->tlp.length_dw = static_cast<std::uint16_t>(dw);
  made->tlp.is_4dw = true;
  made->tlp.address = mark;
  made->tlp.requester_id = Bdf::of(1, 0, 0);
  made->payload_bytes = has_data(type) ? dw * 4 : 0;
  made->size = wire_size_of(made->tlp, made->payload_bytes);
  return made;
}

}  // namespace flitwise::test
