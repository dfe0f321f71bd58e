// SPDX-License-Identifier: Apache-2.0
// CXL in 68-byte and in 256-byte flits.
#include "link/cxl_framers.h"

#include "link/lane_stream.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kIoBits = flit68::kIoBytes * 8;
constexpr std::uint32_t kFramingBits = (flit68::kProtocolIdBytes + flit68::kUnusedBytes) * 8;
static_assert(kIoBits % kDllpBits == 0, "flits of DLLPs alone cut none");

// An answer has to be able to come in time: behind control flits and the replay that is under way.
// model: our choice. [CXL-3.7]
CxlLinkConfig with_retry_timeout(const LinkConfig& link) {
  CxlLinkConfig cxl = link.cxl;
  if (cxl.timing.retry_timeout.fs == 0) {
    LaneStream lanes(flit68_coding(link.preset, SkpMode::kOff));
    const Time flit = lanes.place(flit68::kBytes, Time{}).last;
    const Time one_way = link.timing.propagation + link.timing.receive + link.timing.clock * 2;
    cxl.timing.retry_timeout = one_way * 2 + flit * (cxl.retry_flits + 4 * kRetryFrames) * 2;
  }
  return cxl;
}

}  // namespace

Cxl68Framer::Cxl68Framer(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
                         PacketPool& pool)
    : CxlFramer(link, queues, pool, with_retry_timeout(link), messages, pool) {}

// A TLP or DLLP is taken when it goes and not before: what it says may change until then.
[[gnu::flatten]] bool Cxl68Framer::next(Time now, WireUnit& unit) {
  check_replay_timer(now);
  const bool has_cachemem = cachemem_.has_work(now);
  note_replay_buffer(cachemem_.is_held_up(now), now, ReplayBufferOf::kCacheMem);
  if (has_cachemem) {
    const bool has_io = !rest_.empty() || !staged_.empty() || has_work(now);
    if (!arbiter_.io_goes(has_io)) {
      cachemem_.next(now, unit, stats_);
      return true;
    }
  }
  if (rest_.empty() && !begin(now)) {
    return false;
  }
  unit.packet = pool_.make(PacketKind::kFlit);
  unit.size.framing = kFramingBits;
  fill(now, unit);
  unit.packet->size = unit.size;
  return true;
}

// Takes the next TLP or DLLP that is to go; false: there is none.
bool Cxl68Framer::begin(Time now) {
  WireUnit unit;
  if (!staged_.empty()) {
    unit.packet = std::move(staged_.front());
    unit.size = wire_size_of(unit.packet->dllp);
    staged_.erase(staged_.begin());
  } else if (!NonFlitFramer::next(now, unit)) {
    return false;
  }
  if (unit.is_replay) {
    const std::uint32_t bits = unit.size.total();
    unit.size = WireSize();
    unit.size.replay = bits;
  }
  rest_ = CutSize(unit.size);
  cut_ = FlitPart{std::move(unit.packet), unit.sequence, unit.is_replay, true, false, false};
  return true;
}

// One behind the other, without a gap; what nothing takes is logical idle.
void Cxl68Framer::fill(Time now, WireUnit& unit) {
  Flit& flit = *unit.packet->flit;
  std::uint32_t room = kIoBits;
  while (room > 0 && (!rest_.empty() || begin(now))) {
    const bool is_tlp = cut_.packet->kind == PacketKind::kTlp;
    flit.has_payload = flit.has_payload || is_tlp;
    if (is_tlp && cut_.begins && !cut_.is_replay) {
      flit.starts.push_back(cut_.packet);
    }
    room -= rest_.take(room, unit.size);
    cut_.ends = rest_.empty();
    flit.parts.push_back(cut_);
    cut_.begins = false;
  }
  if (rest_.empty()) {
    cut_ = FlitPart();
  }
  unit.size.idle = room;
}

// As fill() does where DLLPs alone are due.
WireSize Cxl68Framer::skip_update(Time now) {
  WireSize size;
  size.framing = kFramingBits;
  while (credits_.deadline() <= now && size.dllp < kIoBits) {
    skip_flow_control(now);
    size.dllp += kDllpBits;
  }
  size.idle = kIoBits - size.dllp;
  return size;
}

