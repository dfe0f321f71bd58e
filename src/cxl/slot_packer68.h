// SPDX-License-Identifier: Apache-2.0
/// Packs messages and data of CXL.cache and CXL.mem into 68-byte flits. [CXL-2.5] [CXL-2.6]
/// [CXL-2.7]
#pragma once

#include "cxl/slot_filler.h"

namespace flitwise {

class CxlSlotPacker68 {
 public:
  /// REQUIRES: widths.form is k68.
  CxlSlotPacker68(const CxlWidths& widths, CxlDirection direction,
                  const CxlPackingRules& rules = CxlPackingRules(CxlFlitForm::k68))
      : filler_(widths, direction, rules) {}

  /// Chunks that earlier flits left for later ones (rollover).
  std::uint32_t owed() const { return filler_.owed().chunks(); }
  /// The next flit is all data: no message may go in it. [CXL-2.5]
  bool next_is_all_data() const { return owed() > kMostCxlRollover; }
  /// Decides one flit. What the layout has of each channel goes, first come first.
  void pack(const CxlWaiting& waiting, CxlFlitLayout& flit);
  void reset() { filler_.reset(); }

 private:
  void pack_data(CxlFlitLayout& flit);

  CxlSlotFiller filler_;
};

}  // namespace flitwise
