// SPDX-License-Identifier: Apache-2.0
// Bytes as the frame of an RDMA adapter, with whatever both ends may have agreed on: they are no
// packet, or the packet that they are comes back from a frame that is made of it.
#include "rdma/rdma_frame.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

// What a frame says of its packet.
auto fields_of(const RdmaPacket& p) {
  return std::tuple(p.opcode, p.version, p.pad, p.asks_for_ack, p.is_solicited, p.partition,
                    p.queue_pair, p.psn, p.address, p.key, p.length, p.operand, p.compare,
                    p.original, p.immediate, p.syndrome, p.messages, p.payload_bytes, p.names_place,
                    p.has_echo, p.echo.session, p.echo.is_marked, p.echo.psn, p.echo.hold_ns,
                    p.has_sack, p.sack);
}

void check_packet(const ByteVector& bytes, const RoceExtensions& extensions) {
  RoceParts parts;
  const std::optional<RdmaPacket> packet = packet_of(bytes, parts, extensions);
  const RoceRead read = read_roce(bytes.data(), bytes.size(), extensions);
  FLITWISE_PROPERTY(packet.has_value() == (!read.flaw || read.flaw->breaks_rule_only()));
  if (!packet) {
    return;
  }
  FLITWISE_PROPERTY(parts.payload + packet->payload_bytes <= bytes.size());
  FLITWISE_PROPERTY(info_of(packet->opcode).name != nullptr);
  if (read.flaw) {
    return;
  }
  ByteVector made;
  const RoceParts places = make_frame(*packet, {1, 0}, made);
  FLITWISE_PROPERTY(places.payload_bytes == packet->payload_bytes);
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(parts.payload), packet->payload_bytes,
              made.begin() + static_cast<std::ptrdiff_t>(places.payload));
  seal_roce(made.data(), places);
  RoceParts again;
  const std::optional<RdmaPacket> back = packet_of(made, again, extensions);
  FLITWISE_PROPERTY(back && back->is_intact);
  FLITWISE_PROPERTY(fields_of(*back) == fields_of(*packet));
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const ByteVector bytes = fuzz::bytes_of_input(data, size);
  for (const unsigned agreed : {0U, 1U, 2U, 3U, 4U}) {
    check_packet(bytes, {(agreed & 1) != 0, (agreed & 2) != 0, (agreed & 4) != 0});
  }
  return 0;
}
