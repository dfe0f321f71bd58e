// SPDX-License-Identifier: Apache-2.0
// Which TLP goes next.
#include "link/transaction_queues.h"

namespace flitwise {
namespace {
// How far behind the head a relaxed TLP is looked for. model: the text gives no bound.
constexpr std::size_t kPassingWindow = 8;
// How often the oldest posted request is overtaken before it has to go first, so that it goes in
// the end. model: the text gives no bound.
constexpr unsigned kMostOvertakings = 64;

// May it pass an older posted request at all? [LNK-9.1]
bool is_relaxed(const Tlp& tlp) {
  return tlp.relaxed_ordering || tlp.id_based_ordering;
}
}  // namespace

TransactionQueues::TransactionQueues(unsigned depth, RelaxedPassing relaxed) : relaxed_(relaxed) {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    queues_[i].set_capacity(queue_room(depth, static_cast<FcClass>(i)));
  }
}

void TransactionQueues::push(PacketRef packet, Time arrival) {
  const FcClass fc = fc_class(packet->tlp.type);
  const Credits need{1, data_credits(packet->tlp)};
  const std::uint64_t order = next_order_++;
  const bool is_indexed = fc == FcClass::kPosted && !posted_index_.empty();
  const std::uint32_t token = is_indexed ? posted_index_.add(packet->tlp, order) : kNobody;
  queues_[index_of(fc)].push_back(Entry{std::move(packet), order, need, arrival, token});
}

Passing TransactionQueues::passing_of(const Entry& later, const Entry& earlier) {
  return passing(later.packet->tlp, earlier.packet->tlp, later.packet->answers_io_or_cfg_write);
}

// Made when it is asked for, and kept until no posted request is queued any more.
const PostedIndex& TransactionQueues::posted_index() const {
  if (posted_index_.empty()) {
    for (const Entry& posted : queue(FcClass::kPosted)) {
      posted.token = posted_index_.add(posted.packet->tlp, posted.order);
    }
  }
  return posted_index_;
}

// A read or a completion stays behind every older posted request that it may not pass: a few are
// looked at, many are asked as groups. [LNK-9.4, LNK-9.5, LNK-9.6]
bool TransactionQueues::may_overtake_posted(const Entry& entry) const {
  const Queue& posted = queue(FcClass::kPosted);
  if (relaxed_ == RelaxedPassing::kNever) {
    return posted.empty() || posted.front().order > entry.order;
  }
  const bool is_io_or_cfg_write = entry.packet->answers_io_or_cfg_write;
  if (passes_all_posted(entry.packet->tlp, is_io_or_cfg_write)) {
    return true;
  }
  const std::size_t few = std::min(posted.size(), kPassingWindow);
  for (std::size_t i = 0; i < few; ++i) {
    if (posted[i].order > entry.order) {
      return true;
    }
    if (passing_of(entry, posted[i]) == Passing::kNo) {
      return false;
    }
  }
  return few == posted.size() ||
         !posted_index().holds_back(entry.packet->tlp, entry.order, is_io_or_cfg_write);
}

// The entry of one class that can go, credits and its own queue considered.
std::optional<std::size_t> TransactionQueues::sendable(FcClass fc, Time now) const {
  const Queue& entries = queue(fc);
  if (entries.empty() || entries.front().arrival > now) {
    return std::nullopt;
  }
  const bool head_can_go = has_credits(fc, entries.front());
  if (relaxed_ == RelaxedPassing::kNever || fc != FcClass::kPosted ||
      overtakings_ >= kMostOvertakings ||
      (head_can_go && relaxed_ == RelaxedPassing::kWhenBlocked)) {
    return head_can_go ? std::optional<std::size_t>(0) : std::nullopt;
  }
  // Posted requests with RO or IDO may overtake older posted ones. [LNK-9.1]
  const std::size_t window = std::min(entries.size(), kPassingWindow);
  for (std::size_t later = window - 1; later > 0; --later) {
    bool free = is_relaxed(entries[later].packet->tlp) && entries[later].arrival <= now &&
                has_credits(fc, entries[later]);
    for (std::size_t earlier = 0; free && earlier < later; ++earlier) {
      free = passing_of(entries[later], entries[earlier]) != Passing::kNo;
    }
    if (free) {
      return later;
    }
  }
  return head_can_go ? std::optional<std::size_t>(0) : std::nullopt;
}

// The class that alone has something queued; none where several have, or where nothing waits.
std::optional<FcClass> TransactionQueues::only_class() const {
  const unsigned waiting = (queues_[0].empty() ? 0U : 1U) | (queues_[1].empty() ? 0U : 2U) |
                           (queues_[2].empty() ? 0U : 4U);
  const bool is_one = waiting != 0 && (waiting & (waiting - 1)) == 0;
  return is_one ? std::optional(static_cast<FcClass>(waiting >> 1)) : std::nullopt;
}

void TransactionQueues::note_overtaking(Position position, const Entry& entry) {
  const Queue& posted = queue(FcClass::kPosted);
  if (position.fc_class != FcClass::kPosted) {
    const bool overtakes = !posted.empty() && posted.front().order < entry.order;
    overtakings_ += relaxed_ == RelaxedPassing::kEager && overtakes ? 1 : 0;
  } else {
    overtakings_ = position.index == 0 ? 0 : overtakings_ + 1;
  }
}

