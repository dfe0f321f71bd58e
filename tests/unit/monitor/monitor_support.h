// SPDX-License-Identifier: Apache-2.0
/// What the tests of the monitors share: packets, DLLPs, and the rules that were reported.
#pragma once

#include <string>
#include <vector>

#include "monitor/violation_log.h"
#include "unit/link/link_support.h"

namespace flitwise::test {

struct Reported {
  ViolationLog log{"rp0-ep0"};
  Reporter reporter{log, true};
  std::vector<std::string> rules() const {
    std::vector<std::string> ids;
    for (const Violation& one : log.first()) {
      ids.push_back(one.rule);
    }
    return ids;
  }
};

inline PacketRef dllp(PacketPool& pool, DllpType type, std::uint16_t sequence = 0) {
  PacketRef packet = pool.make(PacketKind::kDllp);
  packet->dllp.type = type;
  packet->dllp.sequence = sequence;
  return packet;
}

inline PacketRef credits(PacketPool& pool, DllpType type, FcClass fc, unsigned header,
                         unsigned data, unsigned scale = 1) {
  PacketRef packet = dllp(pool, type);
  packet->dllp.fc_class = fc;
  packet->dllp.hdr_fc = static_cast<std::uint8_t>(header);
  packet->dllp.data_fc = static_cast<std::uint16_t>(data);
  packet->dllp.hdr_scale = packet->dllp.data_scale = static_cast<std::uint8_t>(scale);
  return packet;
}

}  // namespace flitwise::test
