// SPDX-License-Identifier: Apache-2.0
// The data link layer of flit mode.
#include "link/flit_framer.h"

#include <array>

#include "link/lane_stream.h"
#include "link/replay_timer.h"
#include "link/shared_credits.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kDwBits = 32;
constexpr std::uint32_t kFlitBits = flit::kBytes * 8;

// What every flit has beside TLP bytes. [LNK-11.1]
WireSize overhead() {
  WireSize size;
  size.dllp = flit::kDlpBytes * 8;
  size.crc = flit::kCrcBytes * 8;
  size.fec = flit::kFecBytes * 8;
  return size;
}

WireSize size_of_nop() {
  WireSize size = overhead();
  size.idle = flit::kTlpBytes * 8;
  return size;
}

}  // namespace

void FlitPacker::fill(Time now, Flit& flit, WireSize& size) {
  std::array<unsigned, 2> starts{};
  std::uint32_t dw = 0;
  while (dw < flit::kTlpDws) {
    if (rest_.empty()) {
      const std::size_t half = dw < kSecondHalfDw ? 0 : 1;
      if (starts[half] == kMostStartsInHalf && half == 0) {
        size.idle += (kSecondHalfDw - dw) * kDwBits;
        dw = kSecondHalfDw;
        continue;
      }
      if (starts[half] == kMostStartsInHalf || !begin(now, flit)) {
        break;
      }
      ++starts[half];
    }
    dw += rest_.take((flit::kTlpDws - dw) * kDwBits, size) / kDwBits;
    if (rest_.empty()) {
      flit.ends.push_back(std::move(packet_));
    }
  }
  size.idle += (flit::kTlpDws - dw) * kDwBits;
  flit.has_payload = dw > 0;
}

// Takes the next TLP from the queues; false: none may go.
bool FlitPacker::begin(Time now, Flit& flit) {
  const std::optional<TransactionQueues::Position> position = queues_.choose(now);
  if (!position || queues_.is_mixed()) {
    queues_.note_stalls(now);
  }
  if (!position) {
    return false;
  }
  packet_ = queues_.take(*position);
  WireSize size = size_in_flits(*packet_);
  if (queues_.shares_credits() && packet_->uses_dedicated_credits) {
    (packet_->purpose == HandlePurpose::kNone ? size.header : size.identity) += kLocalPrefixBits;
    ++flit.local_prefixes;
  }
  rest_ = CutSize(size);
  flit.starts.push_back(packet_);
  return true;
}

Time flit_time(const LinkPreset& preset) {
  LaneStream lanes(flit_coding(preset, SkpMode::kOff));
  const Placement flit = lanes.place(flit::kBytes, Time{});
  return flit.last - flit.first;
}

FlitFramer::FlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool)
    : DataLinkFramer(
          link, queues, pool, ack_limit(link), replay_limit(link), SequenceSpace::of_flits(),
          {kFlitReplayNumStates,
           link.preset.generation < kFlitReplayStepOneGeneration ? kFlitReplayStepBelow : 1}),
      packer_(queues) {}

[[gnu::flatten]] bool FlitFramer::next(Time now, WireUnit& unit) {
  check_replay_timer(now);
  return next_replay(now, unit) || next_new(now, unit);
}

// A flit goes where there is something to say: TLPs, an Ack, a DLLP. It takes what else is owed
// along. Between them a real wire has NOP flits that say nothing. [LNK-11.5] [LNK-11.6]
bool FlitFramer::next_new(Time now, WireUnit& unit) {
  if (!may_carry_tlps() || replay_.is_replaying() || !next_payload(now, unit)) {
    if (receiver_.deadline() > now && credits_.deadline() > now) {
      return false;
    }
    unit = nop_with(nullptr, pool_);
  }
  add_ack(unit);
  add_dllp(now, unit);
  return true;
}

// A replayed flit bears no Ack, and one that is due does not wait for the end of the replay. Its
// TLP bytes are those of the first time; the flit has its own number. [LNK-11.7]
bool FlitFramer::next_replay(Time now, WireUnit& unit) {
  if (!replay_.is_replaying() || !may_send_payload() || receiver_.deadline() <= now) {
    return false;
  }
  take_replay(unit);
  unit.size = overhead();
  unit.size.idle = kFlitBits - unit.size.total();  // counted as replay, whatever it is
  if (!unit.packet->flit->is_cachemem) {
    add_dllp(now, unit);
  }
  return true;
}

bool FlitFramer::next_payload(Time now, WireUnit& unit) {
  if (!packer_.has_work(now)) {
    queues_.note_stalls(now);
    return false;
  }
  const bool has_room = replay_.has_room(flit::kBytes);
  note_replay_buffer(!has_room, now);
  if (!has_room) {
    return false;
  }
  unit.packet = pool_.make(PacketKind::kFlit);
  unit.size = overhead();
  packer_.fill(now, *unit.packet->flit, unit.size);
  unit.sequence = replay_.push(unit.packet, flit::kBytes);
  unit.packet->size = overhead();
  unit.packet->size.idle = unit.size.idle;
  unit.packet->size.header = unit.packet->flit->local_prefixes * kLocalPrefixBits;
  return true;
}

WireUnit FlitFramer::nop_with(PacketRef dllp, PacketPool& pool) {
  WireUnit unit;
  unit.packet = pool.make(PacketKind::kFlit);
  unit.packet->size = unit.size = size_of_nop();
  unit.dllp = std::move(dllp);
  return unit;
}

WireSize FlitFramer::skip_update(Time now) {
  skip_flow_control(now);
  return size_of_nop();
}

// [LNK-11.5] [LNK-11.7]
void FlitFramer::add_ack(WireUnit& unit) {
  if (receiver_.deadline() != Time::never()) {
    unit.ack = take_ack();
  }
}

// The NOP flits behind it repeat what it said. [LNK-11.5]
void FlitFramer::damaged(const WireUnit& unit, Time now) {
  if (unit.ack) {
    receiver_.owe_again(now);
  }
}

// A damaged NOP flit takes with it what it said, and nothing has to come again: the flit behind it
// tells that it had no payload. [LNK-11.6] [LNK-11.8]
[[gnu::flatten]] void FlitFramer::receive(const WireUnit& unit, bool is_damaged, Time now,
                                          std::vector<PacketRef>& delivered) {
  if (is_damaged && !unit.has_payload()) {
    ++stats_.damaged_dllps;
    return;
  }
  for (const Packet* const dllp : {unit.ack.get(), unit.dllp.get()}) {
    if (!is_damaged && dllp != nullptr) {
      receive_dllp(dllp->dllp, now);
    }
  }
  if (unit.has_payload() && accepts(unit.sequence, is_damaged, now)) {
    hand_on(*unit.packet->flit, delivered);
  }
}

}  // namespace flitwise
