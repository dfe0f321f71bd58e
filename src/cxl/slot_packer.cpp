// SPDX-License-Identifier: Apache-2.0
// Which slots of a flit have messages, which data; what a sender holds to unless told otherwise.
#include "cxl/slot_packer.h"

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr std::uint8_t kOldest = 255;

// By CxlChannel, for 68-byte flits. unverified [CXL-2.9]
constexpr std::array<std::uint8_t, kCxlChannels> kPerFlit68 = {4, 2, 4, 2, 4, 4, 2, 1, 1, 2, 3, 1};
// No bound is known for 256-byte flits. unverified [CXL-2.9]
constexpr std::uint8_t kPerFlit256 = 255;

// model: in 68-byte flits the bounds above suffice. In 256-byte flits header slots could announce
// more lines than generic slots can carry; this is the least bound that never leaves one of those
// free while reads wait. [CXL-4.6]
constexpr std::uint16_t kMostOwed68 = 4 * CxlOwedData::kMostLines, kMostOwed256 = 20;

}  // namespace

CxlPackingRules::CxlPackingRules(CxlFlitForm form,
                                 const std::array<std::uint8_t, kCxlChannels>& bounds) {
  const bool is_68 = form == CxlFlitForm::k68;
  most_owed_chunks = is_68 ? kMostOwed68 : kMostOwed256;
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    per_flit[i] = bounds[i] > 0 ? bounds[i] : is_68 ? kPerFlit68[i] : kPerFlit256;
  }
}

CxlSlotPacker::CxlSlotPacker(const CxlWidths& widths, CxlDirection direction,
                             const CxlPackingRules& rules)
    : formats_(widths, direction), rules_(rules), is_68_(widths.form == CxlFlitForm::k68) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const auto channel = static_cast<CxlChannel>(i);
    if (info_of(channel).direction == direction && formats_.has_place_for(channel)) {
      channels_[channel_count_++] = channel;
    }
  }
}

[[gnu::flatten]] void CxlSlotPacker::pack(const CxlWaiting& waiting, CxlFlitLayout& flit) {
  const CxlFlitForm form = formats_.widths().form;
  const std::uint32_t rollover = owed();
  flit = CxlFlitLayout();
  flit.slots = static_cast<std::uint8_t>(slots_of(form));
  if (next_is_all_data()) {
    flit.is_all_data = true;
    std::generate_n(flit.slot.begin(), flit.slots, [this] { return take_data(); });
    return;
  }
  begin(waiting);
  for (std::size_t i = 0; i < flit.slots; ++i) {
    // A generic slot of 256 bytes says nothing of data: it has some whenever some is owed.
    // [CXL-4.3] In 68 bytes what earlier flits left comes first; then data moves more bits than any
    // messages would, but a channel that only generic slots hold must get one. [CXL-2.5] [CXL-2.8]
    const CxlPlace place = place_of(form, i);
    const bool is_data = place == CxlPlace::kG && owed() > 0 &&
                         (!is_68_ || i <= rollover || !urgent_fits(CxlPlace::kG));
    const bool fits_later = is_68_ && i == 0 && rollover < kMostCxlRollover;
    flit.slot[i] = is_data ? take_data() : take_messages(place, fits_later);
  }
  end();
  flit.has_byte_enables = is_68_ && announces_byte_enables_;
}

// All lines that a 68-byte flit announces have byte enables, or none has. [CXL-2.6]
void CxlSlotPacker::begin(const CxlWaiting& waiting) {
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
    if (is_68_ && info_of(channel).may_have_byte_enables) {
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

CxlSlot CxlSlotPacker::take_messages(CxlPlace place, bool urgent_fits_later) {
  const Wanted wanted = !urgent_             ? Wanted::kAny
                        : urgent_fits(place) ? Wanted::kUrgent
                        : urgent_fits_later  ? Wanted::kAny
                                             : Wanted::kNoData;
  CxlSlot slot;
  const CxlFormat* const format = best(place, wanted);
  if (format == nullptr) {
    return slot;
  }
  slot.kind = CxlSlot::Kind::kMessages;
  slot.format = format->code;
  for (const CxlGroup& group : format->groups) {
    if (const std::uint8_t count = count_of(group, wanted); count > 0) {
      slot.messages.add({group.channel, count});
      take({group.channel, count});
    }
  }
  return slot;
}

CxlSlot CxlSlotPacker::take_data() {
  CxlSlot slot;
  slot.kind = owed_.next_is_byte_enables() ? CxlSlot::Kind::kByteEnables : CxlSlot::Kind::kData;
  slot.ends_line = owed_.next_ends_line();
  owed_.take();
  return slot;
}

// Who was passed over?
void CxlSlotPacker::end() {
  for (std::size_t i = 0; i < channel_count_; ++i) {
    const std::size_t at = index_of(channels_[i]);
    const bool is_passed_over = waited_[at] && !served_[at];
    ages_[at] = is_passed_over ? std::min<std::uint8_t>(ages_[at], kOldest - 1) + 1 : 0;
  }
}

void CxlSlotPacker::reset() {
  owed_ = CxlOwedData();
  ages_.fill(0);
}

const CxlFormat* CxlSlotPacker::best(CxlPlace place, Wanted wanted) const {
  const CxlFormat* found = nullptr;
  Score highest;
  if (channels_left_ == 0) {
    return found;
  }
  for (const CxlFormat& format : formats_.in(place)) {
    const bool has_any = any_of(format.groups, [this](const CxlGroup& group) {
      return (channels_left_ >> index_of(group.channel) & 1U) != 0;
    });
    if (!has_any || !rules_.uses(place, format.code)) {
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

CxlSlotPacker::Score CxlSlotPacker::score_of(const CxlFormat& format, Wanted wanted) const {
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
std::uint8_t CxlSlotPacker::count_of(const CxlGroup& group, Wanted wanted) const {
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

bool CxlSlotPacker::is_partial(CxlChannel channel, std::uint32_t ahead) const {
  return info_of(channel).may_have_byte_enables && ahead < 64 &&
         (partial_lines_ >> ahead & 1U) != 0;
}

void CxlSlotPacker::take(const CxlGroup& group) {
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
