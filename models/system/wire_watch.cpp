// SPDX-License-Identifier: Apache-2.0
// Units on a wire as events.
#include "system/wire_watch.h"

#include "flitwise/flit.h"
#include "tlp/packet_json.h"

namespace flitwise {

void WireWatch::record(const TraceEvent& event) {
  using Json = nlohmann::ordered_json;
  const Packet& packet = *event.packet;
  const bool is_flit = packet.kind == PacketKind::kFlit;
  const bool is_dllp = packet.kind == PacketKind::kDllp;
  Json line = {{"event", "wire"},
               {"at_ns", output_.since_start(event.first).ns()},
               {"link", link_},
               {"direction", event.is_up ? "up" : "down"},
               {"unit", is_flit   ? "flit"
                        : is_dllp ? "dllp"
                                  : "tlp"}};
  if (is_flit) {
    line["type"] = packet.flit->has_payload ? "Flit" : "NOP_Flit";
    line["seq"] = event.sequence;
    line["replay"] = event.is_replay;
  } else if (!is_dllp) {
    line["seq"] = event.sequence;
    line["replay"] = event.is_replay;
    line["malformed"] = packet.malformed.has_value();
  }
  line["damaged"] = event.is_damaged;
  line["lost"] = event.is_lost;
  const Json fields = is_flit   ? Json::object()
                      : is_dllp ? json_of(packet.dllp)
                                : json_of(TlpDocument{packet.tlp, packet.payload, {}});
  for (const auto& [key, value] : fields.items()) {
    line[key] = value;
  }
  output_.write(line);
}

}  // namespace flitwise
