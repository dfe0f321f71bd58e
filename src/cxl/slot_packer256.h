// SPDX-License-Identifier: Apache-2.0
/// Packs messages and data of CXL.cache and CXL.mem into 256-byte flits, standard and
/// latency-optimised. [CXL-4.3] [CXL-4.4] [CXL-4.6]
#pragma once

#include "cxl/slot_filler.h"

namespace flitwise {

class CxlSlotPacker256 {
 public:
  /// REQUIRES: widths.form is k256 or k256LatencyOptimised.
  CxlSlotPacker256(const CxlWidths& widths, CxlDirection direction,
                   const CxlPackingRules& rules = CxlPackingRules(CxlFlitForm::k256))
      : filler_(widths, direction, rules) {}

  /// Chunks that earlier flits left for later ones.
  std::uint32_t owed() const { return filler_.owed().chunks(); }
  /// Decides one flit. What the layout has of each channel goes, first come first.
  void pack(const CxlWaiting& waiting, CxlFlitLayout& flit);
  void reset() { filler_.reset(); }

 private:
  CxlSlotFiller filler_;
};

}  // namespace flitwise
