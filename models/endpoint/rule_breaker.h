// SPDX-License-Identifier: Apache-2.0
/// Breaks rules of requests on purpose, each once, so that the monitors can be seen to notice
/// (faults.break, docs/monitors.md).
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "flitwise/tlp.h"

namespace flitwise {

class RuleBreaker {
 public:
  explicit RuleBreaker(const FaultsConfig& faults)
      : crosses_page_(faults.breaks(BrokenRule::kBoundary4k)),
        clears_enables_(faults.breaks(BrokenRule::kByteEnables)),
        reserves_at_(faults.breaks(BrokenRule::kAt)),
        reuses_tag_(faults.breaks(BrokenRule::kTags)) {}

  bool is_armed() const { return crosses_page_ || clears_enables_ || reserves_at_; }
  /// Makes the request break one of the rules that are still to be broken, if one of them applies.
  /// [LNK-9.14] [LNK-2.8] [LNK-1.5]
  void spoil(Tlp& request) {
    if (crosses_page_ && request.length_dw > 1) {
      request.address |= 0xffcU;  // the last DW of its page
      crosses_page_ = false;
    } else if (clears_enables_ && request.length_dw > 1) {
      request.first_be = 0;
      clears_enables_ = false;
    } else if (reserves_at_) {
      request.at = AddressType::kReserved;
      reserves_at_ = false;
    }
  }

  /// A read is to take a tag that is out. [LNK-9.8]
  bool reuses_tag() const { return reuses_tag_; }
  void tag_reused() { reuses_tag_ = false; }

 private:
  bool crosses_page_, clears_enables_, reserves_at_, reuses_tag_;
};

}  // namespace flitwise
