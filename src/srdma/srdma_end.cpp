// SPDX-License-Identifier: Apache-2.0
#include "srdma/srdma_end.h"

#include <fmt/format.h>

#include <utility>

#include "srdma/frame_fields.h"

namespace flitwise {
namespace {

PortRules with_control_port(PortRules rules, std::uint16_t port) {
  rules.reserved.push_back(port);
  return rules;
}

CmRules with_address(CmRules rules, std::uint32_t address) {
  rules.address = address;
  return rules;
}

// No two ends of a run draw the same.
KeyedStream stream_of(const SrdmaEndSetup& setup, const char* name) {
  return KeyedStream(setup.seed, fmt::format("{}/{:08x}", name, setup.address));
}

}  // namespace

SrdmaEnd::SrdmaEnd(const SrdmaEndSetup& setup)
    : address_(setup.address),
      groups_(setup.sessions, PortPairs(with_control_port(setup.ports, setup.channel.port),
                                        stream_of(setup, "port"))),
      manager_(with_address(setup.manager, setup.address), groups_, stream_of(setup, "key")),
      channel_(setup.channel),
      checks_(groups_, setup.channel.port) {}

bool SrdmaEnd::next_control(ByteVector& frame, CmMessage& message) {
  ConnectionManager::Outgoing out;
  if (!manager_.take_message(out)) {
    return false;
  }
  channel_.make(out.message, address_, out.destination, frame);
  message = std::move(out.message);
  return true;
}

void SrdmaEnd::carry(SessionPlace place, const RoceParts& parts, ByteVector& frame, Time now) {
  using namespace frame_field;
  const GroupSession& session = groups_.at(place.group).session(place.session);
  const SessionTuple& tuple = session.tuple;
  put(&frame[parts.ip], kSourceAddress, tuple.source);
  put(&frame[parts.ip], kDestinationAddress, tuple.destination);
  put(&frame[parts.udp], kSourcePort, tuple.source_port);
  put(&frame[parts.udp], kDestinationPort, tuple.destination_port);
  seal_roce(frame.data(), parts);
  const std::uint64_t number = groups_.send(place, now);
  if (session.keys) {
    const KeyEpoch& epoch = session.keys->current();
    security_.seal(frame, key_id_of(session.id, epoch.number), number, epoch.sends);
  }
}

ReceivedFrame SrdmaEnd::receive(ByteVector& frame, Time now) {
  const ReceivedFrame received = checks_.check(frame, now);
  if (received.outcome == ReceiveCounter::kControl) {
    if (const auto control = channel_.read(frame, received.udp)) {
      manager_.receive(control->message, control->from, now);
    }
  } else if (received.outcome == ReceiveCounter::kData) {
    manager_.data_came(received.place, received.epoch, now);
  }
  return received;
}

}  // namespace flitwise
