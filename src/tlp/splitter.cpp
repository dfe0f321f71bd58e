// SPDX-License-Identifier: Apache-2.0
// Splitting of transfers into requests and of answers into completions, and checks of completions.
#include "tlp/splitter.h"

#include <algorithm>

#include "common/page.h"

namespace flitwise {
namespace {

/// Disabled bytes before the first enabled one; 0 when none is enabled.
unsigned leading_bytes(unsigned byte_enables) {
  return byte_enables == 0 ? 0U : static_cast<unsigned>(__builtin_ctz(byte_enables));
}

/// Disabled bytes behind the last enabled one; 0 when none is enabled.
unsigned trailing_bytes(unsigned byte_enables) {
  return byte_enables == 0 ? 0U : static_cast<unsigned>(__builtin_clz(byte_enables)) - 28U;
}

bool is_memory_read(TlpType type) {
  return type == TlpType::kMRd || type == TlpType::kMRdLk;
}

/// Byte enables of a read; all bytes where a steering tag stands in their place. [LNK-2.15]
unsigned first_be_of(const Tlp& read) {
  return read.has_processing_hint ? 0xfU : read.first_be;
}
unsigned last_be_of(const Tlp& read) {
  return read.has_processing_hint ? 0xfU : read.last_be;
}
}  // namespace

bool RequestSplitter::next(RequestPiece& piece) {
  if (is_done_) {
    return false;
  }
  const auto lead = static_cast<std::uint32_t>(next_ & 3U);
  const std::uint64_t first_dw = next_ - lead;
  const std::uint32_t to_page_end = kPageBytes - static_cast<std::uint32_t>(first_dw % kPageBytes);
  const std::uint32_t room = std::min(limit_, to_page_end) - lead;
  const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left_, room));

  piece.address = first_dw;
  piece.bytes = bytes;
  piece.offset = offset_;
  piece.length_dw = static_cast<std::uint16_t>(std::max((lead + bytes + 3U) / 4U, 1U));
  const unsigned from_lead = 0xfU << lead & 0xfU;
  const unsigned to_tail = 0xfU >> (3U - (lead + bytes + 3U) % 4U);
  const bool is_one_dw = piece.length_dw == 1;
  const unsigned first_be = is_one_dw ? from_lead & to_tail : from_lead;
  piece.first_be = static_cast<std::uint8_t>(bytes == 0 ? 0 : first_be);
  piece.last_be = static_cast<std::uint8_t>(is_one_dw ? 0 : to_tail);

  next_ += bytes;
  offset_ += bytes;
  left_ -= bytes;
  is_done_ = left_ == 0;
  return true;
}

CompletionSplitter::CompletionSplitter(const Tlp& request, std::uint32_t mps_bytes,
                                       std::uint32_t rcb_bytes)
    : left_(byte_count_of(request)), mps_(mps_bytes), rcb_(rcb_bytes) {
  if (is_memory_read(request.type)) {
    next_ = request.address + leading_bytes(first_be_of(request));
  }
}

bool CompletionSplitter::next(CompletionPiece& piece) {
  if (left_ == 0) {
    return false;
  }
  const auto lead = static_cast<std::uint32_t>(next_ & 3U);
  // The payload is counted in DWs, so the bytes before an unaligned start take room from MPS too.
  std::uint32_t bytes = std::min(left_, mps_ - lead);
  if (bytes < left_) {
    bytes -= static_cast<std::uint32_t>((next_ + bytes) % rcb_);
  }
  piece.bytes = bytes;
  piece.offset = offset_;
  piece.length_dw = static_cast<std::uint16_t>((lead + bytes + 3U) / 4U);
  piece.byte_count = static_cast<std::uint16_t>(left_);
  piece.lower_address = static_cast<std::uint8_t>(next_ & 0x7fU);
  next_ += bytes;
  offset_ += bytes;
  left_ -= bytes;
  return true;
}

std::uint32_t enabled_bytes(const Tlp& write) {
  const auto in_dw = [](unsigned enables) {
    return static_cast<std::uint32_t>(__builtin_popcount(enables));
  };
  if (write.length_dw <= 1) {
    return in_dw(write.first_be);
  }
  return 4U * (write.length_dw - 2U) + in_dw(write.first_be) + in_dw(write.last_be);
}

std::uint32_t byte_count_of(const Tlp& request) {
  switch (request.type) {
    case TlpType::kMRd:
    case TlpType::kMRdLk: {
      if (request.length_dw <= 1) {
        const unsigned enables = first_be_of(request);
        return enables == 0 ? 1U : 4U - leading_bytes(enables) - trailing_bytes(enables);
      }
      return 4U * request.length_dw - leading_bytes(first_be_of(request)) -
             trailing_bytes(last_be_of(request));
    }
    case TlpType::kFetchAdd:
    case TlpType::kSwap: return 4U * request.length_dw;
    case TlpType::kCas: return 2U * request.length_dw;
    default: return 4U;
  }
}

std::uint8_t lower_address_of(const Tlp& request) {
  if (!is_memory_read(request.type)) {
    return 0;
  }
  return static_cast<std::uint8_t>((request.address & 0x7cU) + leading_bytes(first_be_of(request)));
}

Reassembly::Reassembly(const Tlp& request, std::uint32_t mps_bytes, std::uint32_t rcb_bytes)
    : left_(static_cast<std::uint16_t>(byte_count_of(request))),
      mps_(static_cast<std::uint16_t>(mps_bytes)),
      rcb_(static_cast<std::uint16_t>(rcb_bytes)),
      lower_address_(lower_address_of(request)),
      tc_(request.tc),
      wants_data_(is_atomic(request.type) || !has_data(request.type)),
      is_memory_read_(is_memory_read(request.type)),
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
