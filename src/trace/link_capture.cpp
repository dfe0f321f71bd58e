// SPDX-License-Identifier: Apache-2.0
#include "trace/link_capture.h"

#include "flitwise/cxl.h"
#include "tlp/dllp_codec.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

// Head of a unit; numbers have their highest byte first.
constexpr std::uint8_t kVersion = 1;
enum class UnitKind : std::uint8_t {
  kTlpUnit,
  kFlitModeTlpUnit,
  kMalformedTlpUnit,
  kDllpUnit,
  kFlitUnit,
  kCxlUnit,
  kMessageUnit
};
enum Flag : unsigned { kUp, kReplay, kDamaged, kLost, kInFlit, kLengthOnly };  // bits

// Of Wireshark's "exported PDU": tag, length, value.
constexpr std::uint16_t kTagDissector = 12, kTagEnd = 0;

void put(ByteVector& out, std::uint64_t value, unsigned bytes) {
  for (unsigned byte = bytes; byte > 0; --byte) {
    out.push_back(static_cast<std::uint8_t>(value >> 8 * (byte - 1)));
  }
}

void put_dissector(ByteVector& out) {
  const std::string name = kDissector;
  put(out, kTagDissector, 2);
  put(out, name.size(), 2);
  out.insert(out.end(), name.begin(), name.end());
  out.resize(out.size() + (4 - name.size() % 4) % 4);
  put(out, kTagEnd, 2);
  put(out, 0, 2);
}

// Who asks, where the TLP does not say it; 0: it does, or nobody knows.
std::uint64_t bdf_behind_handle(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  const bool is_known = packet.kind == PacketKind::kTlp && tlp.id_is_handle &&
                        packet.has_identity && packet.identity.bdf != tlp.requester_id;
  return is_known ? packet.identity.bdf.value : 0;
}

UnitKind kind_of_unit(const TraceEvent& event) {
  const Packet& packet = *event.packet;
  switch (packet.kind) {
    case PacketKind::kTlp:
      if (packet.malformed) {
        return UnitKind::kMalformedTlpUnit;
      }
      return event.is_in_flit && !find_flit_mode_gap(packet.tlp) ? UnitKind::kFlitModeTlpUnit
                                                                 : UnitKind::kTlpUnit;
    case PacketKind::kDllp: return UnitKind::kDllpUnit;
    case PacketKind::kFlit: return UnitKind::kFlitUnit;
    case PacketKind::kCxl: return UnitKind::kCxlUnit;
    case PacketKind::kMessage: break;
  }
  return UnitKind::kMessageUnit;
}

void put_cxl(ByteVector& out, const Packet& packet) {
  const CxlMessage& message = *packet.cxl;
  put(out, static_cast<std::uint64_t>(message.channel), 1);
  put(out, message.opcode, 1);
  put(out, message.id, 2);
  put(out, message.address, 8);
  put(out, message.byte_enables, 8);
  put(out, message.identity, 8);
  put(out, packet.payload_bytes, 4);
}

void put_bytes(ByteVector& out, UnitKind kind, const Packet& packet) {
  const std::uint8_t* const payload = packet.payload.data();
  const std::size_t count = packet.length_only ? 0 : packet.payload.size();
  switch (kind) {
    case UnitKind::kTlpUnit: encode(packet.tlp, payload, count, out); break;
    case UnitKind::kFlitModeTlpUnit:
      encode_flit_mode(packet.tlp, false, payload, count, out);
      break;
    case UnitKind::kMalformedTlpUnit:
      out.insert(out.end(), packet.payload.begin(), packet.payload.end());
      break;
    case UnitKind::kDllpUnit:
      if (packet.dllp.type == DllpType::kOptimizedUpdateFc) {
        put(out, packet.dllp.raw, 4);
      } else {
        const auto bytes = encode(packet.dllp);
        out.insert(out.end(), bytes.begin(), bytes.end());
      }
      break;
    case UnitKind::kCxlUnit: put_cxl(out, packet); break;
    case UnitKind::kFlitUnit:
    case UnitKind::kMessageUnit: put(out, packet.payload_bytes, 4); break;
  }
}

}  // namespace

void put_unit(ByteVector& out, const TraceEvent& event) {
  const Packet& packet = *event.packet;
  const UnitKind kind = kind_of_unit(event);
  put_dissector(out);
  put(out, kVersion, 1);
  put(out, static_cast<std::uint64_t>(kind), 1);
  put(out,
      bit_at(event.is_up, kUp) | bit_at(event.is_replay, kReplay) |
          bit_at(event.is_damaged, kDamaged) | bit_at(event.is_lost, kLost) |
          bit_at(event.is_in_flit, kInFlit) | bit_at(packet.length_only, kLengthOnly),
      1);
  put(out, static_cast<std::uint64_t>(packet.purpose), 1);
  put(out, event.sequence, 2);
  put(out, bdf_behind_handle(packet), 2);
  put(out, packet.uid, 8);
  put(out, static_cast<std::uint64_t>(event.first.fs / 1000), 8);
  put(out, static_cast<std::uint64_t>(event.last.fs / 1000), 8);
  put_bytes(out, kind, packet);
}

void LinkCapture::add(const TracedLink& link) {
  interfaces_.emplace(link.name,
                      file_.add({link.name, std::string("link ") + link.name + ", both directions",
                                 LinkType::kUpperPdu}));
}

void LinkCapture::record(const TraceEvent& event) {
  if (!event.is_shown) {
    return;
  }
  bytes_.clear();
  put_unit(bytes_, event);
  file_.add({interfaces_.at(event.link), event.is_up, event.packet->uid, event.last, bytes_.data(),
             bytes_.size()},
            event.told);
}

}  // namespace flitwise
