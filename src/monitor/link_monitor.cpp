// SPDX-License-Identifier: Apache-2.0
// Which monitor hears of what.
#include "monitor/link_monitor.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::size_t kUpstream = 0;
constexpr std::size_t kDownstream = 1;

// 68-byte flits of CXL.cache and CXL.mem: both ends count without numbers. [CXL-3.5]
bool is_unnumbered(const WireUnit& unit) {
  return unit.packet->flit->is_cachemem && unit.size.fec == 0;
}

// All that ends in a flit, or what its first half had not brought yet. [CXL-6.6]
bool is_all_of(const Flit& flit, const std::vector<PacketRef>& packets) {
  const std::size_t missing = flit.ends.size() - std::min(flit.ends.size(), packets.size());
  return (missing == 0 || missing == flit.ends_in_half) && packets.size() <= flit.ends.size() &&
         std::equal(packets.begin(), packets.end(), flit.ends.end() - packets.size());
}

}  // namespace

LinkMonitor::Direction::Direction(const LinkMonitorOptions& options, bool is_up, ViolationLog& log,
                                  Reporter reporter)
    : credits(reporter, options.shared_credits),
      sequence(reporter, options.has_flits ? SequenceMonitor::Numbered::kFlits
                                           : SequenceMonitor::Numbered::kTlps),
      ordering(reporter),
      // MRRS binds a device's own reads, not the host's.
      shape(reporter, options.mps, is_up ? options.mrrs : 0U, options.enabled_mrrs),
      answers(reporter, Reporter(log, !is_up),
              is_up ? options.device_timeout : options.host_timeout,
              is_up ? options.host_rcb : options.device_rcb, !is_up && options.is_switch_below),
      handles(reporter, options.form),
      translations(is_up && options.asks_for_translations
                       ? std::make_unique<TranslationMonitor>(reporter)
                       : nullptr),
      has_data_link(options.has_data_link),
      announces_handles(is_up && options.announces_handles),
      checks_resolution(is_up && options.is_host_above && options.has_coherent_handles) {}

LinkMonitor::LinkMonitor(const LinkMonitorOptions& options)
    : options_(options),
      log_(options.link),
      messages_(options.has_messages
                    ? std::make_unique<MessageMonitor>(log_, options_.has_memory_states)
                    : nullptr) {
  went_down();  // as every link is at first
}

void LinkMonitor::went_down() {
  for (const std::size_t end : {kUpstream, kDownstream}) {
    const bool is_up = end == kDownstream;
    directions_[end] = std::make_unique<Direction>(options_, is_up, log_, Reporter(log_, is_up));
  }
  if (messages_) {
    messages_->reset();
  }
}

// But for its number and its credits: is a TLP like nearly every one?
inline bool LinkMonitor::fits(Direction& direction, const Packet& packet, TlpKind kind) {
  const Tlp& tlp = packet.tlp;
  return direction.ordering.fits(packet, kind) && !packet.is_raw &&
         direction.shape.fits(tlp, kind) &&
         (!tlp.id_is_handle || !direction.announces_handles ||
          direction.handles.fits_plainly(packet));
}

inline void LinkMonitor::book(Direction& direction, const Packet& packet, TlpKind kind, Time now) {
  direction.ordering.sent(kind);
  if (kind.is(FcClass::kNonPosted)) {
    direction.answers.sent(packet, now);
  }
  if (direction.translations) {
    direction.translations->sent(packet, now);
  }
}

// Nearly every TLP fits everywhere: one look at each monitor, then the counters, without a call.
void LinkMonitor::sent(std::size_t end, const WireUnit& unit, Time now) {
  const Packet& packet = *unit.packet;
  if (unit.is_replay || packet.kind == PacketKind::kDllp || packet.kind == PacketKind::kFlit) {
    sent_special(end, unit, now);
    return;
  }
  Direction& direction = *directions_[end];
  const TlpKind kind = kind_of(packet.tlp);
  const bool is_covered = direction.credits.sent(packet.tlp, kind);
  if (is_covered && direction.sequence.fits(unit.sequence) && fits(direction, packet, kind)) {
    direction.sequence.sent(packet, unit.sequence);
    book(direction, packet, kind, now);
    return;
  }
  number_slowly(direction, unit, now);
  sent_slowly(end, packet, is_covered, now);
}

// A number that does not fit, or may not.
void LinkMonitor::number_slowly(Direction& direction, const WireUnit& unit, Time now) {
  if (direction.has_data_link) {
    if (!direction.sequence.fits(unit.sequence)) {
      direction.sequence.report(*unit.packet, unit.sequence, now);
    }
    direction.sequence.sent(*unit.packet, unit.sequence);
  }
}

// The same for a TLP: who objects reports.
void LinkMonitor::sent_slowly(std::size_t end, const Packet& packet, bool is_covered, Time now) {
  Direction& direction = *directions_[end];
  if (direction.has_data_link && !is_covered) {
    direction.credits.report(packet, now);
  }
  if (const TlpKind kind = kind_of(packet.tlp); direction.ordering.fits(packet, kind)) {
    direction.ordering.sent(kind);
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
    direction.answers.sent(packet, now);
  }
  if (direction.translations) {
    direction.translations->sent(packet, now);
  }
}

// Flits, replays, and what an Ack or Nak says of the other direction.
void LinkMonitor::sent_special(std::size_t end, const WireUnit& unit, Time now) {
  if (unit.is_flit()) {
    sent_flit(end, unit, now);
  } else if (unit.packet->kind != PacketKind::kDllp) {
    directions_[end]->sequence.sent_again(*unit.packet, unit.sequence, now);
  } else {
    acknowledging(end, *unit.packet, now);
  }
}

