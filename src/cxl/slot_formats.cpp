// SPDX-License-Identifier: Apache-2.0
// The tables of slot formats. The order of the codes is unverified for 256-byte flits.
#include "cxl/flit_layout.h"

#include "common/ranges.h"

namespace flitwise {
namespace {

using C = CxlChannel;

template <class... Groups>
constexpr CxlFormat format(std::uint8_t code, Groups... groups) {
  return {code, {{groups...}, sizeof...(groups)}};
}
constexpr CxlGroup one(C channel) {
  return {channel, 1};
}
constexpr CxlGroup many(std::uint8_t count, C channel) {
  return {channel, count};
}

// Downstream [CXL-2.3] and upstream [CXL-2.4], which have codes of their own.
constexpr CxlFormat kH68[] = {format(0, one(C::kH2dReq), one(C::kH2dRsp)),
                              format(1, one(C::kH2dData), many(2, C::kH2dRsp)),
                              format(2, one(C::kH2dReq), one(C::kH2dData)),
                              format(3, many(4, C::kH2dData)),
                              format(4, one(C::kM2sRwd)),
                              format(5, one(C::kM2sReq)),
                              format(0, one(C::kD2hData), many(2, C::kD2hRsp), one(C::kS2mNdr)),
                              format(1, one(C::kD2hReq), one(C::kD2hData)),
                              format(2, many(4, C::kD2hData), one(C::kD2hRsp)),
                              format(3, one(C::kS2mDrs), one(C::kS2mNdr)),
                              format(4, many(2, C::kS2mNdr)),
                              format(5, many(2, C::kS2mDrs))};
constexpr CxlFormat kG68[] = {format(1, many(4, C::kH2dRsp)),
                              format(2, one(C::kH2dReq), one(C::kH2dData), one(C::kH2dRsp)),
                              format(3, many(4, C::kH2dData), one(C::kH2dRsp)),
                              format(4, one(C::kM2sReq), one(C::kH2dData)),
                              format(5, one(C::kM2sRwd), one(C::kH2dRsp)),
                              format(1, one(C::kD2hReq), many(2, C::kD2hRsp)),
                              format(2, one(C::kD2hReq), one(C::kD2hData), one(C::kD2hRsp)),
                              format(3, many(4, C::kD2hData)),
                              format(4, one(C::kS2mDrs), many(2, C::kS2mNdr)),
                              format(5, many(2, C::kS2mNdr)),
                              format(6, many(3, C::kS2mDrs))};
// [CXL-4.2] Both directions share the codes.
constexpr CxlFormat kH256[] = {format(0, one(C::kH2dReq)),
                               format(1, many(2, C::kH2dRsp)),
                               format(2, one(C::kD2hReq), one(C::kD2hRsp)),
                               format(3, many(4, C::kD2hRsp)),
                               format(4, one(C::kM2sReq)),
                               format(5, many(2, C::kM2sBiRsp)),
                               format(6, one(C::kS2mBiSnp)),
                               format(7, many(2, C::kS2mNdr)),
                               format(12, many(3, C::kH2dData)),
                               format(13, many(4, C::kD2hData)),
                               format(14, one(C::kM2sRwd)),
                               format(15, many(2, C::kS2mDrs))};
constexpr CxlFormat kG256[] = {format(0, one(C::kH2dReq), one(C::kH2dRsp)),
                               format(1, many(3, C::kH2dRsp)),
                               format(2, one(C::kD2hReq), many(2, C::kD2hRsp)),
                               format(3, many(4, C::kD2hRsp)),
                               format(4, one(C::kM2sReq)),
                               format(5, many(3, C::kM2sBiRsp)),
                               format(6, one(C::kS2mBiSnp), one(C::kS2mNdr)),
                               format(7, many(3, C::kS2mNdr)),
                               format(12, many(4, C::kH2dData)),
                               format(13, many(4, C::kD2hData)),
                               format(14, one(C::kM2sRwd)),
                               format(15, many(3, C::kS2mDrs))};

// Messages from the front as long as they fit: the trailing ones drop out. [CXL-1.5]
CxlGroups fitting(const CxlGroups& groups, const CxlWidths& widths, std::uint32_t capacity) {
  CxlGroups kept;
  for (const CxlGroup& group : groups) {
    const std::uint32_t bits = widths.of(group.channel);
    const auto count = std::min<std::uint32_t>(group.count, capacity / bits);
    if (count > 0) {
      kept.add({group.channel, static_cast<std::uint8_t>(count)});
    }
    if (count < group.count) {
      break;
    }
    capacity -= count * bits;
  }
  return kept;
}

}  // namespace

CxlSlotFormats::CxlSlotFormats(const CxlWidths& widths, CxlDirection direction) : widths_(widths) {
  const auto fill = [&](CxlPlace place, CxlRows<CxlFormat> table) {
    List& list = lists_[static_cast<std::size_t>(place)];
    for (const CxlFormat& format : table) {
      const CxlGroups groups = fitting(format.groups, widths, slot_bits(widths.form, place));
      if (groups.count > 0 && info_of(groups.begin()->channel).direction == direction) {
        list.format[list.count++] = {format.code, groups};
      }
    }
  };
  const bool is_68 = widths.form == CxlFlitForm::k68;
  fill(CxlPlace::kH, is_68 ? CxlRows<CxlFormat>(kH68) : kH256);
  fill(CxlPlace::kHs, is_68 ? CxlRows<CxlFormat>() : kH256);  // in 256 bytes without it none fits
  fill(CxlPlace::kG, is_68 ? CxlRows<CxlFormat>(kG68) : kG256);
}

const CxlFormat* CxlSlotFormats::find(CxlPlace place, std::uint8_t code) const {
  return find_where(in(place), [code](const CxlFormat& format) { return format.code == code; });
}

bool CxlSlotFormats::has_place_for(CxlChannel channel) const {
  const auto holds = [channel](const CxlFormat& format) {
    return any_of(format.groups,
                  [channel](const CxlGroup& group) { return group.channel == channel; });
  };
  return any_of(lists_, [&holds](const List& list) { return any_of(list, holds); });
}

}  // namespace flitwise
