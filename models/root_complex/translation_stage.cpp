// SPDX-License-Identifier: Apache-2.0
// Order behind translations, and translations on their way back to devices.
#include "root_complex/translation_stage.h"

#include <array>

#include "common/ranges.h"
#include "flitwise/link_socket.h"
#include "link/ordering.h"

namespace flitwise {
namespace {
// Posted requests that are compared one by one; more of them are asked as groups.
constexpr unsigned kFewPosted = 8;
}  // namespace

bool TranslationStage::translate(Entry entry, const WalkRequest& request, Time delay) {
  const std::uint32_t token = entry.packet->request;
  entry.request = request;
  entry.is_translated = true;
  received_ = entry.packet.get();
  is_held_ = true;
  agent_.translate(*this, add(std::move(entry)), request, token, delay);
  received_ = nullptr;
  return is_held_;
}

void TranslationStage::hold(Entry entry) {
  entry.is_known = true;
  entry.when = std::max(entry.when, now());
  add(std::move(entry));
  ++known_;
  looks_at_all_ = true;
}

Slot TranslationStage::add(Entry entry) {
  if (free_.size() == 0) {
    const auto slots = static_cast<unsigned>(entries_.size());
    const unsigned more = std::max(64U, slots);
    entries_.resize(slots + more);
    for (SlotList* const list : {&order_, &free_, &posted_, &completions_}) {
      list->grow(slots + more);
    }
    for (Slot slot = slots; slot < slots + more; ++slot) {
      free_.push_back(slot);
    }
  }
  const Slot slot = *free_.front();
  free_.erase(slot);
  entry.ticket = slot;
  entry.arrival = arrivals_++;
  relaxed_ += entry.is_relaxed() ? 1U : 0U;
  if (entry.is_posted()) {
    posted_.push_back(slot);
    if (!posted_index_.empty()) {
      entry.posted_token = posted_index_.add(entry.packet->tlp, entry.arrival);
    }
  } else if (is_completion(entry.packet->tlp.type)) {
    completions_.push_back(slot);
  }
  entries_[slot] = std::move(entry);
  order_.push_back(slot);
  return slot;
}

void TranslationStage::translated(std::uint64_t ticket, const WalkResult& result, Time when) {
  const auto slot = static_cast<Slot>(ticket);
  Entry& found = entries_[slot];
  if (result.answer == CplStatus::kSC && found.packet->tlp.at == AddressType::kTranslationRequest) {
    if (const std::optional<std::uint64_t> next = server_.next_after(found, result)) {
      found.request.address = *next;
      found.request.is_continued = true;
      const WalkRequest request = found.request;
      agent_.translate(*this, ticket, request, found.packet->request, when - now());
      return;
    }
  }
  found.result = result;
  found.is_known = true;
  found.when = when;
  ++known_;
  if (!has_posted()) {
    serve(slot);  // there is none that it must not pass
  } else {
    release(slot);
  }
}

// An outcome that came early lets nothing pass what the ordering table holds it behind; that is
// posted requests alone. [LNK-9.1] to [LNK-9.6] Where the latest cannot go, nothing else can that
// could not before; where it goes, others behind it may, unless it is a request that holds none
// back.
void TranslationStage::release(Slot latest) {
  if (is_releasing_) {
    looks_at_all_ = true;
    return;
  }
  if (!looks_at_all_ && !may_go(latest)) {
    return;
  }
  is_releasing_ = true;
  std::optional<Slot> slot = looks_at_all_ ? order_.front() : std::optional(latest);
  const bool frees_others = looks_at_all_ || entries_[latest].is_posted() ||
                            is_completion(entries_[latest].packet->tlp.type);
  looks_at_all_ = false;
  for (std::size_t kept = 0; slot && kept < known_;) {
    const Slot here = *slot;
    slot = order_.next(here);
    const Entry& entry = entries_[here];
    if (entry.is_known && may_go(here)) {
      serve(here);
      if (!frees_others && !looks_at_all_) {
        break;
      }
      continue;
    }
    if (relaxed_ == 0 && (entry.is_known || entry.is_posted())) {
      break;  // what holds it back, or itself, holds back all that follow
    }
    kept += entry.is_known ? 1U : 0U;
  }
  is_releasing_ = false;
}

// It leaves its place first: what it sets off may take new ones.
void TranslationStage::serve(Slot slot) {
  const bool was_drained = is_drained();
  const Entry entry = std::move(entries_[slot]);
  order_waits.add(entry.when, now());
  order_.erase(slot);
  free_.push_back(slot);
  posted_.erase(slot);
  completions_.erase(slot);
  if (entry.posted_token != kNobody) {
    posted_index_.remove(entry.posted_token);
  }
  relaxed_ -= entry.is_relaxed() ? 1U : 0U;
  --known_;
  const bool is_held = server_.serve(entry);
  if (entry.packet.get() == received_) {
    is_held_ = is_held;
  } else if (!is_held) {
    server_.release(*entry.packet);
  }
  if (!was_drained && is_drained()) {
    agent_.drained();
  }
}

// Made when it is asked for, and kept until nothing posted is here any more.
const PostedIndex& TranslationStage::posted_index() {
  if (posted_index_.empty()) {
    for (std::optional<Slot> slot = posted_.front(); slot; slot = posted_.next(*slot)) {
      Entry& entry = entries_[*slot];
      entry.posted_token = posted_index_.add(entry.packet->tlp, entry.arrival);
    }
  }
  return posted_index_;
}

// Nothing posted is before it, or it may pass all that is.
bool TranslationStage::may_go(Slot slot) {
  const Entry& later = entries_[slot];
  const Tlp& tlp = later.packet->tlp;
  const auto is_ahead = [&](std::optional<Slot> one) {
    return one && entries_[*one].arrival < later.arrival;
  };
  const auto holds_it_back = [&](Slot one) {
    return passing(tlp, entries_[one].packet->tlp) == Passing::kNo;
  };
  if (!is_ahead(posted_.front())) {
    return true;
  }
  if (is_completion(tlp.type)) {
    for (auto one = completions_.front(); is_ahead(one); one = completions_.next(*one)) {
      if (holds_it_back(*one)) {
        return false;
      }
    }
  }
  if (passes_all_posted(tlp)) {
    return true;
  }
  unsigned looked_at = 0;
  for (auto one = posted_.front(); is_ahead(one); one = posted_.next(*one)) {
    if (looked_at++ == kFewPosted) {
      return !posted_index().holds_back(tlp, later.arrival, false);
    }
    if (holds_it_back(*one)) {
      return false;
    }
  }
  return true;
}

std::vector<TranslationReplies::Gather>::iterator TranslationReplies::find(std::uint64_t ticket) {
  return find_if(gathers_, [&](const Gather& one) { return one.ticket == ticket; });
}

std::optional<std::uint64_t> TranslationReplies::next_after(const Asked& asked,
                                                            const WalkResult& result) {
  const Tlp& tlp = asked.packet.tlp;
  if (translations_of(tlp) == 1) {
    return std::nullopt;
  }
  auto gather = find(asked.ticket);
  if (gather == gathers_.end()) {
    gather = gathers_.insert(gathers_.end(), {asked.ticket, TranslationGather(tlp, asked.stu)});
  }
  gather->translations.add(
      translation_entry_of(result, asked.has_pasid, asked.stu, asked.is_from_cache()));
  return gather->translations.next();
}

bool TranslationReplies::answer(const Asked& asked, const WalkResult& result, Time when) {
  const auto gather = find(asked.ticket);
  if (gather == gathers_.end() && result.answer != CplStatus::kSC) {
    return false;
  }
  std::array<std::uint8_t, kTranslationBytes * kMaxTranslations> bytes{};
  unsigned length = 1;
  if (gather == gathers_.end()) {
    const TranslationEntry found =
        translation_entry_of(result, asked.has_pasid, asked.stu, asked.is_from_cache());
    store_reply(bytes.data(), &found, 1);
  } else {
    length = gather->translations.length();
    store_reply(bytes.data(), gather->translations.found(), length);
    gathers_.erase(gather);
  }
  TranslationReply reply(length, rcb_, split_ < length ? split_ : 0);
  CompletionPiece piece;
  while (reply.next(piece)) {
    output_.answer_translation(asked.packet, piece, bytes.data(), when);
  }
  return true;
}

}  // namespace flitwise
