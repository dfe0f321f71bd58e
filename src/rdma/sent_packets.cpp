// SPDX-License-Identifier: Apache-2.0
#include "rdma/sent_packets.h"

#include <limits>

namespace flitwise {

void SentPackets::reset(Psn first) {
  std::fill(places_.begin(), places_.end(), SentPacket{});
  arrived_.reset(first);
  again_.reset(first);
  untold_.reset(first);
}

std::uint8_t SentPackets::count(Psn psn, bool is_answered) {
  SentPacket& sent = make_place(psn);
  if (sent.psn != psn || sent.times == 0) {
    sent = SentPacket{};
    sent.psn = psn;
  }
  sent.is_answered = is_answered ? 1 : 0;
  const std::uint8_t before = sent.times;
  if (before < std::numeric_limits<std::uint8_t>::max()) {
    ++sent.times;
  }
  return before;
}

void SentPackets::leaves(Psn psn, std::uint16_t session, Time now, bool is_probe) {
  if (is_probe) {
    make_place(psn) = SentPacket{};
    count(psn, false);
  }
  if (!places_.empty() && place(psn).psn == psn) {
    place(psn).at = now;
    place(psn).session = session;
  }
}

void SentPackets::advance(Psn oldest) {
  arrived_.advance(oldest);
  again_.advance(oldest);
  untold_.advance(oldest);
}

bool SentPackets::arrive(Psn psn) {
  again_.erase(psn);
  return arrived_.insert(psn);
}

bool SentPackets::lose(Psn psn, LossCause cause) {
  const bool is_new = again_.insert(psn);
  if (is_new) {
    charge(psn, cause);
  }
  return is_new;
}

void SentPackets::charge(Psn psn, LossCause cause) {
  untold_.insert(psn);
  if (find(psn) != nullptr) {
    place(psn).lost_by = static_cast<std::uint8_t>(static_cast<unsigned>(cause) & 0x7f);
  }
}

void SentPackets::take_again(Psn from, Psn end) {
  for (Psn psn = again_.first_in(from, end); psn != end; psn = again_.first_in(psn, end)) {
    again_.erase(psn);
  }
}

// What has no place of its own is the answer of a READ, which left on a session of the peer.
bool SentPackets::take_loss(LostPacket& lost) {
  const Psn psn = untold_.first_in(untold_.base(), untold_.end());
  untold_.erase(psn);
  lost = {psn, kNoSession, LossCause::kAnswer, 0, {}};
  if (const SentPacket* const sent = find(psn)) {
    const auto cause = static_cast<LossCause>(sent->lost_by);
    const bool is_ours = cause != LossCause::kAnswer;
    lost = {psn, is_ours ? sent->session : kNoSession, cause, sent->times, sent->at};
  }
  return true;
}

// Places of PSNs that are within the window differ, and from that of the PSN before it, which a
// probe has.
SentPacket& SentPackets::make_place(Psn psn) {
  constexpr std::size_t kFirst = 16;
  const auto distance = static_cast<std::size_t>((psn - arrived_.base()) & kPsnMask);
  const bool is_ahead = psn_distance(psn, arrived_.base()) >= 0;
  std::size_t size = std::max(places_.size(), kFirst);
  while (is_ahead && size <= distance + 1) {
    size *= 2;
  }
  if (size != places_.size()) {
    std::vector<SentPacket> old = std::move(places_);
    places_.assign(size, SentPacket{});
    for (const SentPacket& one : old) {
      if (one.times > 0) {
        place(one.psn) = one;
      }
    }
  }
  return place(psn);
}

}  // namespace flitwise
