// SPDX-License-Identifier: Apache-2.0
#include "script/srdma_frames.h"

#include <algorithm>

#include "srdma/frame_fields.h"

namespace flitwise {
namespace {

// Where the frame has the parts of a RoCEv2 frame over IPv4; none: it is too short, or no such.
std::optional<RoceParts> srdma_parts(const ByteVector& frame) {
  UdpFrame udp;
  if (read_udp(frame.data(), frame.size(), udp) != UdpError::kNone || udp.body_bytes < 16) {
    return std::nullopt;
  }
  RoceParts parts;
  parts.ip = udp.ip;
  parts.udp = udp.udp;
  parts.bth = udp.body;
  parts.icrc = udp.body + udp.body_bytes - kIcrcBytes;
  return parts;
}

void change_srdma_fields(const SrdmaFrameFields& fields, const RoceParts& parts,
                         ByteVector& frame) {
  using namespace frame_field;
  const struct {
    const std::optional<std::uint64_t>& value;
    std::size_t header;
    RoceField field;
  } rows[] = {{fields.source, parts.ip, kSourceAddress},
              {fields.destination, parts.ip, kDestinationAddress},
              {fields.ttl, parts.ip, {"ttl", 64, 8}},
              {fields.ecn, parts.ip, {"ecn", 14, 2}},
              {fields.source_port, parts.udp, kSourcePort},
              {fields.destination_port, parts.udp, kDestinationPort},
              {fields.udp_length, parts.udp, roce_field::kUdpLength},
              {fields.opcode, parts.bth, roce_field::kOpcode},
              {fields.version, parts.bth, roce_field::kTransportVersion},
              {fields.pair, parts.bth, kDestinationPair},
              {fields.psn, parts.bth, {"psn", 72, 24}}};
  const ByteVector icrc(frame.begin() + static_cast<std::ptrdiff_t>(parts.icrc),
                        frame.begin() + static_cast<std::ptrdiff_t>(parts.end()));
  for (const auto& row : rows) {
    if (row.value) {
      put(&frame[row.header], row.field, *row.value);
    }
  }
  seal_roce(frame.data(), parts);
  if (!fields.seals) {  // the checksum of IP alone
    std::copy(icrc.begin(), icrc.end(), frame.begin() + static_cast<std::ptrdiff_t>(parts.icrc));
  }
}

}  // namespace

bool change_frame(const SrdmaFrameFields& fields, ByteVector& frame) {
  const auto parts = srdma_parts(frame);
  if (parts) {
    change_srdma_fields(fields, *parts, frame);
  }
  return parts.has_value();
}

ByteVector made_up_frame(const SrdmaFrameFields& fields, const SessionTuple& tuple,
                         std::uint32_t key_id) {
  ByteVector frame;
  const RoceParts parts = make_roce({roce_opcode(0x04), false, false, 64}, frame);
  SrdmaFrameFields all = fields;
  all.source = all.source.value_or(tuple.source);
  all.destination = all.destination.value_or(tuple.destination);
  all.source_port = all.source_port.value_or(tuple.source_port);
  all.destination_port = all.destination_port.value_or(tuple.destination_port);
  change_srdma_fields(all, parts, frame);
  UdpFrame udp;
  if (all.is_secured && read_udp(frame.data(), frame.size(), udp) == UdpError::kNone) {
    FrameSecurity().seal(frame, key_id, 1000, SecretKey{});
  }
  return frame;
}

}  // namespace flitwise
