// SPDX-License-Identifier: Apache-2.0
// Units on a wire as events.
#include "script/wire_watch.h"

#include "codec/packet_json.h"
#include "cxl/channels.h"
#include "flitwise/flit.h"

namespace flitwise {

namespace {

const char* flit_type(const Flit& flit) {
  if (flit.cxl.control != CxlFlitHeader::Control::kNone) {
    return name_of(flit.cxl.control);
  }
  return flit.has_payload ? "Flit" : "NOP_Flit";
}

Json message_fields(const CxlMessage& message) {
  Json fields = {{"type", info_of(message.channel).name}};
  if (const char* opcode = cxl_opcode_name(message.channel, message.opcode)) {
    fields["opcode"] = opcode;
  }
  fields["id"] = message.id;
  fields["address"] = message.address;
  if (message.channel == CxlChannel::kH2dRsp) {
    fields["rsp_data"] = message.rsp_data;
  } else if (message.channel == CxlChannel::kD2hReq) {
    fields["identity"] = message.identity;
  } else if (message.channel == CxlChannel::kD2hData) {
    fields["bogus"] = message.bogus;
  } else if (message.channel == CxlChannel::kM2sReq || message.channel == CxlChannel::kM2sRwd) {
    fields["snp_type"] = message.snp_type;
    fields["meta_field"] = message.meta_field;
    fields["meta_value"] = message.meta_value;
  }
  return fields;
}

// The payload of a malformed packet holds its header.
TlpDocument document_of(const Packet& packet) {
  return {packet.tlp, packet.malformed ? std::vector<std::uint8_t>() : packet.payload, {}};
}

}  // namespace

void WireWatch::record(const TraceEvent& event) {
  const Packet& packet = *event.packet;
  const bool is_flit = packet.kind == PacketKind::kFlit;
  const bool is_dllp = packet.kind == PacketKind::kDllp;
  const bool is_cxl = packet.kind == PacketKind::kCxl;
  Json line = {{"event", "wire"},
               {"at_ns", output_.since_start(event.first).ns()},
               {"link", link_},
               {"direction", event.is_up ? "up" : "down"},
               {"unit", is_flit   ? "flit"
                        : is_dllp ? "dllp"
                        : is_cxl  ? "cxl"
                                  : "tlp"}};
  if (is_flit) {
    line["type"] = flit_type(*packet.flit);
  }
  if (!is_cxl && !is_dllp) {
    line["seq"] = event.sequence;
  }
  if (!is_dllp) {
    line["replay"] = event.is_replay;
  }
  if (!is_flit && !is_cxl && !is_dllp) {
    line["malformed"] = packet.malformed.has_value();
  }
  line["damaged"] = event.is_damaged;
  line["lost"] = event.is_lost;
  line.update(is_flit   ? Json::object()
              : is_cxl  ? message_fields(*packet.cxl)
              : is_dllp ? json_of(packet.dllp)
                        : json_of(document_of(packet)));
  output_.write(line);
}

}  // namespace flitwise
