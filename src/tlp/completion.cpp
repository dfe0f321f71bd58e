// SPDX-License-Identifier: Apache-2.0
// Completions from their requests.
#include "tlp/completion.h"

#include "tlp/splitter.h"

namespace flitwise {

void start_completion(Tlp& completion, const Tlp& request) {
  completion.type = request.type == TlpType::kMRdLk ? TlpType::kCplLk : TlpType::kCpl;
  completion.tc = request.tc;
  completion.relaxed_ordering = request.relaxed_ordering;
  completion.id_based_ordering = request.id_based_ordering;
  completion.no_snoop = request.no_snoop;
  completion.tag = request.tag;
  completion.requester_id = request.requester_id;
}

void end_without_data(Tlp& completion, const Tlp& request, CplStatus status) {
  completion.status = status;
  completion.byte_count = static_cast<std::uint16_t>(byte_count_of(request));
  completion.lower_address = lower_address_of(request);
}

}  // namespace flitwise
