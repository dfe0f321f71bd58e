// SPDX-License-Identifier: Apache-2.0
// Planned flits to bytes.
#include "link/flit_plan.h"

#include <algorithm>

#include "flitwise/error.h"

namespace flitwise {
namespace {

[[noreturn]] void refuse(const JsonSource& source, const char* message) {
  throw ConfigError({{source.file, source.line, source.line > 0 ? 1 : 0, "tlps", message}});
}

}  // namespace

std::vector<FlitBytes> FlitWriter::write(const std::vector<FlitPlan>& plans) {
  FlitWriter after = *this;
  after.ends_beyond_ = false;
  std::vector<FlitBytes> flits;
  for (const FlitPlan& plan : plans) {
    after.push(plan);
    flits.push_back(after.next_flit(plan));
  }
  while (after.packer_.has_work()) {
    flits.push_back(after.next_flit({}));
  }
  if (after.ends_beyond_ && !after.is_full_) {
    refuse(plans.back().source,
           "a TLP that ends beyond ends before its flit does; expected bytes up to its end");
  }
  after.may_go_on_ = after.ends_beyond_;
  *this = std::move(after);
  return flits;
}

void FlitWriter::push(const FlitPlan& plan) {
  for (const PlannedTlp& tlp : plan.tlps) {
    if (ends_beyond_) {
      refuse(plan.source, "a TLP behind one that ends beyond; expected that one to be last");
    }
    if (tlp.began_before && !may_go_on_) {
      refuse(plan.source, "a TLP that began before; expected it first in the first flit");
    }
    may_go_on_ = false;
    ends_beyond_ = tlp.ends_beyond;
    if (tlp.began_before) {
      packer_.push_rest(tlp.bytes);
    } else {
      packer_.push(tlp.bytes, tlp.nops);
    }
  }
}

FlitBytes FlitWriter::next_flit(const FlitPlan& plan) {
  const TlpBytePacker::Filled filled = packer_.fill();
  const bool has_payload = filled.taken > 0;
  is_full_ = filled.taken == flit::kTlpBytes;
  may_go_on_ = false;
  FlitBytes bytes{};
  std::copy(filled.bytes.begin(), filled.bytes.end(), bytes.begin());
  const FlitDlp dlp = completed(plan, has_payload);
  const DlpBytes dlp_bytes = encode(dlp);
  std::copy(dlp_bytes.begin(), dlp_bytes.end(), bytes.begin() + flit::kTlpBytes);
  protect_flit(bytes);
  last_was_payload_ = has_payload;
  if (dlp.command == ReplayCommand::kExplicit) {
    next_ = (dlp.sequence + 1U) % kFlitSequences;
  } else if (has_payload) {
    next_ = (next_ + 1) % kFlitSequences;
  }
  return bytes;
}

// A NOP flit has the number of the last one with payload. model: [LNK-11.20]
FlitDlp FlitWriter::completed(const FlitPlan& plan, bool has_payload) const {
  FlitDlp dlp = plan.dlp;
  dlp.usage = static_cast<std::uint8_t>(
      plan.usage.value_or(has_payload ? kUsageOfPayloadFlit : kUsageOfNopFlit));
  dlp.prior_was_payload = plan.prior_was_payload.value_or(last_was_payload_);
  const std::uint64_t own = has_payload ? next_ : (next_ + kFlitSequences - 1) % kFlitSequences;
  dlp.sequence = static_cast<std::uint16_t>(plan.sequence.value_or(own));
  return dlp;
}

}  // namespace flitwise
