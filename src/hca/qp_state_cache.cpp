// SPDX-License-Identifier: Apache-2.0
#include "hca/qp_state_cache.h"

#include "flitwise/error.h"

namespace flitwise {

QpStateCache::QpStateCache(unsigned entries, unsigned ways)
    : ways_(ways == 0 ? entries : ways), entries_(entries) {
  FLITWISE_CHECK(entries > 0 && entries % ways_ == 0, "ways do not divide the QP-state cache");
  sets_.assign(entries / ways_, {SlotList(ways_), SlotList(ways_)});
  for (Slot entry = 0; entry < entries; ++entry) {
    sets_[entry / ways_].invalid.push_back(entry % ways_);
  }
}

QpLookup QpStateCache::look_up(QpTag tag) {
  using Outcome = QpLookup::Outcome;
  if (const Slot* const found = index_.find(tag)) {
    const bool is_fetching = entries_[*found].state == QpEntryState::kFetching;
    ++(is_fetching ? counts_.waits : counts_.hits);
    pin(*found);
    return {is_fetching ? Outcome::kWait : Outcome::kHit, *found, {}};
  }
  Set& set = sets_[set_of(tag)];
  if (!can_allocate(set_of(tag))) {
    ++counts_.stalls;
    return {};
  }
  const Slot way = set.invalid.front() ? *set.invalid.front() : *set.idle.front();
  const Slot slot = static_cast<Slot>(set_of(tag)) * ways_ + way;
  Entry& entry = entries_[slot];
  QpLookup result{Outcome::kFetch, slot, {}};
  if (entry.state == QpEntryState::kDirty) {
    result.writes_back = entry.tag;
    ++counts_.write_backs;
  }
  invalidate(entry);
  pin(slot);  // by the fetch
  pin(slot);  // by the work
  entry.tag = tag;
  entry.state = QpEntryState::kFetching;
  index_[tag] = slot;
  ++counts_.fetches;
  return result;
}

bool QpStateCache::end_fetch(Slot slot, bool is_good) {
  Entry& entry = entries_[slot];
  const bool is_wanted = entry.state == QpEntryState::kFetching;
  if (is_wanted && is_good) {
    entry.state = QpEntryState::kValid;
  } else {
    invalidate(entry);
  }
  unpin(slot);
  return is_wanted && is_good;
}

void QpStateCache::mark_dirty(Slot slot) {
  FLITWISE_CHECK(entries_[slot].pins > 0, "the state of a QP changes without work on it");
  if (entries_[slot].state == QpEntryState::kValid) {
    entries_[slot].state = QpEntryState::kDirty;
  }
}

void QpStateCache::pin(Slot slot) {
  Set& set = sets_[slot / ways_];
  set.invalid.erase(slot % ways_);
  set.idle.erase(slot % ways_);
  ++entries_[slot].pins;
}

void QpStateCache::unpin(Slot slot) {
  Entry& entry = entries_[slot];
  FLITWISE_CHECK(entry.pins > 0, "work with the state of a QP is done twice");
  if (--entry.pins == 0) {
    Set& set = sets_[slot / ways_];
    (entry.state == QpEntryState::kInvalid ? set.invalid : set.idle).push_back(slot % ways_);
  }
}

// Nobody finds it any more.
void QpStateCache::invalidate(Entry& entry) {
  if (entry.state != QpEntryState::kInvalid) {
    index_.erase(entry.tag);
    entry.state = QpEntryState::kInvalid;
  }
}

void QpStateCache::reset(std::uint32_t function) {
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    Entry& entry = entries_[slot];
    if (entry.state == QpEntryState::kInvalid || entry.tag.function != function) {
      continue;
    }
    invalidate(entry);
    Set& set = sets_[slot / ways_];
    if (set.idle.contains(slot % ways_)) {
      set.idle.erase(slot % ways_);
      set.invalid.push_back(slot % ways_);
    }
  }
}

std::optional<Slot> QpStateCache::find(QpTag tag) const {
  const Slot* const found = index_.find(tag);
  return found == nullptr ? std::nullopt : std::optional<Slot>(*found);
}

}  // namespace flitwise
