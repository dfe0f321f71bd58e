// SPDX-License-Identifier: Apache-2.0
// Order behind translations.
#include "root_complex/translation_stage.h"

#include <algorithm>

namespace flitwise {

void TranslationStage::translate(Entry entry, const WalkRequest& request, Time delay) {
  const std::uint64_t ticket = next_ticket_++;
  const std::uint32_t token = entry.packet->request;
  entry.ticket = ticket;
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
  found->result = result;
  found->is_known = true;
  found->when = when;
  release();
}

// Nothing passes a posted request but one with RO; non-posted requests may be passed.
// [LNK-9.1, LNK-9.2, LNK-9.4]
void TranslationStage::release() {
  if (is_releasing_) {
    return;
  }
  is_releasing_ = true;
  bool is_posted_ahead = false;
  for (std::size_t i = 0; i < entries_.size();) {
    const Tlp& tlp = entries_[i].packet->tlp;
    if (entries_[i].is_known && (!is_posted_ahead || tlp.relaxed_ordering)) {
      const Entry entry = std::move(entries_[i]);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
      serve_(entry);
    } else {
      is_posted_ahead = is_posted_ahead || fc_class(tlp.type) == FcClass::kPosted;
      ++i;
    }
  }
  is_releasing_ = false;
}

}  // namespace flitwise
