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
    if (waited_[at] && ages_[at] >= rules_.patience && ages_[at] > oldest) {
      oldest = ages_[at];
      urgent_ = channel;
    }
  }
}

bool CxlSlotFiller::urgent_fits(CxlPlace place) const {
  return best(place, Wanted::kUrgent).bits > 0;
}

CxlSlot CxlSlotFiller::take_messages(CxlPlace place, bool urgent_fits_later) {
  Choice choice;
  if (urgent_) {
    choice = best(place, Wanted::kUrgent);
    if (choice.bits == 0) {
      choice = best(place, urgent_fits_later ? Wanted::kAny : Wanted::kNoData);
    }
  } else {
    choice = best(place, Wanted::kAny);
  }
  for (const CxlGroup& group : choice.slot.messages) {
    take(group);
  }
  return choice.slot;
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

CxlSlotFiller::Choice CxlSlotFiller::best(CxlPlace place, Wanted wanted) const {
  Choice found;
  for (const CxlFormat& format : formats_.in(place)) {
    if (!rules_.uses(place, format.code)) {
      continue;
    }
    const Choice choice = choice_of(format, wanted);
    if (choice.bits > 0 && choice.is_better_than(found)) {
      found = choice;
    }
  }
  return found;
}

CxlSlotFiller::Choice CxlSlotFiller::choice_of(const CxlFormat& format, Wanted wanted) const {
  Choice choice;
  choice.slot.kind = CxlSlot::Kind::kMessages;
  choice.slot.format = format.code;
  bool is_wanted = wanted != Wanted::kUrgent;
  for (const CxlGroup& group : format.groups) {
    const bool is_barred = wanted == Wanted::kNoData && info_of(group.channel).has_data;
    const std::uint8_t count = is_barred ? 0 : count_of(group);
    if (count > 0) {
      choice.slot.messages.add({group.channel, count});
      choice.bits += count * formats_.widths().of(group.channel);
      choice.age = std::max<std::uint32_t>(choice.age, ages_[index_of(group.channel)]);
      is_wanted = is_wanted || group.channel == urgent_;
    }
  }
  return is_wanted ? choice : Choice{};
}

// Messages of a group that may go: as many as wait, and as their data may be owed.
std::uint8_t CxlSlotFiller::count_of(const CxlGroup& group) const {
  const auto most = static_cast<std::uint8_t>(
      std::min<std::uint16_t>(group.count, left_[index_of(group.channel)]));
  if (!info_of(group.channel).has_data) {
    return most;
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

void CxlSlotFiller::take(const CxlGroup& group) {
  const CxlChannelInfo& info = info_of(group.channel);
  left_[index_of(group.channel)] =
      static_cast<std::uint16_t>(left_[index_of(group.channel)] - group.count);
  served_[index_of(group.channel)] = true;
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
