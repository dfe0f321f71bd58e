// SPDX-License-Identifier: Apache-2.0
// Checks of upstream identities at a downstream port.
#include "routing/source_validation.h"

namespace flitwise {

namespace {
/// True where the Requester ID field itself is the handle, and the BDF is not in the packet.
bool handle_replaces_bdf(const IdentityForm& form) {
  return form.dhi_form == DhiForm::kRidDirect || form.dhi_form == DhiForm::kRidFabric;
}
}  // namespace

SourceVerdict check_source(const Tlp& tlp, const Bridge& port, SwitchMode mode,
                           const IdentityForm& form, const std::optional<HandleRange>& handles) {
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
  return handles && handles->contains(*handle) ? SourceVerdict::kPass
                                               : SourceVerdict::kForeignHandle;
}

HandleOwners::HandleOwners(const HandleRange& range) : range_(range), owners_(range.size()) {}

void HandleOwners::learn(Dhi handle, Bdf owner) {
  if (is_known(handle)) {
    owners_[to_int(handle) - to_int(range_.lower)] = owner;
  }
}

void HandleOwners::forget(Dhi handle) {
  if (is_known(handle)) {
    owners_[to_int(handle) - to_int(range_.lower)].reset();
  }
}

void HandleOwners::forget_all() {
  owners_.assign(owners_.size(), std::nullopt);
}

std::optional<Bdf> HandleOwners::owner_of(Dhi handle) const {
  return is_known(handle) ? owners_[to_int(handle) - to_int(range_.lower)] : std::nullopt;
}

Bdf completion_target(const Tlp& request, const IdentityForm& form, const HandleOwners* owners) {
  const OptionalId<Dhi> handle = handle_of(request, form);
  if (!handle || !handle_replaces_bdf(form) || owners == nullptr) {
    return request.requester_id;
  }
  return owners->owner_of(*handle).value_or(request.requester_id);
}

}  // namespace flitwise
