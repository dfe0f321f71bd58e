// SPDX-License-Identifier: Apache-2.0
/// The completion that answers a request, as fields.
#pragma once

#include "flitwise/tlp.h"
#include "tlp/splitter.h"

namespace flitwise {

/// What every completion takes over from its request: tag, traffic class, attributes and the
/// Requester ID; its kind is Cpl, for a locked read CplLk. Everything else stays as it is.
/// [LNK-2.5] [LNK-9.21]
inline void start_completion(Tlp& completion, const Tlp& request) {
  completion.type = request.type == TlpType::kMRdLk ? TlpType::kCplLk : TlpType::kCpl;
  completion.tc = request.tc;
  completion.relaxed_ordering = request.relaxed_ordering;
  completion.id_based_ordering = request.id_based_ordering;
  completion.no_snoop = request.no_snoop;
  completion.tag = request.tag;
  completion.requester_id = request.requester_id;
}

/// Completions of these may pass posted requests. [LNK-9.6]
constexpr bool is_io_or_cfg_write(TlpType request) {
  return request == TlpType::kIOWr || request == TlpType::kCfgWr0 || request == TlpType::kCfgWr1;
}

/// Status, Byte Count and Lower Address of a completion that carries no data, after
/// start_completion(). [LNK-9.12] [LNK-9.13] [LNK-9.19]
inline void end_without_data(Tlp& completion, const Tlp& request, CplStatus status) {
  completion.status = status;
  completion.byte_count = static_cast<std::uint16_t>(byte_count_of(request));
  completion.lower_address = lower_address_of(request);
}

}  // namespace flitwise
