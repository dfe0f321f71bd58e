// SPDX-License-Identifier: Apache-2.0
#include "srdma/receive_checks.h"

#include "srdma/frame_fields.h"

namespace flitwise {
namespace {

constexpr std::size_t kBthBytes = 12;
constexpr std::uint8_t kMostRcOpcode = 0x17;

KeyEpoch* new_packet(KeyEpoch* epoch, std::uint64_t number, ReceiveCounter& outcome) {
  outcome = epoch == nullptr                ? ReceiveCounter::kBadKey
            : !epoch->window.is_new(number) ? ReceiveCounter::kReplay
                                            : ReceiveCounter::kData;
  return outcome == ReceiveCounter::kData ? epoch : nullptr;
}

}  // namespace

void ReceiveChecks::count_as(ReceivedFrame& received, ReceiveCounter outcome) {
  received.outcome = outcome;
  ++counts_[static_cast<unsigned>(outcome)];
}

ReceivedFrame ReceiveChecks::check(ByteVector& frame, Time now) {
  ReceivedFrame received;
  count_as(received, check_frame(frame, received, now));
  return received;
}

ReceiveCounter ReceiveChecks::check_frame(ByteVector& frame, ReceivedFrame& received, Time now) {
  switch (read_udp(frame.data(), frame.size(), received.udp)) {
    case UdpError::kIp: return ReceiveCounter::kBadIp;
    case UdpError::kUdpLength: return ReceiveCounter::kBadUdpLength;
    case UdpError::kNone: break;
  }
  if (received.udp.tuple.destination_port == cm_port_) {
    return ReceiveCounter::kControl;
  }
  ReceiveCounter outcome = find_session(received, now);
  if (outcome == ReceiveCounter::kData) {
    outcome = open(frame, received, now);
  }
  if (outcome == ReceiveCounter::kData) {
    outcome = check_transport(frame, received);
  }
  return outcome == ReceiveCounter::kData ? check_pair(received) : outcome;
}

ReceivedFrame ReceiveChecks::check(const SessionTuple& tuple, std::uint32_t queue_pair,
                                   std::optional<EpochNumber> epoch, Time now) {
  ReceivedFrame received;
  received.udp.tuple = tuple;
  received.queue_pair = queue_pair;
  ReceiveCounter outcome = find_session(received, now);
  if (outcome == ReceiveCounter::kData &&
      groups_.at(received.place.group).session(received.place.session).keys) {
    received.epoch = epoch ? groups_.receiving(received.place, *epoch, now) : nullptr;
    outcome = received.epoch != nullptr ? outcome
              : epoch                   ? ReceiveCounter::kBadKey
                                        : ReceiveCounter::kAuth;
  }
  count_as(received, outcome == ReceiveCounter::kData ? check_pair(received) : outcome);
  return received;
}

ReceiveCounter ReceiveChecks::find_session(ReceivedFrame& received, Time now) const {
  const SessionTuple& tuple = received.udp.tuple;
  const SessionPlace* const place = groups_.find(tuple);
  if (place == nullptr) {
    return groups_.ports().is_bound(tuple.destination_port) ? ReceiveCounter::kPlainUdp
                                                            : ReceiveCounter::kUnknownTuple;
  }
  received.place = *place;
  const GroupSession& session = groups_.at(place->group).session(place->session);
  const bool has_ended =
      session.state == SessionState::kExpired && now >= session.keys->taken_until();
  return has_ended ? ReceiveCounter::kSessionState : ReceiveCounter::kData;
}

// The window moves on with genuine packets alone.
ReceiveCounter ReceiveChecks::open(ByteVector& frame, ReceivedFrame& received, Time now) {
  if (!groups_.at(received.place.group).session(received.place.session).keys) {
    return ReceiveCounter::kData;
  }
  const auto header = FrameSecurity::header_of(frame.data(), received.udp);
  if (!header) {
    return ReceiveCounter::kAuth;
  }
  KeyEpoch* const known =
      groups_.receiving(received.place, static_cast<EpochNumber>(header->key), now);
  const std::uint64_t number = known == nullptr ? 0 : known->window.whole(header->number);
  ReceiveCounter outcome = ReceiveCounter::kData;
  KeyEpoch* const epoch = new_packet(known, number, outcome);
  if (epoch == nullptr) {
    return outcome;
  }
  if (!security_.open(frame, received.udp, number, epoch->receives)) {
    return ReceiveCounter::kAuth;
  }
  epoch->window.take(number);
  received.epoch = epoch;
  return ReceiveCounter::kData;
}

// What has no form that an ICRC could be found in is cut off.
ReceiveCounter ReceiveChecks::check_transport(const ByteVector& frame, ReceivedFrame& received) {
  const RoceRead read = read_roce(frame.data(), frame.size());
  const std::uint8_t* const bth = frame.data() + received.udp.body;
  bool is_icrc_good = read.is_icrc_good;
  const bool has_form = !read.flaw || read.flaw->breaks_rule_only();
  if (!has_form) {
    const std::size_t bytes =
        received.udp.body_bytes - (received.epoch == nullptr ? 0 : kSecurityBytes);
    if (bytes < kBthBytes + kIcrcBytes) {
      return ReceiveCounter::kBadOpcode;
    }
    RoceParts parts;
    parts.ip = received.udp.ip;
    parts.udp = received.udp.udp;
    parts.bth = received.udp.body;
    parts.icrc = parts.bth + bytes - kIcrcBytes;
    is_icrc_good =
        little_endian(frame.data() + parts.icrc, kIcrcBytes) == icrc_of(frame.data(), parts);
  }
  if (!is_icrc_good) {
    return ReceiveCounter::kBadIcrc;
  }
  if (get(bth, roce_field::kTransportVersion) != 0) {
    return ReceiveCounter::kBadVersion;
  }
  if (!has_form) {
    return ReceiveCounter::kBadOpcode;
  }
  received.parts = read.parts;
  received.queue_pair = static_cast<std::uint32_t>(get(bth, frame_field::kDestinationPair));
  const std::uint8_t code = read.parts.opcode->code;
  return code <= kMostRcOpcode || code == kCnpOpcode ? ReceiveCounter::kData
                                                     : ReceiveCounter::kBadTransport;
}

ReceiveCounter ReceiveChecks::check_pair(const ReceivedFrame& received) const {
  const GroupSlot* const group = groups_.group_of(received.queue_pair);
  return group != nullptr && *group == received.place.group ? ReceiveCounter::kData
                                                            : ReceiveCounter::kQpMismatch;
}

}  // namespace flitwise
