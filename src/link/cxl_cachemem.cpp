// SPDX-License-Identifier: Apache-2.0
// CXL.cache and CXL.mem at one link end.
#include "link/cxl_cachemem.h"

#include <algorithm>

#include "cxl/flit_frame.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kChunkBits = kCxlChunkBytes * 8, kByteEnableBits = 64;

// Slots that stand whole in the first half of a latency-optimised flit; its CRC cuts the next one.
// [CXL-4.4]
constexpr std::size_t kSlotsOfHalf = 7;
constexpr std::size_t last_byte_of(std::size_t slot) {
  constexpr auto kForm = CxlFlitForm::k256LatencyOptimised;
  return flit_offset(kForm, slot_at(kForm, slot + 1) - 1);
}
static_assert(last_byte_of(kSlotsOfHalf - 1) < kCxlBytes256 / 2);
static_assert(last_byte_of(kSlotsOfHalf) >= kCxlBytes256 / 2);

// The code of its format, which slots of 256-byte flits begin with. [CXL-4.2]
constexpr std::uint32_t format_bits(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? 0 : static_cast<std::uint32_t>(first_message_bit(form, 0));
}

constexpr std::uint32_t kHeader68Bits = 32, kCrcBits = 16;
constexpr std::uint32_t kFlit68Bits = flit68::kBytes * 8;
constexpr std::uint32_t kHeader256Bits = 16, kCreditBits = 16;

// What stands beside the slots. [CXL-4.1] [CXL-4.4]
WireSize overhead(CxlFlitForm form) {
  WireSize size;
  size.framing = kHeader256Bits;
  size.dllp = kCreditBits;
  size.crc = static_cast<std::uint32_t>(crc_bytes(form) * 8);
  size.fec = kCxlFecBytes * 8;
  return size;
}

}  // namespace

void CxlFlitWriter::write(const CxlFlitLayout& layout, Flit& flit, WireSize& size) {
  for (std::size_t i = 0; i < layout.slots; ++i) {
    write_slot(layout.slot[i], layout.is_all_data ? CxlPlace::kG : place_of(widths_.form, i), flit,
               size);
    if (widths_.form == CxlFlitForm::k256LatencyOptimised && i + 1 == kSlotsOfHalf) {
      flit.starts_in_half = static_cast<std::uint8_t>(flit.starts.size());
      flit.ends_in_half = static_cast<std::uint8_t>(flit.ends.size());
    }
  }
}

void CxlFlitWriter::write_slot(const CxlSlot& slot, CxlPlace place, Flit& flit, WireSize& size) {
  switch (slot.kind) {
    case CxlSlot::Kind::kMessages: write_messages(slot, place, flit, size); break;
    case CxlSlot::Kind::kData: write_data(slot.ends_line, flit, size); break;
    case CxlSlot::Kind::kByteEnables:
      size.header += kByteEnableBits;
      size.padding += kChunkBits - kByteEnableBits;
      end_line(flit);  // they are the last of it [CXL-2.6] [CXL-4.3]
      break;
    case CxlSlot::Kind::kEmpty:
      size.idle += slot_bits(widths_.form, place) + format_bits(widths_.form);
      break;
  }
}

void CxlFlitWriter::write_messages(const CxlSlot& slot, CxlPlace place, Flit& flit,
                                   WireSize& size) {
  std::uint32_t bits = 0, identity = 0;
  for (const CxlGroup& group : slot.messages) {
    bits += group.count * widths_.of(group.channel);
    identity += group.count * widths_.added(group.channel);
    for (unsigned i = 0; i < group.count; ++i) {
      PacketRef packet = queues_.take(group.channel);
      if (packet->cxl->has_data()) {
        open_.push_back({packet, std::min(packet->payload_bytes, kCxlLineBytes) * 8});
      } else {
        flit.ends.push_back(packet);
      }
      flit.starts.push_back(std::move(packet));
    }
  }
  size.framing += format_bits(widths_.form);
  size.header += bits - identity;
  size.identity += identity;
  size.padding += slot_bits(widths_.form, place) - bits;
}

// What of a line is not asked for, or not enabled, is padding.
void CxlFlitWriter::write_data(bool ends_line, Flit& flit, WireSize& size) {
  OpenLine& line = open_.front();
  const std::uint32_t bits = std::min(line.payload_bits, kChunkBits);
  line.payload_bits -= bits;
  size.payload += bits;
  size.padding += kChunkBits - bits;
  if (ends_line) {
    end_line(flit);
  }
}

// Acks and credits wait for a flit that takes them, but not for ever.
void CxlCacheMem::note_owed(Time now) {
  if (!owes()) {
    owed_since_ = Time::never();
  } else if (owed_since_ == Time::never()) {
    owed_since_ = now;
  }
}

Time CxlCacheMem::owed_deadline() const {
  if (!is_up_) {
    return Time::never();
  }
  if (unacked_ >= kAcksForLlcrd || returns_.is_urgent()) {
    return Time{};
  }
  return owed_since_ == Time::never() ? owed_since_ : owed_since_ + owed_after_;
}

void CxlCacheMem::reset() {
  writer_.reset();
  packer_.reset();
  returns_.reset();
  unacked_ = 0;
  owed_since_ = Time::never();
  is_up_ = false;
}

Cxl68CacheMem::Cxl68CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues, PacketPool& pool)
    : CxlCacheMem(cxl, CxlFlitForm::k68, queues),
      pool_(pool),
      buffer_(cxl.retry_flits),
      requester_(cxl.timing.retry_timeout) {}

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
  return owed_deadline() <= now;
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
    pack(now, unit);
  } else {
    next_llcrd(now, unit, stats);
  }
}

