// SPDX-License-Identifier: Apache-2.0
// Functions of a device, and which of them may send.
#include "endpoint/device_functions.h"

#include <algorithm>

namespace flitwise {

DeviceFunctions::DeviceFunctions(const DeviceConfig& device, std::uint32_t domains)
    : domains_(device), identities_(domains), states_(device.functions.count) {
  stop_vfs();
}

void DeviceFunctions::set_base(Bdf base) {
  base_ = base;
  for (std::uint32_t i = 0; i < identities_.size(); ++i) {
    identities_[i] = domains_.identity(base, DomainId{i});
  }
}

std::optional<DomainId> DeviceFunctions::domain_of(const DeviceIdentity& identity) const {
  const std::optional<DomainId> domain = domains_.domain(index_of(identity.bdf), identity.pasid);
  return domain && to_int(*domain) < identities_.size() ? domain : std::nullopt;
}

bool DeviceFunctions::may_send(std::optional<Bdf> requester) const {
  const unsigned function = requester ? index_of(*requester) : 0U;
  return is_bus_master_ && (!requester || function >= count() || is_running(function));
}

// A VF sends while its own enable is set and the PF's.
bool DeviceFunctions::enable_vf(unsigned function, bool is_enabled) {
  State& state = states_[function];
  if (is_enabled && state == State::kStopped) {
    state = State::kRunning;
    --not_running_;
    return true;
  }
  if (!is_enabled && state == State::kRunning) {
    state = State::kStopped;
    ++not_running_;
  }
  return false;
}

void DeviceFunctions::enable_vfs() {
  for (unsigned f = 1; f < count(); ++f) {
    enable_vf(f, true);
  }
}

void DeviceFunctions::stop_vfs() {
  std::fill(states_.begin(), states_.end(), State::kStopped);
  states_[0] = State::kRunning;
  not_running_ = count() - 1U;
}

void DeviceFunctions::begin_reset(unsigned function, ResetKind kind) {
  reset_kind_ = kind;
  const unsigned last = function == 0 ? count() : function + 1U;
  for (unsigned f = function; f < last; ++f) {
    not_running_ += is_running(f) ? 1 : 0;
    in_reset_ += is_in_reset(f) ? 0 : 1;
    states_[f] = State::kInReset;
  }
}

void DeviceFunctions::end_reset(unsigned function) {
  if (function != 0) {
    states_[function] = State::kStopped;
    --in_reset_;
    return;
  }
  // The PF's own enable holds all of them back; behind it each VF waits for its own.
  stop_vfs();
  in_reset_ = 0;
  is_bus_master_ = false;
}

}  // namespace flitwise
