// SPDX-License-Identifier: Apache-2.0
// The link layer of CXL.cache and CXL.mem.
#include "link/cxl68_cachemem.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::uint32_t kHeader68Bits = 32, kCrcBits = 16;
constexpr std::uint32_t kFlit68Bits = flit68::kBytes * 8;

}  // namespace

Cxl68CacheMem::Cxl68CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues, PacketPool& pool)
    : queues_(queues),
      pool_(pool),
      ack_after_(cxl.timing.ack_after),
      writer_({CxlFlitForm::k68, cxl.identity_bits}, queues),
      packer_(writer_.widths(), queues.direction(),
              CxlPackingRules(CxlFlitForm::k68, cxl.per_flit)),
      buffer_(cxl.retry_flits),
      requester_(cxl.timing.retry_timeout),
      returns_(advertised_credits(cxl)) {}

// Order of sending: retry control, replays, messages and data, LLCRD. [CXL-3.4]
bool Cxl68CacheMem::has_work(Time now) {
  if (requester_.is_due(now) || owes_answer_ || buffer_.is_replaying()) {
    return true;
  }
  if (may_pack()) {
    waiting_ = queues_.waiting(now);
    if (packer_.owed() > 0 || has_any(waiting_)) {
      return true;
    }
  }
  return is_told_due(now);
}

// What goes again is no wait for room: the flits in the buffer are on their way meanwhile.
bool Cxl68CacheMem::is_held_up(Time now) {
  return !buffer_.has_room() && !buffer_.is_replaying() &&
         (packer_.owed() > 0 || has_any(queues_.waiting(now)));
}

void Cxl68CacheMem::next(Time now, WireUnit& unit, FramerStats& stats) {
  if (requester_.is_due(now) || owes_answer_) {
    next_control(now, unit, stats);
  } else if (buffer_.is_replaying()) {
    next_replay(unit, stats);
  } else if (may_pack() && (packer_.owed() > 0 || has_any(waiting_))) {
    pack(unit);
    if (!unit.packet->flit->cxl.is_all_data) {
      told_at_ = Time::never();
      note_owed(now);
    }
  } else {
    start_flit(unit);
    CxlFlitHeader& header = unit.packet->flit->cxl;
    header.control = CxlFlitHeader::Control::kLlcrd;
    header.acks = static_cast<std::uint8_t>(unacked_);
    header.credits = returns_.take();
    unacked_ = 0;
    ++stats.acks;
    note_owed(now);  // one does not hold all: the next follows at once
  }
}

void Cxl68CacheMem::start_flit(WireUnit& unit) {
  unit = WireUnit();
  unit.packet = pool_.make(PacketKind::kFlit);
  unit.packet->flit->is_cachemem = true;
  unit.size.framing = flit68::kProtocolIdBytes * 8;
  unit.size.crc = kCrcBits;
  unit.size.dllp = kFlit68Bits - unit.size.total();
  unit.packet->size = unit.size;
}

// RETRY.Frame flits and what they lead to; an answer before a question of our own. [CXL-3.6]
void Cxl68CacheMem::next_control(Time now, WireUnit& unit, FramerStats& stats) {
  start_flit(unit);
  CxlFlitHeader& header = unit.packet->flit->cxl;
  if (owes_answer_) {
    const bool is_last = answer_frames_ == 0;
    header.control =
        is_last ? CxlFlitHeader::Control::kRetryAck : CxlFlitHeader::Control::kRetryFrame;
    header.sequence = answer_;
    answer_frames_ -= is_last ? 0 : 1;
    owes_answer_ = !is_last;
    return;
  }
  const CxlRetryRequester::Ask ask = requester_.take(now);
  header.control =
      ask.is_request ? CxlFlitHeader::Control::kRetryReq : CxlFlitHeader::Control::kRetryFrame;
  header.sequence = ask.first;
  stats.naks += ask.is_request ? 1 : 0;
}

void Cxl68CacheMem::next_replay(WireUnit& unit, FramerStats& stats) {
  unit = WireUnit();
  unit.packet = buffer_.next_replay();
  unit.is_replay = true;
  unit.size.idle = kFlit68Bits;  // counted as replay, whatever it is
  ++stats.replays;
}

// A flit of messages and data, with what is owed in its header. [CXL-2.1] [CXL-3.3]
void Cxl68CacheMem::pack(WireUnit& unit) {
  unit = WireUnit();
  unit.packet = pool_.make(PacketKind::kFlit);
  Flit& flit = *unit.packet->flit;
  flit.is_cachemem = true;
  flit.has_payload = true;
  packer_.pack(waiting_, layout_);
  unit.size.framing = flit68::kProtocolIdBytes * 8;
  unit.size.crc = kCrcBits;
  flit.cxl.is_all_data = layout_.is_all_data;
  if (!layout_.is_all_data) {
    unit.size.framing += kHeader68Bits;
    flit.cxl.acks = unacked_ >= kFlitsPerAk ? kFlitsPerAk : 0;
    unacked_ -= flit.cxl.acks;
    flit.cxl.credits = returns_.take();
  }
  writer_.write(layout_, flit, unit.size);
  unit.packet->size = unit.size;
  buffer_.push(unit.packet);
}

