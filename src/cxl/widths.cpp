// SPDX-License-Identifier: Apache-2.0
// Widths of messages.
#include "cxl/widths.h"

namespace flitwise {

CxlWidths::CxlWidths(CxlFlitForm flit_form, std::uint32_t identity)
    : form(flit_form), identity_bits(identity) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const CxlChannelInfo& info = info_of(static_cast<CxlChannel>(i));
    const std::uint32_t specified = form == CxlFlitForm::k68 ? info.bits_68 : info.bits_256;
    bits[i] = specified + added(static_cast<CxlChannel>(i));
  }
}

}  // namespace flitwise
