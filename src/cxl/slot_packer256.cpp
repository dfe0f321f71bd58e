// SPDX-License-Identifier: Apache-2.0
// Packing of 256-byte flits.
#include "cxl/slot_packer256.h"

namespace flitwise {

void CxlSlotPacker256::pack(const CxlWaiting& waiting, CxlFlitLayout& flit) {
  flit = CxlFlitLayout();
  flit.slots = kCxlSlots256;
  filler_.begin(waiting, false);
  for (std::size_t i = 0; i < kCxlSlots256; ++i) {
    // A generic slot says nothing of data: it has some whenever some is owed. [CXL-4.3]
    const CxlPlace place = place_of(filler_.formats().widths().form, i);
    const bool is_data = place == CxlPlace::kG && filler_.owed().chunks() > 0;
    flit.slot[i] = is_data ? filler_.take_data() : filler_.take_messages(place, false);
  }
  filler_.end();
}

}  // namespace flitwise
