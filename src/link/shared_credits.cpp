// SPDX-License-Identifier: Apache-2.0
// The shared credits of a transmitter.
#include "link/shared_credits.h"

#include "link/optimized_update_fc.h"

namespace flitwise {

bool has_shared_credits(const LinkConfig& link) {
  const auto& shared = link.shared_credits;
  return link.is_in_flit_mode() && (shared.posted_headers > 0 || shared.nonposted_headers > 0 ||
                                    shared.completion_headers > 0);
}

Credits shared_credits(const LinkConfig& link, FcClass fc_class) {
  const auto& shared = link.shared_credits;
  switch (fc_class) {
    case FcClass::kPosted:
      return {shared.posted_headers, shared.posted_data};
    case FcClass::kNonPosted:
      return {shared.nonposted_headers, shared.nonposted_data};
    case FcClass::kCompletion:
      return shared.merged ? Credits{} : Credits{shared.completion_headers, shared.completion_data};
  }
  return {};
}

void SharedGates::reset() {
  for (Gates& gates : gates_) {
    gates.has_pool = false;
    gates.header.initialise(0, CreditScale(), Zero::kNone);
    gates.data.initialise(0, CreditScale(), Zero::kNone);
  }
}

void SharedGates::initialise(const Dllp& dllp) {
  Gates& gates = gates_[index_of(dllp.fc_class)];
  gates.header.initialise(dllp.hdr_fc, CreditScale::of_header_code(dllp.hdr_scale), Zero::kNone);
  gates.data.initialise(dllp.data_fc, CreditScale::of_data_code(dllp.data_scale), Zero::kNone);
  gates.has_pool = dllp.hdr_fc > 0;
}

void SharedGates::update(const Dllp& dllp) {
  if (dllp.type == DllpType::kOptimizedUpdateFc) {
    extend_all(dllp.raw);
    return;
  }
  Gates& gates = gates_[index_of(dllp.fc_class)];
  if (gates.has_pool) {  // else there is nothing to give back, whatever it says [LNK-11.24]
    gates.header.update(dllp.hdr_fc);
    gates.data.update(dllp.data_fc);
  }
}

void SharedGates::extend_all(std::uint32_t optimized) {
  const OptimizedUpdateFc update = decode_optimized_update_fc(optimized);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    if (!gates_[i].has_pool) {
      continue;
    }
    gates_[i].header.extend(update.classes[i].header, kOptimizedHeaderBits);
    gates_[i].data.extend(update.classes[i].data, kOptimizedDataBits);
  }
}

bool SharedGates::take(FcClass fc_class, Credits need, Packet& packet) {
  Gates& gates = gates_[index_of(shared_class(fc_class, is_merged_))];
  const bool suffices = allow(fc_class, need);
  packet.uses_dedicated_credits = gates.has_pool && !suffices;
  if (suffices) {
    gates.header.consume(need.header);
    gates.data.consume(need.data);
  }
  return suffices;
}

}  // namespace flitwise
