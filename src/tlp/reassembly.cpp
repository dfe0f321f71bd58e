// SPDX-License-Identifier: Apache-2.0
// Checks of completions against what a request is still owed.
#include "tlp/reassembly.h"

#include <algorithm>

#include "tlp/splitter.h"

namespace flitwise {

Reassembly::Reassembly(const Tlp& request, std::uint32_t mps_bytes, std::uint32_t rcb_bytes)
    : left_(static_cast<std::uint16_t>(byte_count_of(request))),
      mps_(static_cast<std::uint16_t>(mps_bytes)),
      rcb_(static_cast<std::uint16_t>(rcb_bytes)),
      lower_address_(lower_address_of(request)),
      tc_(request.tc),
      wants_data_(is_atomic(request.type) || !has_data(request.type)),
      is_memory_read_(request.type == TlpType::kMRd || request.type == TlpType::kMRdLk),
      is_configuration_(is_configuration(request.type)) {}

CompletionFit Reassembly::check(const Tlp& completion) const {
  if (completion.tc != tc_) {
    return CompletionFit::kWrongKind;
  }
  if (completion.status != CplStatus::kSC) {
    return completion.status == CplStatus::kRRS && is_configuration_ ? CompletionFit::kRetry
                                                                     : CompletionFit::kFailed;
  }
  if (has_data(completion.type) != wants_data_) {
    return CompletionFit::kWrongKind;
  }
  if (completion.byte_count != left_) {
    return CompletionFit::kWrongByteCount;
  }
  if (completion.lower_address != lower_address_) {
    return CompletionFit::kWrongLowerAddress;
  }
  return wants_data_ ? check_length(completion) : CompletionFit::kLast;
}

CompletionFit Reassembly::check_length(const Tlp& completion) const {
  const unsigned lead = lower_address_ & 3U;
  const unsigned owed_dw = (lead + left_ + 3U) / 4U;
  if (completion.length_dw > owed_dw || completion.length_dw * 4U > mps_) {
    return CompletionFit::kTooLong;
  }
  if (completion.length_dw == owed_dw) {
    return CompletionFit::kLast;
  }
  const unsigned end = lower_address_ - lead + completion.length_dw * 4U;
  return is_memory_read_ && completion.length_dw != 0 && end % rcb_ == 0
             ? CompletionFit::kPartial
             : CompletionFit::kBadBoundary;
}

std::uint32_t Reassembly::bytes_in(const Tlp& completion) const {
  if (!wants_data_) {
    return 0;
  }
  return std::min<std::uint32_t>(left_, completion.length_dw * 4U - (lower_address_ & 3U));
}

void Reassembly::accept(const Tlp& completion) {
  const std::uint32_t bytes = wants_data_ ? bytes_in(completion) : left_;
  left_ = static_cast<std::uint16_t>(left_ - bytes);
  lower_address_ = static_cast<std::uint8_t>((lower_address_ + bytes) & 0x7fU);
}

}  // namespace flitwise
