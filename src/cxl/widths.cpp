// SPDX-License-Identifier: Apache-2.0
// Widths of messages.
#include "cxl/widths.h"

namespace flitwise {

CxlWidths::CxlWidths(CxlFlitForm flit_form, std::uint32_t identity)
    : form(flit_form), identity_bits(identity) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const CxlChannelInfo& info = info_of(static_cast<CxlChannel>(i));
    bits[i] = form == CxlFlitForm::k68 ? info.bits_68 : info.bits_256;
  }
  const std::uint32_t free_bits = reserved_identity_bits(form);
  if (identity > free_bits) {
    bits[index_of(CxlChannel::kD2hReq)] += identity - free_bits;
  }
}

}  // namespace flitwise
