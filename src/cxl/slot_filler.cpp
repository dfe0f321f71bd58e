// SPDX-License-Identifier: Apache-2.0
// The greedy choice of messages for a slot.
#include "cxl/slot_filler.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::uint8_t kOldest = 255;

}  // namespace

CxlSlotFiller::CxlSlotFiller(const CxlWidths& widths, CxlDirection direction,
                             const CxlPackingRules& rules)
    : formats_(widths, direction), rules_(rules) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const auto channel = static_cast<CxlChannel>(i);
    if (info_of(channel).direction == direction && formats_.has_place_for(channel)) {
      channels_[channel_count_++] = channel;
    }
  }
}

void CxlSlotFiller::begin(const CxlWaiting& waiting, bool one_kind_of_lines) {
  partial_lines_ = waiting.partial_lines;
  announces_byte_enables_ = false;
  urgent_.reset();
  channels_left_ = 0;
  std::uint8_t oldest = 0;
  for (std::size_t i = 0; i < channel_count_; ++i) {
    const CxlChannel channel = channels_[i];
    const std::size_t at = index_of(channel);
    left_[at] = std::min<std::uint16_t>(waiting.count[at], rules_.per_flit[at]);
    waited_[at] = left_[at] > 0;
    served_[at] = false;
    if (one_kind_of_lines && info_of(channel).may_have_byte_enables) {
      std::uint16_t alike = 0;
      while (alike < left_[at] && is_partial(channel, alike) == is_partial(channel, 0)) {
        ++alike;
      }
      left_[at] = alike;
    }
    channels_left_ |= (left_[at] > 0 ? 1U : 0U) << at;
    if (waited_[at] && ages_[at] >= rules_.patience && ages_[at] > oldest) {
      oldest = ages_[at];
      urgent_ = channel;
    }
  }
}

bool CxlSlotFiller::urgent_fits(CxlPlace place) const {
  return best(place, Wanted::kUrgent) != nullptr;
}

CxlSlot CxlSlotFiller::take_messages(CxlPlace place, bool urgent_fits_later) {
  Wanted wanted = Wanted::kAny;
  if (urgent_) {
    wanted = urgent_fits(place)  ? Wanted::kUrgent
             : urgent_fits_later ? Wanted::kAny
                                 : Wanted::kNoData;
  }
  const CxlFormat* format = best(place, wanted);
  return format == nullptr ? CxlSlot() : take(*format, wanted);
}

CxlSlot CxlSlotFiller::take_data() {
  CxlSlot slot;
  slot.kind = owed_.next_is_byte_enables() ? CxlSlot::Kind::kByteEnables : CxlSlot::Kind::kData;
  slot.ends_line = owed_.next_ends_line();
  owed_.take();
  return slot;
}

void CxlSlotFiller::end() {
  for (std::size_t i = 0; i < channel_count_; ++i) {
    const std::size_t at = index_of(channels_[i]);
    const bool is_passed_over = waited_[at] && !served_[at];
    ages_[at] = is_passed_over ? std::min<std::uint8_t>(ages_[at], kOldest - 1) + 1 : 0;
  }
}

void CxlSlotFiller::reset() {
  owed_.clear();
  ages_.fill(0);
}

const CxlFormat* CxlSlotFiller::best(CxlPlace place, Wanted wanted) const {
  const CxlFormat* found = nullptr;
  Score highest;
  if (channels_left_ == 0) {
    return found;
  }
  for (const CxlFormat& format : formats_.in(place)) {
    if (!has_any_of(format) || !rules_.uses(place, format.code)) {
      continue;
    }
    const Score score = score_of(format, wanted);
    if (score.is_better_than(highest)) {
      found = &format;
      highest = score;
    }
  }
  return found;
}

bool CxlSlotFiller::has_any_of(const CxlFormat& format) const {
  return std::any_of(format.groups.begin(), format.groups.end(), [this](const CxlGroup& group) {
    return (channels_left_ >> index_of(group.channel) & 1U) != 0;
  });
}

CxlSlotFiller::Score CxlSlotFiller::score_of(const CxlFormat& format, Wanted wanted) const {
  Score score;
  bool is_wanted = wanted != Wanted::kUrgent;
  for (const CxlGroup& group : format.groups) {
    if (const std::uint8_t count = count_of(group, wanted); count > 0) {
      score.bits += count * formats_.widths().of(group.channel);
      score.age = std::max<std::uint32_t>(score.age, ages_[index_of(group.channel)]);
      is_wanted = is_wanted || group.channel == urgent_;
    }
  }
  return is_wanted ? score : Score();
}

// Messages of a group that may go: as many as wait, and as their data may be owed.
std::uint8_t CxlSlotFiller::count_of(const CxlGroup& group, Wanted wanted) const {
  const auto most = static_cast<std::uint8_t>(
      std::min<std::uint16_t>(group.count, left_[index_of(group.channel)]));
  if (most == 0 || !info_of(group.channel).has_data) {
    return most;
  }
  if (wanted == Wanted::kNoData) {
    return 0;
  }
  std::uint32_t chunks = owed_.chunks();
  for (std::uint8_t i = 0; i < most; ++i) {
    chunks += cxl_chunks_of_line(is_partial(group.channel, i));
    if (chunks > rules_.most_owed_chunks || owed_.lines() + i >= CxlOwedData::kMostLines) {
      return i;
    }
  }
  return most;
}

bool CxlSlotFiller::is_partial(CxlChannel channel, std::uint32_t ahead) const {
  return info_of(channel).may_have_byte_enables && ahead < 64 &&
         (partial_lines_ >> ahead & 1U) != 0;
}

CxlSlot CxlSlotFiller::take(const CxlFormat& format, Wanted wanted) {
  CxlSlot slot;
  slot.kind = CxlSlot::Kind::kMessages;
  slot.format = format.code;
  for (const CxlGroup& group : format.groups) {
    if (const std::uint8_t count = count_of(group, wanted); count > 0) {
      slot.messages.add({group.channel, count});
      take(slot.messages.group[slot.messages.count - 1U]);
    }
  }
  return slot;
}

void CxlSlotFiller::take(const CxlGroup& group) {
  const CxlChannelInfo& info = info_of(group.channel);
  const std::size_t at = index_of(group.channel);
  left_[at] = static_cast<std::uint16_t>(left_[at] - group.count);
  channels_left_ &= ~((left_[at] == 0 ? 1U : 0U) << at);
  served_[at] = true;
  if (urgent_ == group.channel) {
    urgent_.reset();
  }
  if (!info.has_data) {
    return;
  }
  for (std::uint8_t i = 0; i < group.count; ++i) {
    owed_.add(is_partial(group.channel, i));
    announces_byte_enables_ = announces_byte_enables_ || is_partial(group.channel, i);
  }
  if (info.may_have_byte_enables) {
    partial_lines_ >>= group.count;
  }
}

}  // namespace flitwise