void Cxl68CacheMem::start_flit(WireUnit& unit) {
  unit.packet = pool_.make(PacketKind::kFlit);
  unit.packet->flit->is_cachemem = true;
  unit.size.framing = flit68::kProtocolIdBytes * 8;
  unit.size.crc = kCrcBits;
}

// The header says something, and the slots do not.
CxlFlitHeader& Cxl68CacheMem::start_control(WireUnit& unit) {
  start_flit(unit);
  unit.size.dllp = kFlit68Bits - unit.size.total();
  unit.packet->size = unit.size;
  return unit.packet->flit->cxl;
}

void Cxl68CacheMem::next_llcrd(Time now, WireUnit& unit, FramerStats& stats) {
  CxlFlitHeader& header = start_control(unit);
  header.control = CxlFlitHeader::Control::kLlcrd;
  header.acks = static_cast<std::uint8_t>(unacked_);
  header.credits = returns_.take();
  unacked_ = 0;
  ++stats.acks;
  note_owed(now);  // one does not hold all: the next follows at once
}

// RETRY.Frame flits and what they lead to; an answer before a question of our own. [CXL-3.6]
void Cxl68CacheMem::next_control(Time now, WireUnit& unit, FramerStats& stats) {
  CxlFlitHeader& header = start_control(unit);
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
  unit.packet = buffer_.next_replay();
  unit.is_replay = true;
  unit.size.idle = kFlit68Bits;  // counted as replay, whatever it is
  ++stats.replays;
}

// A flit of messages and data, with what is owed in its header. [CXL-2.1] [CXL-3.3]
void Cxl68CacheMem::pack(Time now, WireUnit& unit) {
  start_flit(unit);
  Flit& flit = *unit.packet->flit;
  flit.has_payload = true;
  packer_.pack(waiting_, layout_);
  flit.cxl.is_all_data = layout_.is_all_data;
  if (!layout_.is_all_data) {
    unit.size.framing += kHeader68Bits;
    flit.cxl.acks = unacked_ >= kFlitsPerAk ? kFlitsPerAk : 0;
    unacked_ -= flit.cxl.acks;
    flit.cxl.credits = returns_.take();
    owed_since_ = owes() ? now : Time::never();
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
    owed_since_ = now;
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
    book(*packet, stats);
  }
  delivered.insert(delivered.end(), flit.ends.begin(), flit.ends.end());
}

void Cxl68CacheMem::receive_control(const CxlFlitHeader& header, FramerStats& stats) {
  switch (header.control) {
    case CxlFlitHeader::Control::kLlcrd: receive_header(header, stats); break;
    case CxlFlitHeader::Control::kRetryReq:
      if (buffer_.start_replay(header.sequence)) {
        owes_answer_ = true;
        answer_frames_ = kRetryFrames;
        answer_ = header.sequence;
        stats.replay_events += buffer_.is_replaying() ? 1 : 0;
      }  // else it asks for what has arrived since: another answer was faster
      break;
    case CxlFlitHeader::Control::kRetryAck: requester_.answered(header.sequence); break;
    case CxlFlitHeader::Control::kRetryFrame:
    case CxlFlitHeader::Control::kNone: break;
  }
}

void Cxl68CacheMem::receive_header(const CxlFlitHeader& header, FramerStats& stats) {
  take_credits(header);
  if (!buffer_.acknowledge(header.acks)) {
    ++stats.dl_protocol_errors;
  }
}

Time Cxl68CacheMem::deadline() const {
  if (owes_answer_ || buffer_.is_replaying() || (may_pack() && packer_.owed() > 0)) {
    return Time{};
  }
  return std::min(requester_.deadline(), owed_deadline());
}

void Cxl68CacheMem::reset() {
  CxlCacheMem::reset();
  buffer_.reset();
  requester_.reset();
  answer_frames_ = 0;
  owes_answer_ = false;
}

std::string Cxl68CacheMem::waiting() const {
  if (!buffer_.has_room()) {
    return "the retry buffer is full of flits without acknowledgement";
  }
  return queues_.starved();
}

bool Cxl256CacheMem::has_work(Time now) {
  if (!is_up_) {
    return false;
  }
  waiting_ = queues_.waiting(now);
  return packer_.owed() > 0 || has_any(waiting_) || deadline() <= now;
}

// Credits that do not fit wait for the next flit as long as they did. [CXL-6.4]
void Cxl256CacheMem::fill(Time now, Flit& flit, WireSize& size) {
  flit.is_cachemem = true;
  flit.has_payload = true;
  size = overhead(writer_.widths().form);
  packer_.pack(waiting_, layout_);
  writer_.write(layout_, flit, size);
  flit.cxl.credits = returns_.take_counts();
  note_owed(now);
}

// What is taken already has come with the first half, perhaps of an earlier try.
void Cxl256CacheMem::take(const Flit& flit, std::size_t starts_until, std::size_t ends_until,
                          std::vector<PacketRef>& delivered, FramerStats& stats) {
  for (; starts_taken_ < starts_until; ++starts_taken_) {
    book(*flit.starts[starts_taken_], stats);
  }
  for (; ends_taken_ < ends_until; ++ends_taken_) {
    delivered.push_back(flit.ends[ends_taken_]);
  }
}

}  // namespace flitwise
