// SPDX-License-Identifier: Apache-2.0
// Packing of 68-byte flits.
#include "cxl/slot_packer68.h"

namespace flitwise {

[[gnu::flatten]] void CxlSlotPacker68::pack(const CxlWaiting& waiting, CxlFlitLayout& flit) {
  flit = CxlFlitLayout();
  flit.slots = kCxlSlots68;
  if (next_is_all_data()) {
    pack_data(flit);
    return;
  }
  const std::uint32_t rollover = owed();
  filler_.begin(waiting, true);
  flit.slot[0] = filler_.take_messages(CxlPlace::kH, rollover < kMostCxlRollover);
  for (std::size_t i = 1; i < kCxlSlots68; ++i) {
    // What earlier flits left comes first; then data moves more bits than any messages would, but
    // a channel that only generic slots hold must get one. [CXL-2.5] [CXL-2.8]
    const bool is_urgent = filler_.has_urgent() && filler_.urgent_fits(CxlPlace::kG);
    const bool is_data = i <= rollover || (filler_.owed().chunks() > 0 && !is_urgent);
    flit.slot[i] = is_data ? filler_.take_data() : filler_.take_messages(CxlPlace::kG, false);
  }
  filler_.end();
  flit.has_byte_enables = filler_.announces_byte_enables();
}

void CxlSlotPacker68::pack_data(CxlFlitLayout& flit) {
  flit.is_all_data = true;
  for (std::size_t i = 0; i < kCxlSlots68; ++i) {
    flit.slot[i] = filler_.take_data();
  }
}

}  // namespace flitwise
