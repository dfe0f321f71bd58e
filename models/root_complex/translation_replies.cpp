// SPDX-License-Identifier: Apache-2.0
// Translations on their way back to devices.
#include "root_complex/translation_replies.h"

#include <algorithm>
#include <array>

namespace flitwise {

std::vector<TranslationReplies::Gather>::iterator TranslationReplies::find(std::uint64_t ticket) {
  return std::find_if(gathers_.begin(), gathers_.end(),
                      [&](const Gather& one) { return one.ticket == ticket; });
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
  gather->translations.add(translation_entry_of(result, asked.has_pasid, asked.stu));
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
    const TranslationEntry found = translation_entry_of(result, asked.has_pasid, asked.stu);
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
