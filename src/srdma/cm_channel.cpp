// SPDX-License-Identifier: Apache-2.0
#include "srdma/cm_channel.h"

#include <algorithm>

#include "network/roce_frame.h"
#include "srdma/frame_fields.h"

namespace flitwise {
namespace {

using namespace frame_field;

constexpr std::uint8_t kUdSendOnly = 0x64;
constexpr std::uint64_t kControlPair = 1, kControlKey = 0x8001'0000;  // QP1 and its Q_Key
constexpr RoceField kQKey{"q_key", 0, 32}, kSourceQp{"src_qp", 40, 24};

}  // namespace

std::uint64_t CmChannel::hash_address(const std::uint32_t& address) {
  return address * kGoldenSpread;
}

// Each end has a key of its own to each peer, and another one after each start.
SecretKey CmChannel::key_of(std::uint32_t source, std::uint32_t destination,
                            std::uint32_t start) const {
  return derive_key(rules_.provisioned, "flitwise cm", context_of({source, destination, start}));
}

void CmChannel::make(const CmMessage& message, std::uint32_t source, std::uint32_t destination,
                     ByteVector& frame) {
  const ByteVector body = bytes_of(message);
  const RoceShape shape{roce_opcode(kUdSendOnly), false, false, body.size()};
  const RoceParts parts = make_roce(shape, frame);
  put(&frame[parts.ip], kSourceAddress, source);
  put(&frame[parts.ip], kDestinationAddress, destination);
  put(&frame[parts.udp], kSourcePort, rules_.port);
  put(&frame[parts.udp], kDestinationPort, rules_.port);
  put(&frame[parts.bth], kDestinationPair, kControlPair);
  std::uint8_t* const deth = &frame[parts.headers[parts.count - 1].at];
  put(deth, kQKey, kControlKey);
  put(deth, kSourceQp, kControlPair);
  std::copy(body.begin(), body.end(), frame.begin() + static_cast<std::ptrdiff_t>(parts.payload));
  seal_roce(frame.data(), parts);
  if (!rules_.is_plain) {
    Peer& peer = peers_[destination];
    security_.seal(frame, rules_.start, ++peer.sent, key_of(source, destination, rules_.start));
  }
}

// The key of a start that is over opens nothing.
bool CmChannel::open(ByteVector& frame, const UdpFrame& udp) {
  const auto header = FrameSecurity::header_of(frame.data(), udp);
  if (!header) {
    ++counts_.auth;
    return false;
  }
  const Peer* const known = peers_.find(udp.tuple.source);
  const std::uint32_t start = known == nullptr ? 0 : known->start;
  const ReplayWindow window =
      known == nullptr || header->key > start ? ReplayWindow() : known->window;
  const std::uint64_t number = window.whole(header->number);
  if (header->key < start || !window.is_new(number)) {
    ++counts_.replayed;
    return false;
  }
  if (!security_.open(frame, udp, number,
                      key_of(udp.tuple.source, udp.tuple.destination, header->key))) {
    ++counts_.auth;
    return false;
  }
  Peer& peer = peers_[udp.tuple.source];  // it is genuine
  peer.start = header->key;
  peer.window = window;
  peer.window.take(number);
  return true;
}

std::optional<CmReceived> CmChannel::read(ByteVector& frame, const UdpFrame& udp) {
  if (!rules_.is_plain && !open(frame, udp)) {
    return std::nullopt;
  }
  const RoceRead roce = read_roce(frame.data(), frame.size());
  const bool is_message = !roce.flaw && roce.is_icrc_good &&
                          roce.parts.opcode->code == kUdSendOnly &&
                          get(&frame[roce.parts.bth], kDestinationPair) == kControlPair;
  CmRead read = is_message ? read_cm(&frame[roce.parts.payload], roce.parts.payload_bytes)
                           : CmRead{{}, "no message"};
  if (!read.flaw.empty()) {
    ++counts_.malformed;
    return std::nullopt;
  }
  ++counts_.received;
  return CmReceived{std::move(read.message), udp.tuple.source};
}

}  // namespace flitwise
