// SPDX-License-Identifier: Apache-2.0
// Order behind translations.
#include "root_complex/translation_stage.h"

#include <algorithm>

#include "link/ordering.h"

namespace flitwise {

void TranslationStage::translate(Entry entry, const WalkRequest& request, Time delay) {
  const std::uint64_t ticket = next_ticket_++;
  const std::uint32_t token = entry.packet->request;
  entry.ticket = ticket;
  entry.request = request;
  entry.is_translated = true;
  entries_.push_back(std::move(entry));
  agent_.translate(*this, ticket, request, token, delay);
}

void TranslationStage::hold(Entry entry) {
  entry.ticket = next_ticket_++;
  entry.is_known = true;
  entry.when = now();
  entries_.push_back(std::move(entry));
}

void TranslationStage::translated(std::uint64_t ticket, const WalkResult& result, Time when) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.ticket == ticket; });
  std::uint64_t next = 0;
  if (result.answer == AtsAnswer::kSuccess &&
      found->packet->tlp.at == AddressType::kTranslationRequest && go_on_(*found, result, next)) {
    found->request.address = next;
    const WalkRequest request = found->request;
    agent_.translate(*this, ticket, request, found->packet->request, when - now());
    return;
  }
  found->result = result;
  found->is_known = true;
  found->when = when;
  release();
}

// An outcome that came early lets nothing pass what the ordering table holds it behind; that is
// posted requests alone. [LNK-9.1] to [LNK-9.6]
void TranslationStage::release() {
  if (is_releasing_) {
    return;
  }
  is_releasing_ = true;
  const bool was_drained = is_drained();
  bool is_posted_ahead = false;
  for (std::size_t i = 0; i < entries_.size();) {
    const Tlp& tlp = entries_[i].packet->tlp;
    if (entries_[i].is_known && (!is_posted_ahead || may_pass_all_before(i))) {
      const Entry entry = std::move(entries_[i]);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
      serve_(entry);
    } else {
      is_posted_ahead = is_posted_ahead || fc_class(tlp.type) == FcClass::kPosted;
      ++i;
    }
  }
  is_releasing_ = false;
  if (!was_drained && is_drained()) {
    agent_.drained();
  }
}

bool TranslationStage::may_pass_all_before(std::size_t index) const {
  const Tlp& later = entries_[index].packet->tlp;
  return std::all_of(
      entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(index),
      [&](const Entry& earlier) { return passing(later, earlier.packet->tlp) != Passing::kNo; });
}

}  // namespace flitwise
