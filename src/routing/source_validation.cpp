// SPDX-License-Identifier: Apache-2.0
// Checks of upstream identities at a downstream port.
#include "routing/source_validation.h"

#include <algorithm>

namespace flitwise {

namespace {
/// True where the Requester ID field itself is the handle, and the BDF is not in the packet.
bool handle_replaces_bdf(const IdentityForm& form) {
  return form.dhi_form == DhiForm::kRidDirect || form.dhi_form == DhiForm::kRidFabric;
}
}  // namespace

SourceVerdict check_source(const Tlp& tlp, const Bridge& port, SwitchMode mode,
                           const IdentityForm& form, const HandleOwners& handles) {
  if (is_completion(tlp.type)) {
    return SourceVerdict::kPass;
  }
  const OptionalId<Dhi> handle = handle_of(tlp, form);
  const bool reads_handles = mode == SwitchMode::kHandleAware;
  if (!port.source_validation) {
    return handle ? SourceVerdict::kUncheckedHandle : SourceVerdict::kPass;
  }
  // A legacy switch takes whatever stands in the field for a BDF.
  const bool has_bdf = !handle || !handle_replaces_bdf(form);
  if ((has_bdf || !reads_handles) && !port.owns_bus(tlp.requester_id.bus())) {
    return SourceVerdict::kForeignBus;
  }
  if (!handle) {
    return SourceVerdict::kPass;
  }
  if (!reads_handles) {
    return SourceVerdict::kUncheckedHandle;
  }
  return handles.contains(*handle) ? SourceVerdict::kPass : SourceVerdict::kForeignHandle;
}

void HandleOwners::add(const BusRange& buses, const HandleRange& range) {
  const bool is_new = std::none_of(shares_.begin(), shares_.end(), [&](const Share& share) {
    return share.range == range && share.buses.secondary == buses.secondary;
  });
  if (is_new) {
    shares_.push_back({buses, range, std::vector<std::optional<Bdf>>(range.size())});
  }
}

const HandleOwners::Share* HandleOwners::share_of(Dhi handle) const {
  const auto at = std::find_if(shares_.begin(), shares_.end(),
                               [&](const Share& share) { return share.range.contains(handle); });
  return at == shares_.end() ? nullptr : &*at;
}

void HandleOwners::learn(Dhi handle, Bdf sender, bool is_owner) {
  for (Share& share : shares_) {
    if (share.buses.contains(sender) && share.range.contains(handle)) {
      share.owners[to_int(handle) - to_int(share.range.lower)] =
          is_owner ? std::optional<Bdf>(sender) : std::nullopt;
      return;
    }
  }
}

void HandleOwners::forget_all(Bdf sender) {
  for (Share& share : shares_) {
    if (share.buses.contains(sender)) {
      share.owners.assign(share.owners.size(), std::nullopt);
    }
  }
}

std::optional<Bdf> HandleOwners::owner_of(Dhi handle) const {
  const Share* const share = share_of(handle);
  return share == nullptr ? std::nullopt
                          : share->owners[to_int(handle) - to_int(share->range.lower)];
}

Bdf completion_target(const Tlp& request, const IdentityForm& form, const HandleOwners* owners) {
  const OptionalId<Dhi> handle = handle_of(request, form);
  if (!handle || !handle_replaces_bdf(form) || owners == nullptr) {
    return request.requester_id;
  }
  return owners->owner_of(*handle).value_or(request.requester_id);
}

}  // namespace flitwise
