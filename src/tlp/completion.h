// SPDX-License-Identifier: Apache-2.0
/// The completion that answers a request, as fields.
#pragma once

#include "flitwise/tlp.h"

namespace flitwise {

/// What every completion takes over from its request: tag, traffic class, attributes and the
/// Requester ID; its kind is Cpl, for a locked read CplLk. Everything else stays as it is.
/// [LNK-2.5] [LNK-9.21]
void start_completion(Tlp& completion, const Tlp& request);

/// Completions of these may pass posted requests. [LNK-9.6]
constexpr bool is_io_or_cfg_write(TlpType request) {
  return request == TlpType::kIOWr || request == TlpType::kCfgWr0 || request == TlpType::kCfgWr1;
}

/// Status, Byte Count and Lower Address of a completion that carries no data, after
/// start_completion(). [LNK-9.12] [LNK-9.13] [LNK-9.19]
void end_without_data(Tlp& completion, const Tlp& request, CplStatus status);

}  // namespace flitwise
