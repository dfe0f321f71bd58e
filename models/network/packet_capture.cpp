// SPDX-License-Identifier: Apache-2.0
#include "network/packet_capture.h"

#include <fmt/format.h>

#include "network/ipv4_header.h"
#include "network/network_host_rules.h"
#include "rdma/rdma_frame.h"
#include "srdma/cm_channel.h"
#include "srdma/frame_fields.h"

namespace flitwise {
namespace {

constexpr std::size_t kUdpAt = kIpv4At + kIpv4Bytes, kUdpBytes = 8, kUdpEnd = kUdpAt + kUdpBytes;

// Of a frame that is longer than its bytes say.
void put_lengths(ByteVector& bytes, std::size_t whole) {
  std::uint8_t* const length = &bytes[kIpv4At + 2];
  const std::uint16_t before = boost::endian::load_big_u16(length);
  put(&bytes[kIpv4At], roce_field::kTotalLength, whole - kIpv4At);
  put(&bytes[kUdpAt], roce_field::kUdpLength, whole - kUdpAt);
  mend_ipv4(&bytes[kIpv4At], before, boost::endian::load_big_u16(length));
}

// The last two bytes of a MAC address are those of the IP address.
void put_addresses(ByteVector& bytes, const SessionTuple& tuple) {
  constexpr std::size_t kMacTo = 0, kMacFrom = 6, kLocal = 0x02;
  for (const auto& [at, address] :
       {std::pair{kMacTo, tuple.destination}, std::pair{kMacFrom, tuple.source}}) {
    bytes[at] = kLocal;
    bytes[at + 4] = static_cast<std::uint8_t>(address >> 8);
    bytes[at + 5] = static_cast<std::uint8_t>(address);
  }
  put(&bytes[kIpv4At], frame_field::kSourceAddress, tuple.source);
  put(&bytes[kIpv4At], frame_field::kDestinationAddress, tuple.destination);
  put(&bytes[kUdpAt], frame_field::kSourcePort, tuple.source_port);
  put(&bytes[kUdpAt], frame_field::kDestinationPort, tuple.destination_port);
}

}  // namespace

PacketCapture::PacketCapture(const std::string& path, const Rules& rules,
                             const std::vector<NodeId>& ports)
    : rules_(rules), file_(path) {
  for (const NodeId host : ports) {
    ports_[host] =
        file_.add({fmt::format("h{}", host), fmt::format("port of host {}, headers alone", host),
                   LinkType::kEthernet});
  }
}

void PacketCapture::leaves(NodeId host, FabricPackets::Index index, const FabricPacket& packet,
                           const CmMessage* message, Time end, Time now) {
  if (ports_.count(host) == 0) {
    numbers_.erase(index);  // of a packet that was lost
    return;
  }
  const std::uint64_t number = numbers_[index] = file_.next_number();
  add(host, false, number, packet, message, end, now);
}

void PacketCapture::arrives(FabricPackets::Index index, const FabricPacket& packet,
                            const CmMessage* message, Time now) {
  if (ports_.count(packet.destination) == 0) {
    return;
  }
  const auto known = numbers_.find(index);
  add(packet.destination, true, known == numbers_.end() ? file_.next_number() : known->second,
      packet, message, now, now);
}

void PacketCapture::add(NodeId host, bool is_inbound, std::uint64_t number,
                        const FabricPacket& packet, const CmMessage* message, Time time, Time now) {
  const Bytes made = make(packet, message);
  file_.add({ports_[host], is_inbound, number, time, bytes_.data(), made.kept, made.whole}, now);
}

// What is secured is not made: behind UDP nobody on the way can read it.
PacketCapture::Bytes PacketCapture::make(const FabricPacket& packet, const CmMessage* message) {
  Bytes made;
  bool is_secured = rules_.is_secured;
  if (packet.kind == FabricPacket::Kind::kControl) {
    CmChannelRules rules;
    rules.port = packet.tuple.destination_port;
    rules.is_plain = true;
    CmChannel(rules).make(*message, packet.tuple.source, packet.tuple.destination, bytes_);
    made = {bytes_.size(), bytes_.size()};
    is_secured = !rules_.is_cm_plain;
    put_addresses(bytes_, packet.tuple);
  } else {
    const RoceParts parts = make_frame(packet.fields, {}, bytes_);
    put_addresses(bytes_, packet.tuple);
    seal_roce(bytes_.data(), parts);
    made = {parts.payload_bytes > 0 ? parts.payload : parts.end(), parts.end()};
  }
  if (packet.kind == FabricPacket::Kind::kPlainUdp) {
    made = {kUdpEnd, packet.bytes - kEthernetOverheadBytes};
  } else if (is_secured) {
    made = {kUdpEnd, made.whole + kSecuredBytes};
  }
  put_lengths(bytes_, made.whole);
  set_ipv4_byte(&bytes_[kIpv4At], kIpv4TosAt, packet.tos);
  set_ipv4_byte(&bytes_[kIpv4At], kIpv4TtlAt, packet.ttl);
  return made;
}

}  // namespace flitwise
