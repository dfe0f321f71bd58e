// SPDX-License-Identifier: Apache-2.0
// Planned flits to bytes.
#include "codec/flit_plan.h"

#include <algorithm>
#include <utility>

#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr SequenceSpace kNumbers = SequenceSpace::of_flits();

}  // namespace

std::vector<WrittenFlit> FlitWriter::write(const std::vector<FlitPlan>& plans) {
  FlitWriter after = *this;
  after.ends_beyond_ = false;
  std::vector<WrittenFlit> flits;
  for (const FlitPlan& plan : plans) {
    after.push(plan);
    flits.push_back(after.next_flit(plan));
  }
  while (after.packer_.has_work()) {
    flits.push_back(after.next_flit({}));
  }
  if (after.ends_beyond_ && !after.is_full_) {
    refuse(plans.back().source, "tlps",
           "a TLP that ends beyond ends before its flit does; expected bytes up to its end");
  }
  after.open_ = after.ends_beyond_ ? Open::kYes : after.open_;
  *this = std::move(after);
  return flits;
}

void FlitWriter::push(const FlitPlan& plan) {
  if (open_ == Open::kYes && (plan.tlps.empty() || !plan.tlps.front().began_before)) {
    refuse(plan.source, "tlps",
           "none goes on that ends beyond the flits before; expected its rest first, as bytes with"
           " began_before");
  }
  for (const FlitTlp& tlp : plan.tlps) {
    if (ends_beyond_) {
      refuse(plan.source, "tlps",
             "a TLP behind one that ends beyond; expected that one to be last");
    }
    if (tlp.began_before && open_ == Open::kNo) {
      refuse(plan.source, "tlps",
             "a TLP that began before; expected it first in the first flit, or behind one that ends"
             " beyond");
    }
    open_ = Open::kNo;
    ends_beyond_ = tlp.ends_beyond;
    if (tlp.began_before) {
      packer_.push_rest(tlp.bytes);
      ++rests_;
    } else {
      packer_.push(tlp.bytes, tlp.nops);
    }
  }
}

WrittenFlit FlitWriter::next_flit(const FlitPlan& plan) {
  const TlpBytePacker::Filled filled = packer_.fill();
  const bool has_payload = filled.taken > 0;
  is_full_ = filled.taken == flit::kTlpBytes;
  open_ = Open::kNo;
  WrittenFlit flit;
  flit.tlps = filled.begun + std::exchange(rests_, 0);
  std::copy(filled.bytes.begin(), filled.bytes.end(), flit.bytes.begin());
  const FlitDlp dlp = completed(plan, has_payload);
  const DlpBytes dlp_bytes = encode(dlp);
  std::copy(dlp_bytes.begin(), dlp_bytes.end(), flit.bytes.begin() + flit::kTlpBytes);
  protect_flit(flit.bytes);
  last_was_payload_ = has_payload;
  if (dlp.command == ReplayCommand::kExplicit) {
    next_ = kNumbers.next(dlp.sequence);
  } else if (has_payload) {
    next_ = kNumbers.next(next_);
  }
  return flit;
}

// A NOP flit has the number of the last one with payload. model: [LNK-11.20]
FlitDlp FlitWriter::completed(const FlitPlan& plan, bool has_payload) const {
  FlitDlp dlp = plan.dlp;
  dlp.usage = static_cast<std::uint8_t>(
      plan.usage.value_or(has_payload ? kUsageOfPayloadFlit : kUsageOfNopFlit));
  dlp.prior_was_payload = plan.prior_was_payload.value_or(last_was_payload_);
  const std::uint16_t own = has_payload ? next_ : kNumbers.before(next_);
  dlp.sequence = static_cast<std::uint16_t>(plan.sequence.value_or(own));
  return dlp;
}

}  // namespace flitwise
