// SPDX-License-Identifier: Apache-2.0
/// What each slot of a flit has to hold by what is owed so far: the receiver's side of packing,
/// which writers of flits keep to as well. [CXL-2.5] [CXL-2.6] [CXL-4.3]
#pragma once

#include <cstdint>

#include "cxl/flit_layout.h"
#include "cxl/owed_data.h"

namespace flitwise {

class CxlSlotWalk {
 public:
  enum class Rule : std::uint8_t { kMessages, kData, kEither };
  /// Starts a flit with what earlier ones left owed.
  CxlSlotWalk(CxlFlitForm form, const CxlOwedData& owed)
      : form_(form), owed_(owed), rollover_(owed.chunks()) {}

  bool is_all_data() const { return form_ == CxlFlitForm::k68 && rollover_ > kMostCxlRollover; }
  Rule rule_of(std::size_t slot) const {
    const bool is_generic = place_of(form_, slot) == CxlPlace::kG;
    if (form_ == CxlFlitForm::k68) {
      return is_all_data() || (is_generic && slot <= rollover_) ? Rule::kData
             : is_generic && !owed_.is_empty()                  ? Rule::kEither
                                                                : Rule::kMessages;
    }
    return is_generic && !owed_.is_empty() ? Rule::kData : Rule::kMessages;
  }
  /// A message with data stands in the slot. False: more is owed than anybody keeps.
  bool announce(bool has_byte_enables) {
    if (owed_.lines() >= CxlOwedData::kMostLines) {
      return false;
    }
    owed_.add(has_byte_enables);
    return true;
  }
  /// The slot has a chunk. REQUIRES: something is owed.
  CxlSlot::Kind take_data() {
    const bool has_enables = owed_.next_is_byte_enables();
    owed_.take();
    return has_enables ? CxlSlot::Kind::kByteEnables : CxlSlot::Kind::kData;
  }
  const CxlOwedData& owed() const { return owed_; }

 private:
  CxlFlitForm form_;
  CxlOwedData owed_;
  std::uint32_t rollover_;
};

}  // namespace flitwise