void Cxl68CacheMem::damaged(const WireUnit& unit, Time now) {
  const CxlFlitHeader& header = unit.packet->flit->cxl;
  if (header.control == CxlFlitHeader::Control::kLlcrd) {
    unacked_ += header.acks;
    returns_.take_back(header.credits);
    told_at_ = now;
  }
}

void Cxl68CacheMem::receive(const WireUnit& unit, bool is_damaged, Time now,
                            std::vector<PacketRef>& delivered, FramerStats& stats) {
  const Flit& flit = *unit.packet->flit;
  if (is_damaged) {
    ++(unit.has_payload() ? stats.damaged_tlps : stats.damaged_dllps);
    requester_.damaged();
    return;
  }
  if (flit.cxl.control != CxlFlitHeader::Control::kNone) {
    receive_control(flit.cxl, stats);
    return;
  }
  if (!requester_.accepts()) {
    ++stats.out_of_sequence;
    return;
  }
  ++unacked_;
  note_owed(now);
  receive_header(flit.cxl, stats);
  for (const PacketRef& packet : flit.starts) {
    stats.credit_overruns += returns_.receive(packet->cxl->channel) ? 0 : 1;
  }
  delivered.insert(delivered.end(), flit.ends.begin(), flit.ends.end());
}

void Cxl68CacheMem::receive_control(const CxlFlitHeader& header, FramerStats& stats) {
  switch (header.control) {
    case CxlFlitHeader::Control::kLlcrd:
      receive_header(header, stats);
      break;
    case CxlFlitHeader::Control::kRetryReq:
      if (buffer_.start_replay(header.sequence)) {
        owes_answer_ = true;
        answer_frames_ = kRetryFrames;
        answer_ = header.sequence;
        stats.replay_events += buffer_.is_replaying() ? 1 : 0;
      }  // else it asks for what has arrived since: another answer was faster
      break;
    case CxlFlitHeader::Control::kRetryAck:
      requester_.answered(header.sequence);
      break;
    case CxlFlitHeader::Control::kRetryFrame:
    case CxlFlitHeader::Control::kNone:
      break;
  }
}

void Cxl68CacheMem::receive_header(const CxlFlitHeader& header, FramerStats& stats) {
  for (std::size_t c = 0; c < kCxlCredits; ++c) {
    queues_.gate().give(c, header.credits[c]);
  }
  if (!buffer_.acknowledge(header.acks)) {
    ++stats.dl_protocol_errors;
  }
}

void Cxl68CacheMem::freed(const Packet& packet, Time now) {
  returns_.free(packet.cxl->channel);
  note_owed(now);
}

// Acks and credits wait for a flit that takes them, but not for ever.
void Cxl68CacheMem::note_owed(Time now) {
  if (unacked_ == 0 && !returns_.has_untold()) {
    told_at_ = Time::never();
  } else if (told_at_ == Time::never()) {
    told_at_ = now;
  }
}

Time Cxl68CacheMem::told_deadline() const {
  if (!is_up_) {
    return Time::never();
  }
  if (unacked_ >= kAcksForLlcrd || returns_.is_urgent()) {
    return Time{};
  }
  return told_at_ == Time::never() ? told_at_ : told_at_ + ack_after_;
}

Time Cxl68CacheMem::deadline() const {
  if (owes_answer_ || buffer_.is_replaying() || (may_pack() && packer_.owed() > 0)) {
    return Time{};
  }
  return std::min(requester_.deadline(), told_deadline());
}

void Cxl68CacheMem::reset() {
  packer_.reset();
  buffer_.reset();
  requester_.reset();
  returns_.reset();
  writer_.reset();
  unacked_ = answer_frames_ = 0;
  owes_answer_ = false;
  told_at_ = Time::never();
  is_up_ = false;
}

bool Cxl68CacheMem::is_quiet() const {
  return queues_.empty() && packer_.owed() == 0 && buffer_.empty() && unacked_ == 0 &&
         !returns_.has_untold() && requester_.is_normal() && !owes_answer_;
}

std::string Cxl68CacheMem::waiting() const {
  if (!buffer_.has_room()) {
    return "the retry buffer is full of flits without acknowledgement";
  }
  return queues_.starved();
}

}  // namespace flitwise
