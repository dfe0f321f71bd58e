// SPDX-License-Identifier: Apache-2.0
// The shared credits of a transmitter.
#include "link/shared_credits.h"

namespace flitwise {

bool has_shared_credits(const LinkConfig& link) {
  const auto& shared = link.shared_credits;
  return link.is_in_flit_mode() && (shared.posted_headers > 0 || shared.nonposted_headers > 0 ||
                                    shared.completion_headers > 0);
}

void SharedGates::reset() {
  for (Gates& gates : gates_) {
    gates.has_pool = false;
    gates.initialise(Dllp(), Zero::kNone);
  }
}

// A class without a pool has nothing to give back, whatever is said. [LNK-11.24]
void SharedGates::update(const Dllp& dllp) {
  if (dllp.type != DllpType::kOptimizedUpdateFc) {
    if (Gates& gates = gates_[index_of(dllp.fc_class)]; gates.has_pool) {
      gates.update(dllp);
    }
    return;
  }
  const OptimizedUpdateFc update = decode_optimized_update_fc(dllp.raw);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    if (gates_[i].has_pool) {
      gates_[i].header.extend(update.classes[i].header, kOptimizedHeaderBits);
      gates_[i].data.extend(update.classes[i].data, kOptimizedDataBits);
    }
  }
}

bool SharedGates::take(FcClass fc_class, Credits need, Packet& packet) {
  Gates& gates = gates_[index_of(shared_class(fc_class, is_merged_))];
  const bool suffices = gates.allow(need);
  packet.uses_dedicated_credits = gates.has_pool && !suffices;
  if (suffices) {
    gates.consume(need);
  }
  return suffices;
}

}  // namespace flitwise