// The number is that of the flit; credits, order and shape are those of the TLPs that begin in it.
void LinkMonitor::sent_flit(std::size_t end, const WireUnit& unit, Time now) {
  if (unit.packet->flit->is_cachemem && !unit.is_replay) {
    messages_->sent(end, *unit.packet, !is_unnumbered(unit), now);
    if (TranslationMonitor* const of_device = directions_[end]->translations.get()) {
      for (const PacketRef& message : unit.packet->flit->starts) {
        of_device->sent_message(*message, now);
      }
    }
  }
  if (is_unnumbered(unit)) {
    return;
  }
  Direction& direction = *directions_[end];
  for (const FlitPart& part : unit.packet->flit->parts) {
    if (part.begins) {
      sent(end, WireUnit(part), now);
    }
  }
  for (const Packet* const dllp : {unit.ack.get(), unit.dllp.get()}) {
    if (dllp != nullptr) {
      acknowledging(end, *dllp, now);
    }
  }
  if (unit.is_replay) {
    direction.sequence.sent_again(*unit.packet, unit.sequence, now);
    return;
  }
  if (!unit.has_payload() || !unit.packet->flit->parts.empty()) {
    return;
  }
  if (direction.sequence.fits(unit.sequence)) {
    direction.sequence.sent(*unit.packet, unit.sequence);
  } else {
    number_slowly(direction, unit, now);
  }
  if (unit.packet->flit->is_cachemem) {
    return;  // what it has are messages
  }
  for (const PacketRef& one : unit.packet->flit->starts) {
    const TlpKind kind = kind_of(one->tlp);
    const bool is_covered = direction.credits.sent_in_flit(*one, kind);
    if (is_covered && fits(direction, *one, kind)) {
      book(direction, *one, kind, now);
    } else {
      sent_slowly(end, *one, is_covered, now);
    }
  }
}

// A message made by a script says nothing about its sender's rules.
void LinkMonitor::acknowledging(std::size_t end, const Packet& dllp, Time now) {
  if (is_ack_or_nak(dllp.dllp.type) && !dllp.is_raw) {
    directions_[1 - end]->sequence.acknowledging(dllp, now);
  }
}

void LinkMonitor::told_by(std::size_t end, const WireUnit& unit, Time now) {
  if (!unit.is_flit()) {
    told(end, *unit.packet, now);
    return;
  }
  if (is_unnumbered(unit)) {
    messages_->arrived(end, *unit.packet);
    return;
  }
  for (const FlitPart& part : unit.packet->flit->parts) {
    if (part.ends && !part.is_damaged && part.packet->kind == PacketKind::kDllp) {
      told(end, *part.packet, now);
    }
  }
  for (const Packet* const dllp : {unit.ack.get(), unit.dllp.get()}) {
    if (dllp != nullptr) {
      told(end, *dllp, now);
    }
  }
}

void LinkMonitor::told(std::size_t end, const Packet& packet, Time now) {
  Direction& direction = *directions_[end];
  const DllpType type = packet.dllp.type;
  if (is_ack_or_nak(type)) {
    direction.sequence.acknowledged(packet.dllp);
  } else if (is_flow_control(type) || type == DllpType::kOptimizedUpdateFc) {
    direction.credits.told(packet, now);
  }
}

// A flit is handed on as a whole, and then only when it is its turn. [LNK-11.6]
void LinkMonitor::accepted_flit(std::size_t end, const WireUnit& unit, bool is_damaged,
                                const std::vector<PacketRef>& tlps, Time now) {
  Direction& direction = *directions_[1 - end];
  const Packet& flit = *unit.packet;
  if (is_unnumbered(unit)) {
    return;
  }
  if (!flit.flit->parts.empty()) {
    accepted_parts(direction, flit.flit->parts, tlps, now);
    return;
  }
  const bool should_be = unit.has_payload() && !is_damaged && direction.has_data_link &&
                         direction.sequence.fits_delivery(flit, unit.sequence);
  if (should_be && flit.flit->is_cachemem) {
    messages_->accepted(end, *flit.flit);
  }
  if (should_be || !tlps.empty()) {
    accepted_next(direction, unit, is_all_of(*flit.flit, tlps), now);
  }
}

// In 68-byte flits each TLP has its own number. What was handed on stands in the flit, in order.
void LinkMonitor::accepted_parts(Direction& direction, const std::vector<FlitPart>& parts,
                                 const std::vector<PacketRef>& tlps, Time now) {
  auto tlp = tlps.begin();
  for (const FlitPart& part : parts) {
    if (!part.ends || part.packet->kind != PacketKind::kTlp) {
      continue;
    }
    const bool is_handed_on = tlp != tlps.end() && *tlp == part.packet;
    const bool should_be = direction.has_data_link && !part.is_damaged &&
                           direction.sequence.fits_delivery(*part.packet, part.sequence);
    if (is_handed_on || should_be) {
      accepted_next(direction, WireUnit(part), is_handed_on, now);
    }
    tlp += is_handed_on ? 1 : 0;
  }
}

void LinkMonitor::delivered(std::size_t end, const Packet& packet, Time now) {
  if (directions_[end]->translations) {
    directions_[end]->translations->delivered(packet);
  }
  if (packet.is_raw) {
    return;
  }
  Direction& direction = *directions_[1 - end];
  if (is_completion(packet.tlp.type)) {
    directions_[end]->answers.delivered(packet, now);
  } else if (direction.checks_resolution && !HandleMonitor::fits_resolution(packet)) {
    direction.handles.report_resolution(packet, now);
  }
}

}  // namespace flitwise
