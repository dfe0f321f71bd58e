// SPDX-License-Identifier: Apache-2.0
// The functions of a device: their configuration spaces, and what a reset takes from them.
#include "config_space/dhi_dvsec.h"
#include "endpoint/target_unit.h"

namespace flitwise {
namespace {

void set_bus_master_enable(ConfigSpace& space) {
  space.write(cfg::kCommand, space.read(cfg::kCommand) | cfg::kCommandBusMaster, 0x3);
}

}  // namespace

ConfigSpace& TargetUnit::space(unsigned function) {
  std::unique_ptr<ConfigSpace>& space = spaces_[function];
  if (space == nullptr) {
    space = std::make_unique<ConfigSpace>(function == 0 ? endpoint_space(space_options_)
                                                        : virtual_function_space(space_options_));
    if (function == 0 && device_.dhi.supported) {
      space->add(dhi_capability(dvsec_));
    }
    if (function != 0 && starts_enabled_) {
      set_bus_master_enable(*space);
    }
  }
  return *space;
}

// Those without a configuration space so far begin with it.
void TargetUnit::enable_vfs() {
  starts_enabled_ = true;
  for (std::size_t f = 1; f < spaces_.size(); ++f) {
    if (spaces_[f] != nullptr) {
      set_bus_master_enable(*spaces_[f]);
    }
  }
}

// Where the BARs are, decoded once a change.
void TargetUnit::refresh() {
  const ConfigSpace& pf = space(0);
  vfs_ = flitwise::virtual_functions(pf);
  bar_.set_bars(pf.memory_space_enabled() ? pf.bar(0) : AddressRange{},
                vfs_.memory_space_enabled ? vf_bar(pf, 0) : AddressRange{});
}

void TargetUnit::reset(unsigned function, ResetKind kind) {
  const bool had_handles = dvsec_.end().is_enabled;
  if (function == 0) {
    starts_enabled_ = false;
  } else {
    space(function);  // made, with the enable that the reset takes
  }
  for (unsigned f = function; f < spaces_.size(); ++f) {
    if (spaces_[f] != nullptr) {
      spaces_[f]->reset(kind);
    }
    if (function != 0) {
      break;  // A VF alone; the PF takes all with it.
    }
  }
  refresh();
  if (function == 0) {
    software_.controlled(device_control(space(0)));
    if (had_handles) {
      negotiate_again();
    }
  }
}

Bdf TargetUnit::routing_id(unsigned function) const {
  const Bdf pf = Bdf::of(bus_, 0, 0);
  return function == 0 || !is_there(function) ? pf : vfs_.bdf(pf, function - 1);
}

}  // namespace flitwise
