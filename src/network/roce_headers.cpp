// SPDX-License-Identifier: Apache-2.0
// The table of headers and fields. [ROCE-1] [ROCE-2]
#include "network/roce_headers.h"

namespace flitwise {
namespace {

using Format = RoceField::Format;

constexpr std::uint64_t kPeer = 0x020000000002, kOwn = 0x020000000001;  // MAC addresses
constexpr std::uint64_t kPeerIp = 0x0a000002, kOwnIp = 0x0a000001;
constexpr unsigned kIpv6Bits = 128;

constexpr RoceField flag(const char* key, std::uint16_t bit, bool usual = false,
                         bool varies = false) {
  return {key, bit, 1, Format::kFlag, usual ? 1U : 0U, varies};
}
constexpr RoceField hex(const char* key, std::uint16_t bit, std::uint8_t width,
                        std::uint64_t usual = 0) {
  return {key, bit, width, Format::kHex, usual};
}
constexpr RoceField reserved(std::uint16_t bit, std::uint8_t width, bool varies = false) {
  return {"reserved", bit, width, Format::kHex, 0, varies, true};
}

std::vector<RoceHeader> table() {
  using namespace roce_field;
  return {
      {"eth",
       14,
       {{"dst", 0, 48, Format::kMac, kPeer}, {"src", 48, 48, Format::kMac, kOwn}, kEtherType}},
      {"vlan", 4, {{"pcp", 0, 3}, flag("dei", 3), {"vid", 4, 12}, kVlanType}},
      {"ip",
       20,
       {kVersion,
        kIhl,
        {"dscp", 8, 6, Format::kNumber, 0, true},
        {"ecn", 14, 2, Format::kNumber, 0, true},
        kTotalLength,
        hex("id", 32, 16),
        reserved(48, 1),
        flag("df", 49, true),
        kFragment,
        {"ttl", 64, 8, Format::kNumber, 64, true},
        kProtocol,
        kIpv4Checksum,
        {"src", 96, 32, Format::kIpv4, kOwnIp},
        {"dst", 128, 32, Format::kIpv4, kPeerIp}}},
      {"ip",
       40,
       {kVersion,
        {"dscp", 4, 6, Format::kNumber, 0, true},
        {"ecn", 10, 2, Format::kNumber, 0, true},
        {"flow_label", 12, 20, Format::kHex, 0, true},
        kPayloadLength,
        kNextHeader,
        {"hop_limit", 56, 8, Format::kNumber, 64, true},
        {"src", 64, kIpv6Bits, Format::kIpv6, 1},
        {"dst", 192, kIpv6Bits, Format::kIpv6, 2}}},
      {"udp",
       8,
       {{"src_port", 0, 16, Format::kNumber, 0xc000},
        {"dst_port", 16, 16, Format::kNumber, 4791},
        kUdpLength,
        kUdpChecksum}},
      {"bth",
       12,
       {kOpcode,
        flag("se", 8),
        flag("mig_req", 9),
        kPad,
        kTransportVersion,
        hex("p_key", 16, 16, 0xffff),
        flag("fecn", 32, false, true),
        flag("becn", 33, false, true),
        reserved(34, 6, true),
        hex("dest_qp", 40, 24),
        flag("ack_req", 64),
        {"reserved7", 65, 7, Format::kHex, 0, false, true},
        {"psn", 72, 24}}},
      {"deth", 8, {hex("q_key", 0, 32), reserved(32, 8), hex("src_qp", 40, 24)}},
      {"reth", 16, {hex("va", 0, 64), hex("r_key", 64, 32), {"dma_length", 96, 32}}},
      {"feth", 4, {reserved(0, 26), {"sel", 26, 2}, {"plt", 28, 4}}},
      {"aeth", 4, {hex("syndrome", 0, 8, 0x1f), {"msn", 8, 24}}},
      {"atomiceth",
       28,
       {hex("va", 0, 64), hex("r_key", 64, 32), hex("swap_add", 96, 64), hex("compare", 160, 64)}},
      {"atomicacketh", 8, {hex("original", 0, 64)}},
      {"immdt", 4, {hex("data", 0, 32)}},
      {"ieth", 4, {hex("r_key", 0, 32)}},
      {"cnp", 16, {{"reserved", 0, 128, Format::kBytes, 0, false, true}}},
      {"echo",
       12,
       {{"session", 0, 16},
        reserved(16, 7),
        flag("ce", 23),
        {"reserved8", 24, 8, Format::kHex, 0, false, true},
        {"psn", 32, 24},
        {"reserved56", 56, 8, Format::kHex, 0, false, true},
        {"hold_ns", 64, 32}}},
      {"sack", 8, {hex("bitmap", 0, 64)}},
  };
}

}  // namespace

const RoceHeader& header_of(RoceHeaderId id) {
  static const std::vector<RoceHeader> kHeaders = table();
  return kHeaders[static_cast<std::size_t>(id)];
}

}  // namespace flitwise
