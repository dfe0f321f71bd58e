// SPDX-License-Identifier: Apache-2.0
// Order behind translations.
#include "root_complex/translation_stage.h"

#include <algorithm>

#include "link/ordering.h"

namespace flitwise {

void TranslationStage::translate(Entry entry, const WalkRequest& request, Time delay) {
  const std::uint32_t token = entry.packet->request;
  entry.request = request;
  entry.is_translated = true;
  agent_.translate(*this, add(std::move(entry)), request, token, delay);
}

void TranslationStage::hold(Entry entry) {
  entry.is_known = true;
  entry.when = std::max(entry.when, now());
  add(std::move(entry));
}

Slot TranslationStage::add(Entry entry) {
  if (free_.size() == 0) {
    const auto slots = static_cast<unsigned>(entries_.size());
    const unsigned more = std::max(64U, slots);
    entries_.resize(slots + more);
    order_.grow(slots + more);
    free_.grow(slots + more);
    for (Slot slot = slots; slot < slots + more; ++slot) {
      free_.push_back(slot);
    }
  }
  const Slot slot = *free_.front();
  free_.erase(slot);
  posted_ += fc_class(entry.packet->tlp.type) == FcClass::kPosted ? 1 : 0;
  entry.ticket = slot;
  entry.arrival = arrivals_++;
  entries_[slot] = std::move(entry);
  order_.push_back(slot);
  return slot;
}

void TranslationStage::translated(std::uint64_t ticket, const WalkResult& result, Time when) {
  const auto slot = static_cast<Slot>(ticket);
  Entry& found = entries_[slot];
  std::uint64_t next = 0;
  if (result.answer == AtsAnswer::kSuccess &&
      found.packet->tlp.at == AddressType::kTranslationRequest && go_on_(found, result, next)) {
    found.request.address = next;
    const WalkRequest request = found.request;
    agent_.translate_next(*this, ticket, request, found.packet->request, when - now());
    return;
  }
  found.result = result;
  found.is_known = true;
  found.when = when;
  if (posted_ == 0) {
    serve(slot);  // there is nobody whom it must not pass
  } else {
    release();
  }
}

// An outcome that came early lets nothing pass what the ordering table holds it behind; that is
// posted requests alone. [LNK-9.1] to [LNK-9.6]
void TranslationStage::release() {
  if (is_releasing_) {
    return;
  }
  is_releasing_ = true;
  bool is_posted_ahead = false;
  for (std::optional<Slot> slot = order_.front(); slot;) {
    const Slot here = *slot;
    slot = order_.next(here);
    if (entries_[here].is_known && (!is_posted_ahead || may_pass_all_before(here))) {
      serve(here);
    } else {
      is_posted_ahead =
          is_posted_ahead || fc_class(entries_[here].packet->tlp.type) == FcClass::kPosted;
    }
  }
  is_releasing_ = false;
}

// It leaves its place first: what it sets off may take new ones.
void TranslationStage::serve(Slot slot) {
  const bool was_drained = is_drained();
  const Entry entry = std::move(entries_[slot]);
  order_waits_.add(entry.when, now());
  order_.erase(slot);
  free_.push_back(slot);
  posted_ -= fc_class(entry.packet->tlp.type) == FcClass::kPosted ? 1U : 0U;
  serve_(entry);
  if (!was_drained && is_drained()) {
    agent_.drained();
  }
}

bool TranslationStage::may_pass_all_before(Slot slot) const {
  const Tlp& later = entries_[slot].packet->tlp;
  for (Slot earlier = *order_.front(); earlier != slot; earlier = *order_.next(earlier)) {
    if (passing(later, entries_[earlier].packet->tlp) == Passing::kNo) {
      return false;
    }
  }
  return true;
}

}  // namespace flitwise
