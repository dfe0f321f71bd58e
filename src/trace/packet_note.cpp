// SPDX-License-Identifier: Apache-2.0
// Packets as short texts.
#include "trace/packet_note.h"

#include <fmt/format.h>

#include "cxl/channels.h"
#include "flitwise/flit.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

std::string dllp_text(const Dllp& dllp) {
  static constexpr const char* kClasses[] = {"P", "NP", "Cpl"};
  if (is_ack_or_nak(dllp.type)) {
    return fmt::format("{} {}", name_of(dllp.type), dllp.sequence);
  }
  if (is_flow_control(dllp.type)) {
    return fmt::format(
        "{} {}{} header {} data {}", dllp.type == DllpType::kUpdateFc ? "UpdateFC" : "InitFC",
        dllp.is_shared ? "shared " : "", kClasses[static_cast<std::size_t>(dllp.fc_class)],
        dllp.hdr_fc, dllp.data_fc);
  }
  return dllp.type == DllpType::kOptimizedUpdateFc ? name_of(dllp.type) : "DLLP";
}

bool has_address(CxlChannel channel) {
  return channel == CxlChannel::kD2hReq || channel == CxlChannel::kH2dReq ||
         channel == CxlChannel::kM2sReq || channel == CxlChannel::kM2sRwd ||
         channel == CxlChannel::kS2mBiSnp;
}

}  // namespace

std::string text_of(Bdf bdf) {
  return fmt::format("{:02x}:{:02x}.{}", bdf.bus(), bdf.device(), bdf.function());
}

std::string text_of(const PacketNote& note) {
  return fmt::format("#{} {} tag {} from {} at {:#x}, {} DW", note.uid, name_of(note.type),
                     note.tag, text_of(note.requester_id), note.address, note.length_dw);
}

std::string text_of(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  if (packet.kind == PacketKind::kCxl) {
    return text_of(note_of_message(packet));
  }
  if (packet.kind == PacketKind::kDllp) {
    return fmt::format("#{} {}", packet.uid, dllp_text(packet.dllp));
  }
  if (is_completion(tlp.type)) {
    return fmt::format("#{} {} tag {} to {}, status {}, byte count {}, lower address {:#x}, {} DW",
                       packet.uid, name_of(tlp.type), tlp.tag, text_of(tlp.requester_id),
                       static_cast<int>(tlp.status), tlp.byte_count, tlp.lower_address,
                       tlp.length_dw);
  }
  if (is_message(tlp.type)) {
    return fmt::format("#{} {} code {:#04x} from {}", packet.uid, name_of(tlp.type),
                       tlp.message_code, text_of(tlp.requester_id));
  }
  return fmt::format("{}, enables {:x}/{:x}, AT {}{}", text_of(note_of(packet)), tlp.first_be,
                     tlp.last_be, static_cast<int>(tlp.at),
                     tlp.id_is_handle ? ", with a handle" : "");
}

std::string text_of(const MessageNote& note) {
  const char* const opcode = cxl_opcode_name(note.channel, note.opcode);
  return fmt::format("#{} {}{}{} id {}{}", note.uid, info_of(note.channel).name,
                     opcode == nullptr ? "" : " ", opcode == nullptr ? "" : opcode, note.id,
                     has_address(note.channel) ? fmt::format(" at {:#x}", note.address) : "");
}

const char* kind_of(const Packet& packet) {
  switch (packet.kind) {
    case PacketKind::kTlp: return name_of(packet.tlp.type);
    case PacketKind::kDllp: return name_of(packet.dllp.type);
    case PacketKind::kMessage: return "message";
    case PacketKind::kFlit: {
      const CxlFlitHeader::Control control = packet.flit->cxl.control;
      return control == CxlFlitHeader::Control::kNone ? "flit" : name_of(control);
    }
    case PacketKind::kCxl: return info_of(packet.cxl->channel).name;
  }
  return "?";
}

}  // namespace flitwise