// Breaks a rule on purpose. [LNK-9.4] [LNK-9.5] [LNK-9.6]
std::optional<TransactionQueues::Position> TransactionQueues::forbidden_overtaking(Time now) const {
  const Queue& posted = queue(FcClass::kPosted);
  for (const FcClass fc : {FcClass::kNonPosted, FcClass::kCompletion}) {
    const Queue& entries = queue(fc);
    if (!entries.empty() && !posted.empty() && entries.front().arrival <= now &&
        posted.front().order < entries.front().order && has_credits(fc, entries.front()) &&
        passing_of(entries.front(), posted.front()) == Passing::kNo) {
      return Position{fc, 0};
    }
  }
  return std::nullopt;
}

std::optional<TransactionQueues::Position> TransactionQueues::choose(Time now) const {
  if (empty()) {
    return std::nullopt;
  }
  // The common case first: one class alone waits, and its oldest can go.
  if (const std::optional<FcClass> only = only_class();
      only && (*only != FcClass::kPosted || relaxed_ != RelaxedPassing::kEager)) {
    const Entry& oldest = queue(*only).front();
    if (oldest.arrival > now) {
      return std::nullopt;
    }
    if (has_credits(*only, oldest)) {
      return Position{*only, 0};
    }
    if (*only != FcClass::kPosted) {
      return std::nullopt;
    }
  }
  if (breaks_ordering_) {
    if (const std::optional<Position> forbidden = forbidden_overtaking(now)) {
      return forbidden;
    }
  }
  std::optional<Position> best;
  std::uint64_t best_order = 0;
  for (const FcClass fc : kEachFcClass) {
    const std::optional<std::size_t> index = sendable(fc, now);
    if (!index) {
      continue;
    }
    const Entry& entry = queue(fc)[*index];
    // May it go before an older posted request that could go as well?
    const bool is_preferred = relaxed_ == RelaxedPassing::kEager && fc != FcClass::kPosted &&
                              overtakings_ < kMostOvertakings;
    const bool is_later = best && best_order < entry.order;
    if (is_later && !(is_preferred && best->fc_class == FcClass::kPosted)) {
      continue;
    }
    if (fc != FcClass::kPosted && !may_overtake_posted(entry)) {
      continue;
    }
    best = Position{fc, *index};
    best_order = entry.order;
  }
  return best;
}

PacketRef TransactionQueues::take(Position position) {
  Queue& entries = queues_[index_of(position.fc_class)];
  Entry& entry = entries[position.index];
  if (!shared_ || !shared_->take(position.fc_class, entry.need, *entry.packet)) {
    gates_[index_of(position.fc_class)].consume(entry.need);
  }
  note_overtaking(position, entry);
  if (breaks_ordering_ && position.fc_class != FcClass::kPosted) {
    const Queue& posted = queue(FcClass::kPosted);
    breaks_ordering_ = posted.empty() || posted.front().order > entry.order;
  }
  if (entry.token != kNobody) {
    posted_index_.remove(entry.token);
  }
  PacketRef packet = std::move(entry.packet);
  if (position.index == 0) {
    entries.pop_front();
  } else {
    // The few ahead of it move up, not all that are behind.
    entries.rerase(entries.begin() + static_cast<std::ptrdiff_t>(position.index));
  }
  return packet;
}

void TransactionQueues::note_stalls(Time now) {
  for (const FcClass fc : kEachFcClass) {
    Gate& gate = gates_[index_of(fc)];
    const bool is_blocked = starved(fc, now) != nullptr;
    if (is_blocked || gate.blocked.is_running()) {
      const Credits need = is_blocked ? queue(fc).front().need : Credits{};
      gate.blocked.set(is_blocked, now);
      gate.blocked_by_header.set(is_blocked && !gate.header.allows(need.header), now);
      gate.blocked_by_data.set(is_blocked && !gate.data.allows(need.data), now);
    }
  }
}

void TransactionQueues::reset(Time now) {
  for (Queue& entries : queues_) {
    entries.clear();
  }
  posted_index_ = {};
  note_stalls(now);  // nothing is blocked any more
  for (Gate& gate : gates_) {
    static_cast<CreditGates&>(gate) = {};
  }
  if (shared_) {
    shared_->reset();
  }
  overtakings_ = 0;
}

StallTimes TransactionQueues::stalls(Time now) const {
  StallTimes stalls{};
  stalls.credits_posted = gates_[0].blocked.total(now);
  stalls.credits_nonposted = gates_[1].blocked.total(now);
  stalls.credits_completion = gates_[2].blocked.total(now);
  return stalls;
}

std::array<StallCount, 2 * kFcClasses> TransactionQueues::waits(Time now) const {
  std::array<StallCount, 2 * kFcClasses> waits;
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    waits[2 * i] = gates_[i].blocked_by_header.so_far(now);
    waits[2 * i + 1] = gates_[i].blocked_by_data.so_far(now);
  }
  return waits;
}

Time TransactionQueues::next_arrival(Time now) const {
  Time next = Time::never();
  for (const Queue& entries : queues_) {
    if (!entries.empty() && entries.front().arrival > now && entries.front().arrival < next) {
      next = entries.front().arrival;
    }
  }
  return next;
}

const Packet* TransactionQueues::starved(FcClass fc, Time now) const {
  const Queue& entries = queue(fc);
  const bool waits =
      !entries.empty() && entries.front().arrival <= now && !has_credits(fc, entries.front());
  return waits ? entries.front().packet.get() : nullptr;
}

}  // namespace flitwise
