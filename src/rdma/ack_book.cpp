// SPDX-License-Identifier: Apache-2.0
#include "rdma/ack_book.h"

#include <algorithm>
#include <limits>

namespace flitwise {

void AckBook::reset() {
  rows_.clear();
  due_.clear();
  since_ack_ = 0;
  last_ = kNoSession;
  due_at_ = Time::never();
}

void AckBook::received(const RdmaPacket& packet, const QpContext& context, bool must) {
  const QueuePairSetup& setup = context.setup;
  Row& row = this->row(packet.session);
  note(row, packet, context.came);
  ++row.since;
  ++since_ack_;
  const bool is_full = setup.ack_every_session > 0 && row.since >= setup.ack_every_session;
  if (must || is_full || since_ack_ >= setup.ack_every) {
    ask(row);
  } else if (due_at_ == Time::never() && setup.ack_delay != Time::never()) {
    due_at_ = context.now + setup.ack_delay;
  }
}

void AckBook::refused(const RdmaPacket& packet, Time came) {
  note(row(packet.session), packet, came);
}

void AckBook::ask(std::uint16_t session) {
  ask(row(session));
}

AckEcho AckBook::take(Time now) {
  Row& row = rows_[due_.front()];
  due_.pop_front();
  row.is_due = false;
  row.since = since_ack_ = 0;
  return echo(row, now);
}

AckEcho AckBook::take_for_nak(std::uint16_t session, Time now) {
  return echo(row(session), now);
}

void AckBook::expire(Time now) {
  if (due_at_ > now) {
    return;
  }
  due_at_ = Time::never();
  for (Row& row : rows_) {
    if (row.since > 0) {
      ask(row);
    }
  }
}

// Sessions are few, and the one with the same low bits is nearly always the one.
AckBook::Row& AckBook::row(std::uint16_t session) {
  hints_.resize(kHints);
  std::uint16_t& hint = hints_[session % kHints];
  if (hint < rows_.size() && rows_[hint].session == session) {
    return rows_[hint];
  }
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const Row& one) { return one.session == session; });
  hint = static_cast<std::uint16_t>(found - rows_.begin());
  if (found == rows_.end()) {
    rows_.emplace_back();
    rows_.back().session = session;
    due_.set_capacity(rows_.size());
  }
  return rows_[hint];
}

void AckBook::note(Row& row, const RdmaPacket& packet, Time came) {
  row.came = came;
  row.psn = packet.psn;
  row.is_marked = row.is_marked || packet.is_marked;
  last_ = packet.session;
}

void AckBook::ask(Row& row) {
  if (!row.is_due) {
    row.is_due = true;
    due_.push_back(static_cast<std::uint16_t>(&row - rows_.data()));
  }
}

AckEcho AckBook::echo(Row& row, Time now) {
  constexpr std::int64_t kFsOfNs = 1'000'000, kMost = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t hold = std::min((now - row.came).fs / kFsOfNs, kMost);
  const AckEcho echo = {row.session, row.is_marked, row.psn, static_cast<std::uint32_t>(hold)};
  row.is_marked = false;
  return echo;
}

}  // namespace flitwise
