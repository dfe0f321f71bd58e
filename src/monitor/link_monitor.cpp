// SPDX-License-Identifier: Apache-2.0
// Which monitor hears of what.
#include "monitor/link_monitor.h"

namespace flitwise {
namespace {

constexpr std::size_t kUpstream = 0;
constexpr std::size_t kDownstream = 1;

}  // namespace

LinkMonitor::Direction::Direction(const LinkMonitorOptions& options, bool is_up, ViolationLog& log,
                                  Reporter reporter)
    : credits(reporter),
      sequence(reporter),
      ordering(reporter),
      // MRRS binds a device's own reads, not the host's.
      shape(reporter, options.mps, is_up ? options.mrrs : 0U),
      tags(reporter, requests, is_up ? options.device_timeout : options.host_timeout),
      answers(Reporter(log, !is_up), requests, is_up ? options.host_rcb : options.device_rcb),
      handles(reporter, options.form),
      has_data_link(options.has_data_link),
      announces_handles(is_up && options.announces_handles),
      checks_resolution(is_up && options.is_host_above && options.has_coherent_handles) {}

LinkMonitor::LinkMonitor(const LinkMonitorOptions& options)
    : options_(options), log_(options.link) {
  went_down();  // as every link is at first
}

void LinkMonitor::went_down() {
  for (const std::size_t end : {kUpstream, kDownstream}) {
    const bool is_up = end == kDownstream;
    directions_[end] = std::make_unique<Direction>(options_, is_up, log_, Reporter(log_, is_up));
  }
}

// Nearly every TLP fits everywhere: one look at each monitor, then the books, without a call.
void LinkMonitor::sent(std::size_t end, const WireUnit& unit, Time now) {
  const Packet& packet = *unit.packet;
  if (unit.is_replay || packet.kind == PacketKind::kDllp) {
    sent_special(end, unit, now);
    return;
  }
  Direction& direction = *directions_[end];
  const Tlp& tlp = packet.tlp;
  const TlpKind kind = kind_of(tlp);
  const bool is_covered = direction.credits.sent(tlp, kind);
  const bool fits =
      is_covered && direction.sequence.fits(unit.sequence) &&
      direction.ordering.fits(packet, kind) && !packet.is_raw && direction.shape.fits(tlp, kind) &&
      (!tlp.id_is_handle || !direction.announces_handles || direction.handles.fits_plainly(packet));
  if (!fits) {
    sent_slowly(end, unit, is_covered, now);
    return;
  }
  direction.sequence.sent(packet, unit.sequence);
  direction.ordering.sent();
  if (kind.is(FcClass::kNonPosted)) {
    direction.tags.sent(packet, now);
  }
}

// The same for one that does not fit, or may not: who objects reports.
void LinkMonitor::sent_slowly(std::size_t end, const WireUnit& unit, bool is_covered, Time now) {
  Direction& direction = *directions_[end];
  const Packet& packet = *unit.packet;
  if (direction.has_data_link) {
    if (!is_covered) {
      direction.credits.report(packet, now);
    }
    if (!direction.sequence.fits(unit.sequence)) {
      direction.sequence.report(packet, unit.sequence, now);
    }
    direction.sequence.sent(packet, unit.sequence);
  }
  if (direction.ordering.fits(packet, kind_of(packet.tlp))) {
    direction.ordering.sent();
  } else {
    direction.ordering.sent_out_of_turn(packet, now);
  }
  direction.shape.advise(packet, now);
  if (!packet.is_raw) {
    judge(end, packet, now);
  }
}

// What a script or a hostile device makes as it stands is its own breach and never comes here.
void LinkMonitor::judge(std::size_t end, const Packet& packet, Time now) {
  Direction& direction = *directions_[end];
  const TlpKind kind = kind_of(packet.tlp);
  if (!direction.shape.fits(packet.tlp, kind)) {
    direction.shape.report(packet, now);
  }
  if (direction.announces_handles) {
    const bool uses_handle = packet.tlp.id_is_handle && !kind.is(FcClass::kCompletion);
    if (uses_handle && packet.has_identity && !direction.handles.fits(packet)) {
      direction.handles.report(packet, now);
    } else if (packet.purpose != HandlePurpose::kNone) {
      direction.handles.told(packet);
    }
  } else if (packet.purpose == HandlePurpose::kDealloc && directions_[1 - end]->announces_handles) {
    directions_[1 - end]->handles.ordered(packet);
  }
  if (kind.is(FcClass::kNonPosted)) {
    direction.tags.sent(packet, now);
  }
}

// Replays, and what an Ack or Nak says of the other direction.
void LinkMonitor::sent_special(std::size_t end, const WireUnit& unit, Time now) {
  const Packet& packet = *unit.packet;
  if (packet.is_raw && packet.kind == PacketKind::kDllp) {
    return;  // made by hand: what it says is nobody's mistake
  }
  if (packet.kind != PacketKind::kDllp) {
    directions_[end]->sequence.sent_again(packet, unit.sequence, now);
  } else if (packet.dllp.type == DllpType::kAck || packet.dllp.type == DllpType::kNak) {
    directions_[1 - end]->sequence.acknowledging(packet, now);
  }
}

void LinkMonitor::arrived(std::size_t end, const Packet& packet, Time now) {
  Direction& direction = *directions_[end];
  switch (packet.dllp.type) {
    case DllpType::kAck:
    case DllpType::kNak:
      direction.sequence.acknowledged(packet.dllp);
      break;
    case DllpType::kInitFc1:
    case DllpType::kInitFc2:
    case DllpType::kUpdateFc:
      direction.credits.told(packet, now);
      break;
    default:
      break;
  }
}

void LinkMonitor::delivered(std::size_t end, const WireUnit& unit, Time now) {
  const Packet& packet = *unit.packet;
  Direction& direction = *directions_[1 - end];
  if (direction.has_data_link) {
    if (!direction.sequence.fits_delivery(packet, unit.sequence)) {
      delivered_wrongly(direction, unit, now);
      return;
    }
    direction.sequence.delivered(unit.sequence);
  }
  if (packet.is_raw) {
    return;
  }
  if (is_completion(packet.tlp.type)) {
    directions_[end]->answers.delivered(packet, now);
  } else if (direction.checks_resolution && !HandleMonitor::fits_resolution(packet)) {
    direction.handles.report_resolution(packet, now);
  }
}

void LinkMonitor::delivered_wrongly(Direction& direction, const WireUnit& unit, Time now) {
  direction.sequence.report_delivery(*unit.packet, unit.sequence, now);
  direction.sequence.delivered(unit.sequence);
}

}  // namespace flitwise