// The rest of what is cut is as good as lost: its CRC will not fit. [LNK-7.4]
void Cxl68Framer::damaged(const WireUnit& unit, Time now) {
  if (unit.packet->flit->is_cachemem) {
    cachemem_.damaged(unit, now);
    return;
  }
  for (FlitPart& part : unit.packet->flit->parts) {
    part.is_damaged = true;
  }
  cut_.is_damaged = !rest_.empty();
}

void Cxl68Framer::sent(const WireUnit& unit, Time last) {
  for (const FlitPart& part : unit.packet->flit->parts) {
    if (part.ends) {
      NonFlitFramer::sent(WireUnit(part), last);
    }
  }
}

[[gnu::flatten]] void Cxl68Framer::receive(const WireUnit& unit, bool is_damaged, Time now,
                                           std::vector<PacketRef>& delivered) {
  if (unit.packet->flit->is_cachemem) {
    cachemem_.receive(unit, is_damaged, now, delivered, stats_);
    if (cachemem_.has_room()) {
      note_replay_buffer(false, now, ReplayBufferOf::kCacheMem);
    }
    return;
  }
  for (const FlitPart& part : unit.packet->flit->parts) {
    if (part.ends) {
      NonFlitFramer::receive(WireUnit(part), part.is_damaged, now, delivered);
    }
  }
}

bool Cxl68Framer::take_recovery_request() {
  const bool of_io = NonFlitFramer::take_recovery_request();
  const bool of_cachemem = cachemem_.take_recovery_request();
  was_replay_num_ = of_io;
  stats_.retrains += of_cachemem && !of_io ? 1 : 0;
  return of_io || of_cachemem;
}

Time Cxl68Framer::deadline() const {
  if (!rest_.empty() || !staged_.empty()) {
    return Time{};
  }
  return std::min(NonFlitFramer::deadline(), cachemem_.deadline());
}

void Cxl68Framer::reset(Time now) {
  rest_ = CutSize();
  cut_ = FlitPart();
  staged_.clear();
  cachemem_.reset();
  note_replay_buffer(false, now, ReplayBufferOf::kCacheMem);
  NonFlitFramer::reset(now);
}

// A replay goes on in the order of its numbers, whatever its flits are. [CXL-6.5]
bool Cxl256Framer::next(Time now, WireUnit& unit) {
  check_replay_timer(now);
  if (next_replay(now, unit)) {
    return true;
  }
  if (cachemem_goes(now)) {
    unit.packet = pool_.make(PacketKind::kFlit);
    cachemem_.fill(now, *unit.packet->flit, unit.size);
    unit.packet->size = unit.size;
    unit.sequence = replay_.push(unit.packet, flit::kBytes);
    add_ack(unit);
    return true;
  }
  return next_new(now, unit);
}

bool Cxl256Framer::cachemem_goes(Time now) {
  if (replay_.is_replaying() || !may_send_payload() || !cachemem_.has_work(now)) {
    return false;
  }
  const bool has_room = replay_.has_room(flit::kBytes);
  note_replay_buffer(!has_room, now);
  return has_room && !arbiter_.io_goes(has_io(now));
}

void Cxl256Framer::hand_on(const Flit& flit, std::vector<PacketRef>& delivered) {
  if (flit.is_cachemem) {
    cachemem_.receive(flit, delivered, stats_);
  } else {
    FlitFramer::hand_on(flit, delivered);
  }
}

// Only of the flit whose turn it is. [CXL-6.6]
void Cxl256Framer::receive_half(const WireUnit& unit, std::vector<PacketRef>& delivered) {
  if (receiver_.expects(unit.sequence)) {
    cachemem_.receive_half(*unit.packet->flit, delivered, stats_);
  }
}

std::string Cxl256Framer::waiting() const {
  const std::string of_cachemem = cachemem_.waiting();
  return of_cachemem.empty() ? FlitFramer::waiting() : of_cachemem;
}

}  // namespace flitwise
